// Observes a simulated run and records the data of its figures in bounded memory.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "core/model/cluster.hpp"
#include "core/model/job_history.hpp"
#include "study/results/time_bins.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::results {

/// Rows of the heat map: GPUs if there are few, otherwise nodes, otherwise groups of adjacent
/// nodes.
struct HeatRows {
  std::string kind;  ///< "gpu", "node" or "nodes"
  std::vector<std::string> labels;
  std::vector<uint32_t> gpus;    ///< of each row
  std::vector<uint32_t> of_gpu;  ///< row, by GPU
};

/// At most `rows_max` rows over the whole cluster.
[[nodiscard]] HeatRows heat_rows(const core::model::Cluster& cluster, size_t rows_max);

/// Time averages of waiting jobs, held GPUs and held GPUs by row. A shared GPU is held once. A job
/// of the history waits if it was submitted, holds nothing and has not ended; GPUs include those of
/// fillers. Memory: (rows + 2) x kBinsMax doubles, and the GPUs of the running jobs.
class RunRecorder final : public simulator::Observer {
 public:
  static constexpr size_t kBinsMax = 2048;
  static constexpr size_t kWaiting = 0;  ///< rows of curves()
  static constexpr size_t kHeld = 1;

  /// `history`, `rows` and `next` must outlive the recorder. `next` may be null; it receives every
  /// call first.
  RunRecorder(const core::model::JobHistory& history, const HeatRows& rows,
              simulator::Observer* next);

  void decided(const core::scheduler::Decision& decision,
               const core::scheduler::Core& core) override;
  void acted(TimeNs now, const core::model::Action& action,
             const core::scheduler::Core& core) override;
  void awake(TimeNs now, core::model::NodeId node) override;
  void job_ended(TimeNs now, core::model::JobId job, simulator::JobEnd end) override;
  void ended(TimeNs now) override;

  /// Merges bins until they have at least these widths, to bring all runs to the same width.
  void widen(TimeNs curves_ns, TimeNs heat_ns);
  [[nodiscard]] const TimeBins& curves() const { return curves_; }
  [[nodiscard]] const TimeBins& heat() const { return heat_; }
  [[nodiscard]] TimeNs end_ns() const { return end_ns_; }

 private:
  /// A value of a step function, and since when it holds.
  struct Level {
    TimeNs since_ns = 0;
    int64_t value = 0;
  };

  static void change(Level& level, TimeNs now, int64_t by, TimeBins& bins, size_t row);
  void submit_until(TimeNs now);
  void hold(TimeNs now, core::model::JobId job, std::vector<core::model::GpuId> gpus);
  void release(TimeNs now, core::model::JobId job, bool waits_again);

  const core::model::JobHistory& history_;
  const HeatRows& rows_;
  simulator::Observer* next_;
  TimeBins curves_;
  TimeBins heat_;
  Level waiting_;
  Level held_;
  std::vector<Level> row_held_;
  std::vector<uint8_t> jobs_on_;  ///< by GPU
  std::unordered_map<core::model::JobId, std::vector<core::model::GpuId>> gpus_of_;
  size_t next_submit_ = 0;
  TimeNs end_ns_ = 0;
};

}  // namespace goban::study::results
