// The decision core of a live site: takes events, returns decisions. Owns the core, its
// configuration, its measured scores and its names.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.hpp"
#include "core/scheduler/core.hpp"
#include "live/controller/applications.hpp"
#include "live/controller/input.hpp"
#include "live/controller/job_book.hpp"
#include "live/controller/observer.hpp"
#include "live/controller/site.hpp"

namespace goban::live::controller {

/// A decision as a line of the journal: `{"decided":{"at":..,"actions":[..]}}`. The reasons of
/// placements are not in it.
struct RecordedDecision {
  TimeNs at_ns = 0;
  std::vector<core::model::Action> actions{};
  std::vector<core::model::Allocation> allocations{};  ///< one for each Start, in their order
};
/// Errors: BadData naming what is missing or wrong.
[[nodiscard]] base::Result<RecordedDecision> parse_decision(std::string_view text);

class DecisionCore {
 public:
  using Actions = std::vector<core::model::Action>;

  /// `progress` outlives this.
  DecisionCore(Site site, const core::model::ReportedProgress& progress);

  /// Applies an event. Returns the actions that the event itself forces.
  Actions apply(const core::model::Event& event);
  /// Adds the job to the core's queue.
  Actions submit(const LiveJob& job, TimeNs at);
  /// The job as the core would see it if it were submitted at this time; without its application.
  [[nodiscard]] core::model::JobRequest request_for(const LiveJob& job, TimeNs at) const;
  /// Makes a decision. Returns its line for the journal.
  std::string decide(TimeNs at);
  /// Carries out a recorded decision. `compare`: decides first and compares the result with the
  /// line `decided`; costs an image of the core. Returns false if it was compared and differs.
  /// Errors: BadData if the decision cannot be carried out; the core must not be used afterwards.
  [[nodiscard]] base::Result<bool> redo(RecordedDecision recorded, std::string_view decided,
                                        TimeNs at, bool compare);
  /// The actions of the last decide() or redo().
  [[nodiscard]] Actions last_actions() const { return core_->last_decision().actions; }
  /// Jobs whose neighbours or power limits changed since the last call.
  [[nodiscard]] std::vector<JobId> take_disturbed() { return core_->take_disturbed(); }
  /// Discards breakages, which only the simulator uses.
  void drop_broken() { (void)core_->take_broken(); }

  [[nodiscard]] bool knows(JobId job) const { return core_->state().is_active(job); }
  /// The core knows the job, and the job has no GPUs.
  [[nodiscard]] bool has_waiting(JobId job) const;
  /// Another running job holds some of the GPUs of this one.
  [[nodiscard]] bool has_neighbours(JobId job) const { return !neighbours_of(job).empty(); }
  /// Jobs that have GPUs in common with this one, which runs.
  [[nodiscard]] std::vector<JobId> neighbours_of(JobId job) const;
  /// The current power limit of a GPU: index into the power model's caps, -1 = none.
  [[nodiscard]] int8_t cap_of(GpuId gpu) const;
  [[nodiscard]] bool caps_power() const { return caps_power_; }
  /// The reference that observed progress is compared with. The core must know the job.
  [[nodiscard]] Standing standing_of(const LiveJob& job) const;
  [[nodiscard]] const core::model::JobRequest& request_of(JobId job) const;

  [[nodiscard]] const core::scheduler::Core& core() const { return *core_; }
  [[nodiscard]] const core::scheduler::State& state() const { return core_->state(); }
  /// A change of the cluster makes a new one; the former ones stay for a while.
  [[nodiscard]] const Site& site() const { return *site_; }
  [[nodiscard]] std::shared_ptr<const core::model::Cluster> cluster() const {
    return {site_, &site_->cluster};
  }
  [[nodiscard]] const std::string& name_of(NodeId node) const {
    return site_->cluster.node(node).name;
  }
  [[nodiscard]] const Applications& applications() const { return applications_; }
  /// SHA-256 of the configured score table.
  [[nodiscard]] const std::string& configured_scores() const { return configured_scores_; }

  /// Uses measured scores from now on, unless they were measured under another configuration.
  void take(const ScoresMeasured& scores);

  /// Decides by this policy, and by its policy of a part, from now on. Jobs keep what they hold,
  /// and the queue is sorted again. Errors: BadData if it cannot take over what jobs hold; the
  /// present policy stays.
  [[nodiscard]] base::Status use_policy(const core::policy::Composition& policy);
  [[nodiscard]] const core::policy::Composition& configured_policy() const {
    return configured_policy_;
  }

  /// The cluster becomes another one. No running job and no reservation names what left.
  void change_cluster(core::model::Cluster cluster, const core::scheduler::ClusterNumbers& numbers);

  /// Adds the fields `names`, `scores` and `core` to a snapshot.
  void write(nlohmann::json& snapshot) const;
  /// Current ids by those of a snapshot.
  struct Names {
    Applications::Renumbering applications{};
    core::scheduler::PeopleNumbers people{};
  };
  [[nodiscard]] Names read_names(base::FieldReader& snapshot);
  /// Reads `scores` and `core`. Errors: BadData if they do not fit the site or the policies.
  [[nodiscard]] base::Status restore(base::FieldReader& snapshot, const Names& names);

 private:
  void make_core();
  /// A new core by the present site and policies that goes on from an image of the old one.
  void make_core_of(const core::scheduler::CoreImage& image);
  /// Derives the reason of a recorded placement.
  void fill_reason(JobId job, core::model::Allocation& allocation) const;

  const core::model::ReportedProgress& progress_;
  std::shared_ptr<Site> site_;
  std::vector<std::shared_ptr<Site>> former_;
  core::policy::Composition configured_policy_;
  std::string configured_scores_;
  std::string measured_scores_;  ///< the table used instead; empty = none
  base::NameTable models_;
  Applications applications_;
  std::unique_ptr<core::scheduler::Core> core_;
  bool caps_power_ = false;  ///< the policy limits power
};

}  // namespace goban::live::controller
