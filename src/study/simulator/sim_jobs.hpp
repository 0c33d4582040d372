// The true progress of every job in a simulation, which the core does not see.
#pragma once

#include <deque>
#include <vector>

#include "core/model/job.hpp"
#include "core/model/job_state.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::simulator {

/// Completed and remaining work, by JobId. Also the oracle of simulation-only policies.
class SimJobs final : public core::model::WorkOracle, public core::model::ReportedProgress {
 public:
  /// `history` must outlive this object. `restart_cost_s`: seconds for which a relaunched job holds
  /// GPUs without progress.
  SimJobs(const core::model::JobHistory& history, double restart_cost_s);

  /// Adds a job after all others.
  JobId add_filler(core::model::Job job);

  [[nodiscard]] const core::model::Job& job(JobId id) const {
    return id.index() < history_->jobs.size() ? history_->jobs[id.index()]
                                              : fillers_[id.index() - history_->jobs.size()];
  }
  [[nodiscard]] size_t size() const { return progress_.size(); }

  /// The job starts on other GPUs than before (or `same_gpus`). Alone it would run at `slowdown`,
  /// which is multiplied by `contention`. Returns the seconds until it is done if nothing changes.
  double launch(JobId id, TimeNs now, double slowdown, double contention, bool same_gpus);
  /// Changes the contention of a running job. Returns the seconds until it is done.
  double change_contention(JobId id, TimeNs now, double contention);
  /// The job stops and keeps its work. `undone`: its shared placement was undone, and its next
  /// start has a restart cost on any GPUs.
  void stop(JobId id, TimeNs now, bool undone = false);
  /// Counts a start on GPUs that other jobs hold.
  void count_shared(JobId id) { ++progress_[id.index()].outcome.shared; }
  void count_moved(JobId id) { ++progress_[id.index()].outcome.moved; }
  /// The job stops and falls back to its last checkpoint. Returns the seconds of work lost.
  double abandon(JobId id, TimeNs now, double checkpoint_interval_s);
  /// The job ends.
  void finish(JobId id, TimeNs now, JobEnd end);

  /// Changes whenever the job starts, stops or changes its speed, which invalidates an ending
  /// scheduled before.
  [[nodiscard]] uint32_t version(JobId id) const { return progress_[id.index()].version; }
  [[nodiscard]] const JobOutcome& outcome(JobId id) const { return progress_[id.index()].outcome; }
  /// Of a running job.
  [[nodiscard]] double contention(JobId id) const { return progress_[id.index()].contention; }
  [[nodiscard]] bool running(JobId id) const { return progress_[id.index()].slowdown > 0; }
  [[nodiscard]] TimeNs run_start_ns(JobId id) const { return progress_[id.index()].run_start_ns; }

  double total_work_s(JobId id) const override { return job(id).work_s; }
  double work_left_s(JobId id, TimeNs now) const override;
  double launch_cost_s(JobId id) const override;
  /// For jobs that declare epochs; includes restart costs still to be paid.
  double reported_left_s(JobId id, TimeNs now) const override;
  double reported_total_s(JobId id) const override;
  /// Null if the history has no training facts of the job.
  [[nodiscard]] const core::model::TrainingFacts* training(JobId id) const {
    return id.index() < history_->training.size() ? &history_->training[id.index()] : nullptr;
  }
  /// GPU-seconds held by jobs while they restarted.
  [[nodiscard]] double overhead_gpu_s() const { return overhead_gpu_s_; }

 private:
  struct Progress {
    double work_left_s = 0;      ///< at settled_ns, or now if not running
    double overhead_left_s = 0;  ///< restart cost still to be paid, at the same time
    double slowdown = 0;         ///< > 0 while running, contention included
    double alone_slowdown = 0;   ///< without contention
    double contention = 1;
    double work_at_start_s = 0;  ///< what was left at run_start_ns
    double worked_s = 0;         ///< of this run up to settled_ns, without overhead
    TimeNs run_start_ns = 0;
    TimeNs settled_ns = 0;  ///< start of the run, or when its speed changed last
    uint32_t version = 0;
    bool undone = false;  ///< its last placement was undone
    JobOutcome outcome{};
  };

  /// Updates work and overhead of a running job to now.
  void settle(JobId id, TimeNs now);
  Progress& leave_resources(JobId id, TimeNs now);

  const core::model::JobHistory* history_;
  double restart_cost_s_;
  double overhead_gpu_s_ = 0;
  std::deque<core::model::Job> fillers_;
  std::vector<Progress> progress_;
};

}  // namespace goban::study::simulator
