// The live scheduler without clock, thread, disk or network: inputs in, orders out. Its state is
// the fold of its inputs, so a journal of them brings it back to the bit.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/scheduler/core.hpp"
#include "live/controller/input.hpp"
#include "live/controller/job_book.hpp"
#include "live/controller/order.hpp"
#include "live/controller/site.hpp"

namespace goban::live::controller {

class Controller final : public core::model::ReportedProgress {
 public:
  explicit Controller(Site site);
  ~Controller() override;
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  /// Why this input cannot be taken now: unknown job, not yours, asks for more than there is.
  [[nodiscard]] base::Status check(const Input& input) const;
  /// The nodes that a reservation would get at `now` (choose_nodes()).
  [[nodiscard]] base::Result<std::vector<NodeId>> nodes_for(const Reserve& reserve,
                                                            TimeNs now) const;
  /// Takes an input that passed check(); reports of the engine always do.
  void apply(const TimedInput& input);
  /// Decides who runs where from now on. Returns the line that the journal keeps of it: what the
  /// core decided, to compare with when it is replayed.
  std::string decide(TimeNs at);
  /// Carries out the decision that a line of the journal holds, whatever would be decided now
  /// (DecisionCore::redo). Errors: BadData also if the line is no decision.
  [[nodiscard]] base::Result<bool> redo(std::string_view decided, bool compare);

  /// Whether jobs that are over and accounted leave the book after Site::keep_ended_ns. Not while a
  /// journal is folded: it names jobs that were known then.
  void set_forgets(bool forgets);

  /// What has to be done, in order; each is given out once.
  [[nodiscard]] std::vector<Order> take_orders();
  /// Runs whose state the engine is to report, and orders that it has not answered: after a
  /// restart, and from time to time, as messages get lost.
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
  /// SHA-256 of the score table that the site was configured with.
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
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace goban::live::controller
