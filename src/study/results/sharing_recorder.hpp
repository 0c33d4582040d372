// Observes a simulated run and counts launches and undos on shared GPUs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/knowledge/colocation/colocation_predictor.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::results {

inline constexpr size_t kNumPredictionLevels =
    static_cast<size_t>(core::knowledge::PredictionLevel::Never) + 1;

/// Of the jobs of a history; fillers are excluded.
class SharingRecorder final : public simulator::Observer {
 public:
  /// `next` must outlive the recorder. It may be null; it receives every call first.
  SharingRecorder(size_t num_jobs, simulator::Observer* next) : next_(next), level_of_(num_jobs) {}

  void decided(const core::scheduler::Decision& decision,
               const core::scheduler::Core& core) override;
  void acted(base::TimeNs now, const core::model::Action& action,
             const core::scheduler::Core& core) override;
  void awake(base::TimeNs now, core::model::NodeId node) override;
  void job_ended(base::TimeNs now, core::model::JobId job, simulator::JobEnd end) override;
  void ended(base::TimeNs now) override;

  /// Shared allocations that were undone.
  [[nodiscard]] int64_t undo_count() const { return undo_count_; }
  /// Launches next to other jobs, by the level of the prediction behind them.
  [[nodiscard]] const std::array<int64_t, kNumPredictionLevels>& predictions() const {
    return predictions_;
  }
  /// Of the last launch of each job; Alone: its GPUs were free.
  [[nodiscard]] const std::vector<core::knowledge::PredictionLevel>& level_of() const {
    return level_of_;
  }

 private:
  simulator::Observer* next_;
  int64_t undo_count_ = 0;
  std::array<int64_t, kNumPredictionLevels> predictions_{};
  std::vector<core::knowledge::PredictionLevel> level_of_;
};

}  // namespace goban::study::results
