// The text of /metrics and its metric families.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "serve/api/api.hpp"
#include "serve/api/cluster_view.hpp"

namespace goban::serve::api {

/// Metric families in Prometheus' text format.
class MetricsPage {
 public:
  /// Starts a family; its values follow.
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

/// Unfinished jobs with a deadline. In danger: the job would miss its deadline even if it continued
/// or started now, estimated from its progress so far or from its walltime limit.
struct DeadlineCounts {
  int64_t missed = 0;  ///< the deadline has passed
  int64_t in_danger = 0;
  int64_t in_time = 0;  ///< all others
  void add(const live::controller::LiveJob& job, base::TimeNs now_ns);
};
void write_deadlines(MetricsPage& page, const DeadlineCounts& counts);

/// Readings, number of holders and PM scores of every GPU.
void write_gpus(MetricsPage& page, const ClusterView& view, const GpuReadings& readings);

/// Agents of nodes: up, clock, lost samples. Writes nothing if there are none.
void write_agents(MetricsPage& page, const std::map<std::string, AgentStand>& stands);

/// State of the PM scores and the cost of measuring them. Writes nothing if `report` has no GPUs.
void write_scores(MetricsPage& page, const ClusterView& view, const ScoreReport& report);

}  // namespace goban::serve::api
