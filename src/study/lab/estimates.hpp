// What a policy may know of run times: the walltime limit, else the mean of the user's earlier
// jobs that have ended in the simulation.
#pragma once

#include <vector>

#include "core/model/job.hpp"
#include "core/model/job_history.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::lab {

using base::TimeNs;
using core::model::JobId;

/// Estimates of one run. Also the oracle of its selection, so that no backfill rests on true run
/// times.
class Estimates final : public simulator::Observer, public core::model::WorkOracle {
 public:
  /// Assumed before any job has ended.
  static constexpr double kUnknown_s = 3600;

  /// `oracle`: the policy may see true run times. `history` and `next` (an observer, or null) must
  /// outlive this object.
  Estimates(const core::model::JobHistory& history, bool oracle, simulator::Observer* next);

  /// In seconds at PM score 1 and locality penalty 1, fixed when it is first asked for: at the
  /// submission of the job.
  [[nodiscard]] double of(JobId job) const;
  [[nodiscard]] double true_s(JobId job) const { return history_->jobs[job.index()].work_s; }
  [[nodiscard]] bool sees_durations() const { return oracle_; }
  [[nodiscard]] const core::model::JobHistory& history() const { return *history_; }
  /// Some job has no limit, so that the run must be observed.
  [[nodiscard]] bool learns() const { return learns_; }
  /// Takes the place of the simulation's oracle, which still tells the restart costs.
  void stand_in_for(const core::model::WorkOracle* truth) { truth_ = truth; }

  double total_work_s(JobId job) const override;
  double work_left_s(JobId job, TimeNs now) const override;
  double launch_cost_s(JobId job) const override { return truth_->launch_cost_s(job); }

  void decided(const core::scheduler::Decision& decision,
               const core::scheduler::Core& core) override;
  void acted(TimeNs now, const core::model::Action& action,
             const core::scheduler::Core& core) override;
  void awake(TimeNs now, core::model::NodeId node) override;
  void job_ended(TimeNs now, JobId job, simulator::JobEnd end) override;
  void ended(TimeNs now) override;

 private:
  struct Mean {
    double sum_s = 0;
    int64_t jobs = 0;
  };
  struct Held {
    TimeNs start_ns = -1;  ///< -1: it does not run
    TimeNs before_ns = 0;
  };

  const core::model::JobHistory* history_;
  simulator::Observer* next_;
  const core::model::WorkOracle* truth_ = nullptr;
  bool oracle_;
  bool learns_ = false;
  mutable std::vector<float> fixed_s_;  ///< by JobId; negative: not yet asked for
  std::vector<Held> held_;              ///< by JobId; empty unless it learns
  std::vector<Mean> by_user_;
  Mean all_;
};

}  // namespace goban::study::lab
