// The live scheduler without clock, thread, disk or network: inputs in, orders out. Its state is
// the fold of its inputs, so a journal of them brings it back to the bit.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/name_table.hpp"
#include "core/knowledge/locality.hpp"
#include "core/policy/compose.hpp"
#include "core/scheduler/core.hpp"
#include "live/controller/input.hpp"
#include "live/controller/job_book.hpp"

namespace goban::live::controller {

/// The site, as configured. Values, so that a controller can be made again from it.
struct Site {
  core::model::Cluster cluster{};
  core::knowledge::PmScores scores = core::knowledge::PmScores::uniform(1);
  core::knowledge::LocalityPenalties penalties{core::model::Cluster{}, 1.0};
  core::policy::Composition composition{};
  std::shared_ptr<const core::policy::SiteKnowledge> knowledge{};  ///< null: nothing is known
  base::NameTable accounts{}, users{}, partitions{},
      qos{};  ///< as the composition's rules use them
  uint64_t seed = 1;
  TimeNs keep_ended_ns = 3600 * base::kSecond;  ///< accounted jobs stay in the book so long
  ReservationRules reservations{};
  size_t jobs_per_user_max = 0;  ///< that are not over; 0 = no limit
};

struct LaunchRun {
  LaunchOrder order{};
};
struct StopRun {
  RunId run{};
  StopReason reason = StopReason::Preempted;
};
struct CapGpu {
  GpuId gpu{};
  double watts = 0;
};
struct RestNode {
  NodeId node{};
};
struct WakeNode {
  NodeId node{};
};
/// The job is over: its record goes to the history store, then Accounted comes back.
struct AccountFor {
  JobId job{};
};
using Order = std::variant<LaunchRun, StopRun, CapGpu, RestNode, WakeNode, AccountFor>;

class Controller final : public core::model::ReportedProgress {
 public:
  explicit Controller(Site site);
  ~Controller() override;
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  /// Why this input cannot be taken now: unknown job, not yours, asks for more than there is.
  [[nodiscard]] base::Status check(const Input& input) const;
  /// The nodes that a reservation would get at `now`: those it names, or the first ones that can be
  /// promised. Errors: why it cannot have them; BadData if what it asks for is wrong in itself.
  [[nodiscard]] base::Result<std::vector<NodeId>> nodes_for(const Reserve& reserve,
                                                            TimeNs now) const;
  /// Takes an input that check() had nothing against; reports of the engine always fit.
  void apply(const TimedInput& input);
  /// Decides who runs where from now on. Returns the line that the journal keeps of it: what the
  /// core decided, to compare with when it is replayed.
  std::string decide(TimeNs at);
  /// Carries out the decision that a line of the journal holds, whatever would be decided now.
  /// `compare`: decides first, to see whether it comes out the same; costs an image of the core.
  /// Returns false if it was compared and comes out otherwise. Errors: BadData if the
  /// line is no decision, or one that cannot be; the controller is of no use then.
  [[nodiscard]] base::Result<bool> redo(std::string_view decided, bool compare);

  /// Whether jobs that are over and accounted leave the book after a while. Not while a journal is
  /// folded: it names jobs that were known then, however long the configuration keeps them now.
  void set_forgets(bool forgets);

  /// What has to be done, in order; each is given out once.
  [[nodiscard]] std::vector<Order> take_orders();
  /// Runs of which the engine is to say how they stand; and orders of which nobody knows whether
  /// they arrived: after a restart, and now and then, for messages get lost.
  [[nodiscard]] std::vector<LaunchOrder> launched_runs() const;
  [[nodiscard]] std::vector<Order> orders_to_repeat() const;
  /// The power limits of all GPUs that ever had one from here: as they are now, or none.
  [[nodiscard]] std::vector<Order> limits_to_repeat() const;

  /// When decide() is due even if nothing happens; kNever = not at all.
  [[nodiscard]] TimeNs wake_ns() const;
  /// The latest moment it knows of.
  [[nodiscard]] TimeNs now_ns() const;

  [[nodiscard]] const JobBook& book() const;
  [[nodiscard]] const core::scheduler::Core& core() const;
  [[nodiscard]] const Site& site() const;
  /// Names the scores that the site was configured with, however they were measured since.
  [[nodiscard]] const std::string& configured_scores() const;
  /// What is known of jobs that shared GPUs: the site's own history, and what was learned since.
  [[nodiscard]] core::knowledge::ColocationHistory colocation() const;
  /// Nodes that are drained, with reasons.
  [[nodiscard]] const std::map<NodeId, std::string>& drained() const;
  /// The job that the next Submit will make, and the reservation that the next Reserve will.
  [[nodiscard]] JobId next_job() const;
  [[nodiscard]] ReservationId next_reservation() const;

  /// Everything, as one line of JSON. The controller itself goes on from what it wrote, so that one
  /// made from the snapshot decides alike from here on.
  [[nodiscard]] std::string snapshot();
  /// Errors: BadData if the snapshot is of another cluster or a newer version.
  [[nodiscard]] base::Status restore(std::string_view snapshot);

  double reported_left_s(JobId id, TimeNs now) const override;
  double reported_total_s(JobId id) const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace goban::live::controller
