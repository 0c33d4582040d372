#include "live/controller/controller.hpp"

#include <algorithm>
#include <utility>

#include "live/controller/clusters.hpp"
#include "live/controller/engine_reports.hpp"
#include "live/controller/input_checks.hpp"
#include "live/controller/pilots.hpp"
#include "live/controller/reservations.hpp"
#include "live/controller/snapshot.hpp"
#include "live/controller/staging.hpp"

namespace goban::live::controller {

using base::Status;

/// Each part uses only those declared above it.
struct Controller::Parts {
  Parts(Site site, const core::model::ReportedProgress& progress)
      : core(std::move(site), progress) {}

  // Inputs, one function each.
  void take(const Submit& submit) { jobs.submit(submit, clock_ns); }
  void take(const Cancel& cancel) { jobs.cancel(cancel, clock_ns); }
  void take(const Hold& hold) { jobs.hold(hold.job, clock_ns); }
  void take(const Release& release) { jobs.release(release.job, clock_ns); }
  void take(const Requeue& requeue) { jobs.requeue(requeue.job, clock_ns); }
  void take(const Alter& alter) { jobs.alter(alter, clock_ns); }
  void take(const Suspend& each) { jobs.suspend(each.job, true, clock_ns); }
  void take(const Continue& each) { jobs.suspend(each.job, false, clock_ns); }
  void take(const Drain& drain) { nodes.drain(drain, clock_ns); }
  void take(const Resume& resume) { nodes.resume(resume.node, clock_ns); }
  void take(const Fence& fence) { nodes.fence(fence.node, clock_ns); }
  void take(const EngineReport& input) { reports.take(input, clock_ns); }
  void take(const JobSeen& job) { seen.take(job, clock_ns); }
  void take(const JobGone& job) { seen.take(job, clock_ns); }
  void take(const StageReport& each) {
    jobs.follow_staging(staging.take(each, clock_ns), clock_ns);
  }
  void take(const ClusterSeen& each) { clusters.take(each, clock_ns); }
  void take(const Accounted& accounted) {
    const auto found = book.jobs.find(accounted.job);
    if (found != book.jobs.end()) found->second.accounted = true;
  }
  void take(const ScoresMeasured& scores) { core.take(scores); }
  void take(const Reserve& reserve) { reservations.reserve(reserve, clock_ns); }
  void take(const CancelReservation& cancel) { reservations.cancel(cancel, clock_ns); }

  void take(const StartPilot& start) { pilots.start(start, clock_ns); }
  void take(const StopPilot& stop) { pilots.stop(stop, clock_ns); }
  void take(const PilotStep& step) { pilots.step(step, clock_ns); }

  void before_decision(TimeNs at);
  void after_decision();
  void forget_old();

  [[nodiscard]] CheckFacts facts(TimeNs now) const {
    return {.site = core.site(),
            .book = book,
            .core = core.state(),
            .drained = nodes.drained(),
            .drained_there = nodes.drained_there(),
            .down = nodes.down(),
            .silent = nodes.silent(),
            .unfinished = jobs.unfinished(),
            .now_ns = now};
  }
  [[nodiscard]] SnapshotParts snapshot() {
    return {clock_ns, next_forget_ns, book, core,  limits,   observation, forecasts,
            runs,     staging,        jobs, nodes, clusters, pilots};
  }

