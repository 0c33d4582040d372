// What happened in a run, in order: starts, stops and ends of jobs, with their GPUs.
#pragma once

#include <cstdint>
#include <vector>

#include "study/simulator/simulation.hpp"

namespace goban::study::lab {

using base::TimeNs;
using core::model::JobId;

/// What an action or an end did to its job.
enum class Happening : uint8_t { Start, Preempt, Abandon, Finish, TimeOut, Cancel };

[[nodiscard]] const char* happening_name(Happening happening);

/// Observes a run. A row for each happening, in order of time; the GPUs of row `i` are
/// gpus[offsets[i]] up to gpus[offsets[i + 1]], empty unless the job started.
class ActionLog final : public simulator::Observer {
 public:
  struct Row {
    TimeNs at_ns = 0;
    JobId job{};
    Happening happening = Happening::Start;
  };

  void acted(TimeNs now, const core::model::Action& action,
             const core::scheduler::Core& core) override;
  void job_ended(TimeNs now, JobId job, simulator::JobEnd end) override;

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<int32_t>& offsets() const { return offsets_; }
  [[nodiscard]] const std::vector<int32_t>& gpus() const { return gpus_; }

 private:
  void add(TimeNs now, JobId job, Happening happening);

  std::vector<Row> rows_;
  std::vector<int32_t> offsets_{0};
  std::vector<int32_t> gpus_;
};

}  // namespace goban::study::lab
