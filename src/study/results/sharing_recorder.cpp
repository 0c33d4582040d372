#include "study/results/sharing_recorder.hpp"

#include "base/check.hpp"

namespace goban::study::results {

using core::knowledge::PredictionLevel;

void SharingRecorder::decided(const core::scheduler::Decision& decision,
                              const core::scheduler::Core& core) {
  if (next_ != nullptr) next_->decided(decision, core);
}

void SharingRecorder::acted(base::TimeNs now, const core::model::Action& action,
                            const core::scheduler::Core& core) {
  if (next_ != nullptr) next_->acted(now, action, core);
  const bool of_job = action.kind == core::model::ActionKind::Start ||
                      action.kind == core::model::ActionKind::Preempt;
  if (!of_job || action.job.index() >= level_of_.size()) return;
  if (action.kind == core::model::ActionKind::Preempt) {
    undo_count_ += action.undo ? 1 : 0;
    return;
  }
  const size_t level = core.allocation(action.job).reason.prediction;
  GOBAN_CHECK(level < kNumPredictionLevels);
  level_of_[action.job.index()] = static_cast<PredictionLevel>(level);
  if (level != static_cast<size_t>(PredictionLevel::Alone)) ++predictions_[level];
}

void SharingRecorder::awake(base::TimeNs now, core::model::NodeId node) {
  if (next_ != nullptr) next_->awake(now, node);
}

void SharingRecorder::job_ended(base::TimeNs now, core::model::JobId job, simulator::JobEnd end) {
  if (next_ != nullptr) next_->job_ended(now, job, end);
}

void SharingRecorder::ended(base::TimeNs now) {
  if (next_ != nullptr) next_->ended(now);
}

}  // namespace goban::study::results
