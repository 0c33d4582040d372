// /metrics as text, and the families that fill it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "serve/api/api.hpp"
#include "serve/api/cluster_view.hpp"

namespace goban::serve::api {

/// Families of metrics in Prometheus' text format, one after the other.
class MetricsPage {
 public:
  /// Begins a family; its values follow.
  void family(const char* name, const char* kind, const char* help);
  void value(double number, std::string_view labels = {}, const char* suffix = "");
  /// A family of one value.
  void single(const char* name, const char* kind, const char* help, double number);
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string name_{};
  std::string text_{};
};

/// `{name="value",...}`.
[[nodiscard]] std::string metric_labels(
    std::initializer_list<std::pair<std::string_view, std::string_view>> labels);

/// Jobs with a deadline that are not over. In danger: at the speed so far (by its own progress) or
/// by its time limit the job ends too late if it goes on, or starts, now.
struct DeadlineCounts {
  int64_t missed = 0;  ///< the moment is over
  int64_t in_danger = 0;
  int64_t in_time = 0;  ///< nothing known says otherwise
  void add(const live::controller::LiveJob& job, base::TimeNs now_ns);
};
void write_deadlines(MetricsPage& page, const DeadlineCounts& counts);

/// What every GPU does, who holds it and how fast it is.
void write_gpus(MetricsPage& page, const ClusterView& view, const GpuReadings& readings);

/// What is known of the scores of GPUs, and what measuring them cost. Without GPUs: nothing.
void write_scores(MetricsPage& page, const ClusterView& view, const ScoreReport& report);

}  // namespace goban::serve::api
