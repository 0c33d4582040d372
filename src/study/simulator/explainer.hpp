// Follows one job through a replay and records why it waited and why it got its GPUs.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "core/model/job_history.hpp"
#include "core/policy/placement/pal_entries.hpp"
#include "core/scheduler/explain.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::simulator {

using core::model::GpuId;

/// An interval of waiting for one reason.
struct WaitSpan {
  TimeNs from_ns = 0;
  TimeNs to_ns = 0;
  core::scheduler::WaitReason why;
  int32_t free_min = 0;  ///< minimum of free GPUs in the interval, after decisions
  int32_t free_max = 0;
  size_t ahead = 0;  ///< waiting jobs before it in the order at the start of the interval
  std::vector<JobId> first_ahead;  ///< the first of those
};

/// A launch, and the alternatives of the placement.
struct Launch {
  TimeNs at_ns = 0;
  core::model::Allocation allocation;
  size_t span_level = 0;      ///< innermost topology level that holds all its GPUs
  double score = 1;           ///< worst raw PM score of its GPUs, for its class
  double penalty = 1;         ///< of the level
  int32_t free_gpus = 0;      ///< when it was placed
  int32_t one_node_free = 0;  ///< maximum of free GPUs on one node at that time
  bool same_gpus = false;
  std::vector<core::policy::PalEntry> entries;  ///< empty: the placement does not weigh entries
  std::vector<JobId> before;                    ///< placed before it in the same decision
  std::vector<JobId> after;                     ///< placed after it in the same decision
};

/// The job lost its GPUs.
struct Stop {
  TimeNs at_ns = 0;
  bool node_failed = false;
  bool resized = false;       ///< it goes on at once with another number of GPUs
  std::vector<JobId> takers;  ///< jobs that hold some of its GPUs after the decision
};

struct JobStory {
  std::vector<WaitSpan> waits;
  std::vector<Launch> launches;
  std::vector<Stop> stops;
  std::optional<TimeNs> first_in_line_ns;  ///< time from which no waiting job was before it
  TimeNs finish_ns = -1;
  JobEnd end = JobEnd::Pending;
};

/// Attach it to a run with attach(); the run is cancelled when the job ends. The story is complete
/// when done() is true.
class Explainer final : public Observer {
 public:
  /// `pal`: the options of the placement policy, if it is PAL. References must outlive this object.
  Explainer(const core::model::JobHistory& history, const core::policy::SpeedModel& speed,
            JobId job, uint64_t seed, std::optional<core::policy::PalOptions> pal);

  /// Sets observer, watch_placement and cancel of the options; `this` must outlive the run.
  void attach(SimulationOptions& options);

  void decided(const core::scheduler::Decision& decision,
               const core::scheduler::Core& core) override;
  void acted(TimeNs now, const core::model::Action& action,
             const core::scheduler::Core& core) override;
  void job_ended(TimeNs now, JobId job, JobEnd end) override;

  [[nodiscard]] bool done() const { return done_.load(); }
  [[nodiscard]] const JobStory& story() const { return story_; }

  /// Called for every successful placement.
  void found(const core::policy::PlacementView& view,
             const core::policy::PlacementRequest& request);

 private:
  /// The state seen by one placement. Its seed identifies the job once the time of the decision is
  /// known.
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
  std::vector<Sight> sights_;  ///< of the current decision
  bool wait_is_open_ = false;
  TimeNs waits_since_ns_;  ///< submission or last stop
  std::vector<GpuId> lost_gpus_;
  JobStory story_;
  std::atomic<bool> done_ = false;
};

}  // namespace goban::study::simulator
