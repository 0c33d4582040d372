// The true progress of every job in a simulation, which the core does not see.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "core/model/job.hpp"
#include "core/model/job_history.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::simulator {

/// How many GPUs an elastic job starts on.
struct ElasticLaunch {
  int32_t gpus = 0;
  bool interpolated = false;  ///< its speed on them was not measured
};

/// Completed and remaining work, by JobId. Also the oracle of simulation-only policies.
class SimJobs final : public core::model::WorkOracle, public core::model::ReportedProgress {
 public:
  /// `history` must outlive this object. `restart_cost_s`: seconds for which a relaunched job holds
  /// GPUs without progress.
  SimJobs(const core::model::JobHistory& history, double restart_cost_s);

  /// Adds a job after all others.
  JobId add_filler(core::model::Job job);

  [[nodiscard]] core::model::Job job(JobId id) const {
    return id.index() < history_->jobs.size() ? history_->jobs[id.index()]
                                              : fillers_[id.index() - history_->jobs.size()];
  }
  [[nodiscard]] size_t size() const { return places_.size(); }

  /// The job starts on other GPUs than before (or `same_gpus`). Alone it would run at `slowdown`,
  /// which is multiplied by `contention`. Returns the seconds until it is done if nothing changes.
  double launch(JobId id, TimeNs now, double slowdown, double contention, bool same_gpus,
                const ElasticLaunch* elastic = nullptr);
  /// Changes the contention of a running job. Returns the seconds until it is done.
  double change_contention(JobId id, TimeNs now, double contention);
  /// The job stops and keeps its work. `undone`: its shared placement was undone, and its next
  /// start has a restart cost on any GPUs.
  void stop(JobId id, TimeNs now, bool undone = false);
  /// Counts a start on GPUs that other jobs hold.
  void count_shared(JobId id) { ++shared_of(id).shared; }
  void count_moved(JobId id) { ++shared_of(id).moved; }
  /// The job stops and falls back to its last checkpoint. Returns the seconds of work lost.
  /// `failed`: its node did, so that its next start has a restart cost on any GPUs.
  double abandon(JobId id, TimeNs now, double checkpoint_interval_s, bool failed);
  /// The job ends, whether or not it runs.
  void finish(JobId id, TimeNs now, JobEnd end);

  /// Changes whenever the job starts, stops or changes its speed, which invalidates an ending
  /// scheduled before.
  [[nodiscard]] uint32_t version(JobId id) const { return progress(id).version; }
  [[nodiscard]] const JobOutcome& outcome(JobId id) const { return outcomes_[id.index()]; }
  /// The outcomes of the history's jobs, by JobId; ends the use of this object.
  [[nodiscard]] std::vector<JobOutcome> take_outcomes();
  /// SimulationResult::shared; ends the use of this object.
  [[nodiscard]] std::vector<SharedOutcome> take_shared();
  /// SimulationResult::elastic; ends the use of this object.
  [[nodiscard]] std::vector<ElasticOutcome> take_elastic();
  /// GPUs of the present or last run.
  [[nodiscard]] int32_t gpus_of(JobId id) const {
    const int32_t gpus = progress(id).gpus;
    return gpus > 0 ? gpus : job(id).request.num_gpus;
  }
  /// Of a running job.
  [[nodiscard]] double contention(JobId id) const { return run_of(id).contention; }
  /// Bound of the rounding errors of what launch() and change_contention() return, in seconds; at
  /// most half a nanosecond. Zero for a job in one piece.
  [[nodiscard]] double inexact_s(JobId id) const;
  /// True if the running job has worked since its progress was last settled.
  [[nodiscard]] bool works(JobId id, TimeNs now) const;
  /// True if any job is known to have worked since the last call. Jobs that run may have worked
  /// unnoticed: see works().
  [[nodiscard]] bool take_worked() { return std::exchange(worked_, false); }
  [[nodiscard]] bool running(JobId id) const { return progress(id).runs; }
  /// Of a running job.
  [[nodiscard]] TimeNs run_start_ns(JobId id) const { return run_of(id).run_start_ns; }

  double total_work_s(JobId id) const override { return job(id).work_s; }
  double work_left_s(JobId id, TimeNs now) const override;
  double launch_cost_s(JobId id) const override;
  /// For jobs that declare epochs; includes restart costs still to be paid.
  double reported_left_s(JobId id, TimeNs now) const override;
  double reported_total_s(JobId id) const override;
  double reported_steps_left(JobId id, TimeNs now) const override;
  /// Null if the history has no training facts of the job.
  [[nodiscard]] const core::model::TrainingFacts* training(JobId id) const {
    return id.index() < history_->training.size() ? &history_->training[id.index()] : nullptr;
  }
  /// GPU-seconds held by jobs while they restarted.
  [[nodiscard]] double overhead_gpu_s() const { return overhead_gpu_s_; }

 private:
  static constexpr uint32_t kNotBegun = UINT32_MAX;
  static constexpr uint32_t kFinished = UINT32_MAX - 1;

  /// Kept of jobs that were started and are not finished.
  struct Progress {
    double work_left_s = 0;      ///< at settled_ns, or now if not running
    double overhead_left_s = 0;  ///< restart cost still to be paid, at the same time
    uint32_t version = 0;
    bool runs = false;
    bool undone = false;  ///< its last placement was undone, or its node failed
    int32_t gpus = 0;     ///< elastic: of the present or last run; 0: as requested
    // The rest is of the run, if the job runs.
    double slowdown = 1;        ///< contention included
    double alone_slowdown = 1;  ///< without contention
    double contention = 1;
    double work_at_start_s = 0;  ///< what was left at run_start_ns
    double worked_s = 0;         ///< of this run up to settled_ns, without overhead
    TimeNs run_start_ns = 0;
    TimeNs settled_ns = 0;  ///< start of the run, or when its speed changed last
  };

  [[nodiscard]] const Progress& progress(JobId id) const {
    static constexpr Progress kNone;
    const uint32_t place = places_[id.index()];
    return place < kFinished ? progress_[place] : kNone;
  }
  [[nodiscard]] const Progress& run_of(JobId id) const { return progress_[places_[id.index()]]; }
  SharedOutcome& shared_of(JobId id);
  ElasticOutcome& elastic_of(JobId id);
  /// Notes the size of an elastic job. Returns the restart cost of the launch.
  double begin_size(JobId id, Progress& progress, const ElasticLaunch& launch);
  /// The progress of a job that is started, perhaps for the first time.
  Progress& begin(JobId id);
  /// Updates work and overhead of a running job to now.
  void settle(JobId id, TimeNs now);
  /// The job no longer runs.
  Progress& leave_resources(JobId id, TimeNs now);

  const core::model::JobHistory* history_;
  double restart_cost_s_;
  double overhead_gpu_s_ = 0;
  bool worked_ = false;
  std::deque<core::model::Job> fillers_;
  std::vector<uint32_t> places_;  ///< by JobId: index into progress_, kNotBegun or kFinished
  std::vector<Progress> progress_;
  std::vector<uint32_t> free_places_;
  std::vector<JobOutcome> outcomes_;
  std::vector<SharedOutcome> shared_;
  std::vector<ElasticOutcome> elastic_;
};

}  // namespace goban::study::simulator