  JobBook book{};
  std::vector<Order> orders{};
  DecisionCore core;
  PowerLimits limits{core};
  Observation observation{book, core};
  Staging staging{book, core.site().staging, orders};
  Runs runs{book, core.site().cluster, orders, &staging};
  Forecasts forecasts{};
  Jobs jobs{{book, core, limits, observation, forecasts, runs, staging, orders}};
  Nodes nodes{core, jobs, orders};
  Reservations reservations{book, core, jobs};
  Pilots pilots{book, core};
  SeenJobs seen{{book, core, runs, jobs, nodes, orders}};
  Clusters clusters{{book, core, limits, runs, jobs, nodes, seen}};
  EngineReports reports{{book, core, observation, runs, jobs, nodes, seen}};
  TimeNs clock_ns = 0;
  TimeNs next_forget_ns = 0;
  bool forgets = true;
};

Controller::Controller(Site site) : parts_(std::make_unique<Parts>(std::move(site), *this)) {}
Controller::~Controller() = default;

Status Controller::check(const Input& input) const {
  return check_input(input, parts_->facts(parts_->clock_ns));
}

base::Result<std::vector<NodeId>> Controller::nodes_for(const Reserve& reserve, TimeNs now) const {
  return choose_nodes(reserve, parts_->facts(now));
}

void Controller::apply(const TimedInput& input) {
  parts_->clock_ns = std::max(parts_->clock_ns, input.at_ns);
  std::visit([&](const auto& each) { parts_->take(each); }, input.input);
}

void Controller::Parts::before_decision(TimeNs at) {
  clock_ns = std::max(clock_ns, at);
  jobs.stop_at_limits(clock_ns);
  nodes.end_holds(runs, clock_ns);
  jobs.begin_due(clock_ns);
  jobs.follow_staging(staging.follow(clock_ns), clock_ns);
  reservations.follow(clock_ns);
  forget_old();
  for (const JobId job : observation.watched()) {
    const bool runs_now = core.knows(job) && !core.has_waiting(job);
    if (runs_now) jobs.report_speed(job, clock_ns);
    if (!runs_now) observation.give_up(job, clock_ns);
  }
}

void Controller::Parts::after_decision() {
  jobs.carry_out(core.last_actions(), clock_ns);
  jobs.restart_disturbed(clock_ns);
  core.drop_broken();
  jobs.launch_pending(clock_ns);
}

void Controller::Parts::forget_old() {
  if (!forgets || clock_ns < next_forget_ns) return;
  const TimeNs keep_ns = core.site().keep_ended_ns;
  next_forget_ns = clock_ns + std::max<TimeNs>(keep_ns / 16, base::kSecond);
  jobs.forget_old(clock_ns, keep_ns);
  reservations.forget_old(clock_ns, keep_ns);
}

std::string Controller::decide(TimeNs at) {
  parts_->before_decision(at);
  std::string text = parts_->core.decide(parts_->clock_ns);
  parts_->after_decision();
  return text;
}

base::Result<bool> Controller::redo(std::string_view decided, bool compare) {
  auto recorded = parse_decision(decided);
  if (!recorded) return base::failure(recorded.error());
  parts_->before_decision(recorded->at_ns);
  auto same = parts_->core.redo(std::move(*recorded), decided, parts_->clock_ns, compare);
  if (same) parts_->after_decision();
  return same;
}

void Controller::set_forgets(bool forgets) { parts_->forgets = forgets; }

std::vector<Order> Controller::take_orders() { return std::exchange(parts_->orders, {}); }

std::vector<LaunchOrder> Controller::launched_runs() const { return parts_->runs.launched(); }

std::vector<Order> Controller::orders_to_repeat() const {
  std::vector<Order> found = parts_->runs.unanswered();
  for (const NodeId node : parts_->nodes.waking()) {
    found.emplace_back(WakeNode{parts_->core.name_of(node)});
  }
  for (Order& order : parts_->nodes.fences()) found.push_back(std::move(order));
  for (Order& order : parts_->seen.unanswered()) found.push_back(std::move(order));
  for (Order& order : parts_->staging.unanswered()) found.push_back(std::move(order));
  for (const auto& [id, job] : parts_->book.jobs) {
    if (job.stage == JobStage::Done && !job.accounted) found.emplace_back(AccountFor{id});
  }
  return found;
}

ClusterSeen Controller::completed(ClusterSeen seen) const {
  return parts_->clusters.completed(std::move(seen));
}

std::vector<KnownJob> Controller::known_jobs() const { return parts_->seen.known(); }

std::vector<Order> Controller::limits_to_repeat() const { return parts_->limits.all(); }

TimeNs Controller::wake_ns() const {
  return std::min({parts_->core.core().wake_ns(), parts_->observation.next_ns(),
                   parts_->reservations.next_ns(), parts_->runs.next_limit_ns(),
                   parts_->nodes.next_ns(), parts_->jobs.next_begin_ns(), parts_->staging.next_ns(),
                   parts_->pilots.next_ns()});
}

std::optional<PilotStep> Controller::pilot_step(TimeNs now, bool weighs) const {
  return parts_->pilots.due(now, weighs);
}

TimeNs Controller::now_ns() const { return parts_->clock_ns; }
const JobBook& Controller::book() const { return parts_->book; }
const core::scheduler::Core& Controller::core() const { return parts_->core.core(); }
const Site& Controller::site() const { return parts_->core.site(); }

std::shared_ptr<const core::model::Cluster> Controller::cluster() const {
  return parts_->core.cluster();
}
const std::string& Controller::configured_scores() const {
  return parts_->core.configured_scores();
}
core::knowledge::ColocationHistory Controller::colocation() const {
  const core::policy::SharingMemory* memory = core().sharing_memory();
  return parts_->core.applications().named(memory == nullptr ? core::knowledge::ColocationHistory{}
                                                             : memory->history());
}
const std::map<NodeId, std::string>& Controller::drained() const { return parts_->nodes.drained(); }
const std::map<NodeId, LaunchHold>& Controller::holds() const { return parts_->nodes.holds(); }
JobId Controller::next_job() const { return JobId(parts_->book.next_job); }
ReservationId Controller::next_reservation() const {
  return ReservationId(parts_->book.next_reservation);
}

std::string Controller::snapshot() { return write_snapshot(parts_->snapshot()); }
Status Controller::restore(std::string_view snapshot) {
  return read_snapshot(snapshot, parts_->snapshot());
}

Controller::ImaginedJob Controller::imagine(const job::JobSpec& spec) const {
  LiveJob job{.job = next_job(), .spec = spec};
  job.reservation = open_reservation(book(), spec.reservation);
  const auto predicted = parts_->forecasts.predict({spec});
  return {.request = parts_->core.request_for(job, now_ns()),
          .predicted = predicted.empty() ? job::PredictedRun{} : predicted.front()};
}

core::model::RunForecast Controller::expected_after(const Report& report, TimeNs at) const {
  return parts_->reports.expected_after(report, at);
}

const Forecasts& Controller::forecasts() const { return parts_->forecasts; }
void Controller::teach(const std::vector<EarlierJob>& past) {
  parts_->forecasts.teach(past, parts_->book);
}

double Controller::reported_left_s(JobId id, TimeNs /*now*/) const {
  return parts_->observation.left_s(id);
}
double Controller::reported_total_s(JobId id) const { return parts_->observation.total_s(id); }
double Controller::reported_steps_left(JobId id, TimeNs /*now*/) const {
  const LiveJob* job = book().find(id);
  if (job == nullptr || job->progress.step < 0) return -1;
  const int64_t steps = job->progress.steps > 0 ? job->progress.steps : job->spec.training.steps;
  return steps <= 0 ? -1 : static_cast<double>(std::max<int64_t>(steps - job->progress.step, 0));
}

}  // namespace goban::live::controller
