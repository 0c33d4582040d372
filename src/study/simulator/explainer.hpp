// Follows one job through a replay and gathers why it waited and why it got its GPUs.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "core/policy/placement/pal_entries.hpp"
#include "core/scheduler/explain.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::simulator {

using core::model::GpuId;

/// A stretch of waiting with one reason.
struct WaitSpan {
  TimeNs from_ns = 0;
  TimeNs to_ns = 0;
  core::scheduler::WaitReason why;
  int32_t free_min = 0;  ///< free GPUs meanwhile, after decisions
  int32_t free_max = 0;
  size_t ahead = 0;                ///< waiting jobs before it when the stretch began
  std::vector<JobId> first_ahead;  ///< the first of those
};

/// A launch, and what there was to choose from.
struct Launch {
  TimeNs at_ns = 0;
  core::model::Allocation allocation;
  size_t span_level = 0;      ///< innermost topology level that holds all its GPUs
  double score = 1;           ///< worst raw PM score of its GPUs, for its class
  double penalty = 1;         ///< of the level
  int32_t free_gpus = 0;      ///< when it was placed
  int32_t one_node_free = 0;  ///< most free GPUs on one node then
  bool same_gpus = false;
  std::vector<core::policy::PalEntry> entries;  ///< empty: the placement does not weigh entries
  std::vector<JobId> before;                    ///< placed before it in the same decision
  std::vector<JobId> after;                     ///< and after it
};

/// It lost its GPUs.
struct Stop {
  TimeNs at_ns = 0;
  bool node_failed = false;
  std::vector<JobId> takers;  ///< jobs that hold some of its GPUs after the decision
};

struct JobStory {
  std::vector<WaitSpan> waits;
  std::vector<Launch> launches;
  std::vector<Stop> stops;
  std::optional<TimeNs> first_in_line_ns;  ///< since when no waiting job was before it
  TimeNs finish_ns = -1;
  JobEnd end = JobEnd::Pending;
};

/// Hook it into a run with attach(); the run ends early once the job did. The story is complete
/// when done() is true.
class Explainer final : public Observer {
 public:
  /// `pal`: the matrix of the placement policy, if it is PAL. References outlive this.
  Explainer(const core::model::JobHistory& history, const core::policy::SpeedModel& speed,
            JobId job, uint64_t seed, std::optional<core::policy::PalOptions> pal);

  /// Sets observer, watcher and cancel of the options; `this` outlives the run.
  void attach(SimulationOptions& options);

  void decided(const core::scheduler::Decision& decision,
               const core::scheduler::Core& core) override;
  void acted(TimeNs now, const core::model::Action& action,
             const core::scheduler::Core& core) override;
  void job_ended(TimeNs now, JobId job, JobEnd end) override;

  [[nodiscard]] bool done() const { return done_.load(); }
  [[nodiscard]] const JobStory& story() const { return story_; }

  /// A placement was found for some job; the watcher calls this.
  void found(const core::policy::PlacementView& view,
             const core::policy::PlacementRequest& request);

 private:
  /// What a placement saw. The job is known by its seed once the time of the decision is.
  struct Sight {
    uint64_t seed = 0;
    int32_t free_gpus = 0;
    int32_t one_node_free = 0;
    std::vector<core::policy::PalEntry> entries;
  };

  void note_wait(TimeNs now, const core::scheduler::Core& core);
  void end_wait(TimeNs now);
  void note_launch(const core::scheduler::Decision& decision, const core::model::Action& action,
                   const core::scheduler::Core& core);

  const core::model::JobHistory& history_;
  core::policy::SpeedModel speed_;
  JobId job_;
  uint64_t seed_;
  std::optional<core::policy::PalOptions> pal_;
  std::vector<Sight> sights_;  ///< of the decision in the making
  bool wait_is_open_ = false;
  TimeNs waits_since_ns_;  ///< submission or last stop
  std::vector<GpuId> lost_gpus_;
  JobStory story_;
  std::atomic<bool> done_ = false;
};

}  // namespace goban::study::simulator
