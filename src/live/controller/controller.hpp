// The live scheduler without clock, thread, disk or network: takes inputs, returns orders. Its
// state is the fold of its inputs, so it can be restored bit for bit from a journal of them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/scheduler/core.hpp"
#include "live/controller/forecasts.hpp"
#include "live/controller/input.hpp"
#include "live/controller/job_book.hpp"
#include "live/controller/launch_hold.hpp"
#include "live/controller/site.hpp"

namespace goban::live::controller {

class Controller final : public core::model::ReportedProgress {
 public:
  explicit Controller(Site site);
  ~Controller() override;
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  /// Errors: the reason why this input cannot be taken now, such as an unknown job, missing rights,
  /// or a request larger than the cluster.
  [[nodiscard]] base::Status check(const Input& input) const;
  /// The nodes that a reservation would get at `now` (choose_nodes()).
  [[nodiscard]] base::Result<std::vector<NodeId>> nodes_for(const Reserve& reserve,
                                                            TimeNs now) const;
  /// Applies an input that passed check(); engine reports always pass.
  void apply(const TimedInput& input);
  /// Makes a decision. Returns its line for the journal, which is compared with when the journal is
  /// replayed.
  std::string decide(TimeNs at);
  /// Carries out the decision recorded in a line of the journal, even if the core would decide
  /// otherwise now (DecisionCore::redo). Errors: those of redo(); BadData if the line is not a
  /// decision.
  [[nodiscard]] base::Result<bool> redo(std::string_view decided, bool compare);

  /// Whether finished and accounted jobs are removed from the job table after Site::keep_ended_ns.
  /// Off while a journal is folded, as it may refer to jobs that were known then.
  void set_forgets(bool forgets);

  /// Orders to be carried out, in order; each is returned once.
  [[nodiscard]] std::vector<Order> take_orders();
  /// Runs whose state the engine is to report, and orders that it has not answered. Used after a
  /// restart and periodically, as messages can be lost.
  [[nodiscard]] std::vector<LaunchOrder> launched_runs() const;
  [[nodiscard]] std::vector<Order> orders_to_repeat() const;
  /// The list as it is to be written into the journal (Clusters::completed()).
  [[nodiscard]] ClusterSeen completed(ClusterSeen seen) const;
  /// The jobs of the engine's queue that have not ended.
  [[nodiscard]] std::vector<KnownJob> known_jobs() const;
  /// The current power limits of all GPUs for which this controller ever set one; none if the limit
  /// was lifted.
  [[nodiscard]] std::vector<Order> limits_to_repeat() const;

  /// The step that a pilot has to take now (Pilots::due).
  [[nodiscard]] std::optional<PilotStep> pilot_step(TimeNs now, bool weighs) const;
  /// When decide() is due even without an input; kNever = not at all.
  [[nodiscard]] TimeNs wake_ns() const;
  /// The latest time of an input or decision.
  [[nodiscard]] TimeNs now_ns() const;

  [[nodiscard]] const JobBook& book() const;
  [[nodiscard]] const core::scheduler::Core& core() const;
  [[nodiscard]] const Site& site() const;
  /// The present cluster, which stays as it is after a change.
  [[nodiscard]] std::shared_ptr<const core::model::Cluster> cluster() const;
  /// SHA-256 of the configured score table.
  [[nodiscard]] const std::string& configured_scores() const;
  /// The co-location history: the site's own and what was learned since.
  [[nodiscard]] core::knowledge::ColocationHistory colocation() const;
  /// Drained nodes with their reasons.
  [[nodiscard]] const std::map<NodeId, std::string>& drained() const;
  /// Nodes on which launches are held.
  [[nodiscard]] const std::map<NodeId, LaunchHold>& holds() const;
  /// The ids that the next Submit and the next Reserve will assign.
  [[nodiscard]] JobId next_job() const;
  [[nodiscard]] ReservationId next_reservation() const;

  /// The complete state as one line of JSON. A controller restored from it makes the same decisions
  /// as this one from here on.
  [[nodiscard]] std::string snapshot();
  /// Errors: BadData if the snapshot is of another cluster or a newer version.
  [[nodiscard]] base::Status restore(std::string_view snapshot);

  /// A job that was not submitted: what if it were?
  struct ImaginedJob {
    core::model::JobRequest request{};
    job::PredictedRun predicted{};
  };
  /// `spec` passed check() as a Submit.
  [[nodiscard]] ImaginedJob imagine(const job::JobSpec& spec) const;
  /// EngineReports::expected_after(): for EngineReport::expected.
  [[nodiscard]] core::model::RunForecast expected_after(const Report& report, TimeNs at) const;
  /// Predicts run times of jobs that are submitted now.
  [[nodiscard]] const Forecasts& forecasts() const;
  /// Forecasts::teach() with the job table of this controller.
  void teach(const std::vector<EarlierJob>& past);

  double reported_left_s(JobId id, TimeNs now) const override;
  double reported_total_s(JobId id) const override;
  double reported_steps_left(JobId id, TimeNs now) const override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace goban::live::controller
