#include "live/controller/controller.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/check.hpp"
#include "base/sha256.hpp"
#include "core/knowledge/scores_file.hpp"
#include "core/scheduler/core_image.hpp"
#include "live/controller/controller_state.hpp"

namespace goban::live::controller {

using base::Status;
using core::model::EventKind;

Controller::State::State(Site configured, const core::model::ReportedProgress& reported)
    : progress(reported),
      site(std::move(configured)),
      configured_scores(base::hex(base::sha256(core::knowledge::to_csv(site.scores)))),
      applications(site.knowledge.get()) {
  reset_core();
}

void Controller::State::reset_core() {
  const core::policy::SpeedModel speed{
      .cluster = &site.cluster, .scores = &site.scores, .penalties = &site.penalties};
  const core::policy::RunContext context{.progress = &progress, .knowledge = site.knowledge};
  core::policy::PolicySet policies = site.composition.make(context);
  caps_power = policies.sharing->caps_power();
  core = std::make_unique<core::scheduler::Core>(speed, std::move(policies), context, site.seed);
}

Controller::Controller(Site site) : state_(std::make_unique<State>(std::move(site), *this)) {}
Controller::~Controller() = default;

Status Controller::check(const Input& input) const {
  const JobBook& book = state_->book;
  const auto known_node = [&](NodeId node) -> Status {
    if (node.index() < state_->site.cluster.nodes().size()) return {};
    return base::failed("there is no such node", "goban nodes lists them");
  };
  struct Visitor {
    const Controller& self;
    const Controller::State& state;
    const JobBook& book;
    const decltype(known_node)& node;
    Status operator()(const Submit& each) const {
      if (auto status = check_submit(each, state.site, book); !status) return status;
      return check_open_jobs(each, state.open_jobs, state.site.jobs_per_user_max);
    }
    Status operator()(const Cancel& each) const { return check_job(book, each.job, each.by); }
    Status operator()(const Hold& each) const {
      if (auto status = check_job(book, each.job, each.by); !status) return status;
      const JobStage stage = book.find(each.job)->stage;
      if (stage == JobStage::Waiting || stage == JobStage::Depends || stage == JobStage::Held) {
        return {};
      }
      return base::failed(fmt::format("job {} runs, and cannot be held", job::job_number(each.job)),
                          "requeue or cancel it");
    }
    Status operator()(const Release& each) const { return check_job(book, each.job, each.by); }
    Status operator()(const Requeue& each) const {
      if (auto status = check_job(book, each.job, each.by); !status) return status;
      const JobStage stage = book.find(each.job)->stage;
      if (stage == JobStage::Running || stage == JobStage::Starting) return {};
      return base::failed(fmt::format("job {} does not run", job::job_number(each.job)));
    }
    Status operator()(const Drain& each) const { return node(each.node); }
    Status operator()(const Resume& each) const { return node(each.node); }
    Status operator()(const EngineReport&) const { return {}; }
    Status operator()(const Accounted&) const { return {}; }
    Status operator()(const ScoresMeasured& each) const { return check_scores(each, state.site); }
    Status operator()(const Reserve& each) const {
      const auto nodes = self.nodes_for(each, state.clock_ns);
      return nodes ? Status{} : base::failure(nodes.error());
    }
    Status operator()(const CancelReservation& each) const { return check_cancel(book, each); }
  };
  return std::visit(Visitor{*this, *state_, book, known_node}, input);
}

void Controller::apply(const TimedInput& input) {
  state_->clock_ns = std::max(state_->clock_ns, input.at_ns);
  std::visit([&](const auto& each) { state_->take(each, state_->clock_ns); }, input.input);
}

void Controller::State::take(const Submit& submit, TimeNs at) {
  const JobId first(book.next_job);
  for (const job::JobSpec& spec : submit.jobs) {
    LiveJob job{.job = JobId(book.next_job++), .spec = spec, .submit_ns = at};
    if (spec.array_task >= 0) job.spec.array_first = first;
    job.reservation = reservation_of(spec);
    ++open_jobs[job.spec.owner.uid];
    if (job.reservation.valid()) job.spec.reservation = reservation_name(job.reservation);
    settle_dependencies(book.jobs.emplace(job.job, std::move(job)).first->second, at);
  }
}

void Controller::State::take(const Cancel& cancel, TimeNs at) {
  const auto found = book.jobs.find(cancel.job);
  if (found == book.jobs.end() || found->second.stage == JobStage::Done) return;
  LiveJob& job = found->second;
  if (job.detail.empty() && !cancel.by.user.empty()) job.detail = "cancelled by " + cancel.by.user;
  withdraw(job, StopReason::Cancelled, JobResult::Cancelled, at);
}

bool Controller::State::core_has_waiting(JobId id) const {
  if (!in_core(id)) return false;
  const auto& state = core->state();
  return state.job(state.slot_of(id)).phase != core::model::JobPhase::Running;
}

void Controller::State::take(const Hold& hold, TimeNs at) {
  const auto found = book.jobs.find(hold.job);
  if (found == book.jobs.end() || found->second.stage == JobStage::Done) return;
  LiveJob& job = found->second;
  job.spec.held = true;
  if (job.stage != JobStage::Waiting) return;
  tell_core({.kind = EventKind::JobKilled, .at_ns = at, .job = job.job});
  job.stage = JobStage::Held;
}

void Controller::State::take(const Release& release, TimeNs at) {
  const auto found = book.jobs.find(release.job);
  if (found == book.jobs.end()) return;
  LiveJob& job = found->second;
  job.spec.held = false;
  if (job.stage == JobStage::Held) enter_core(job, at);
}

void Controller::State::take(const Requeue& requeue, TimeNs at) {
  const auto found = book.jobs.find(requeue.job);
  if (found == book.jobs.end()) return;
  LiveJob& job = found->second;
  const LiveRun* run = current_run(job);
  if (run == nullptr || run->stage == LiveRun::Stage::Stopping || core_has_waiting(job.job)) return;
  const bool pending = run->stage == LiveRun::Stage::Pending;
  stop_run(job, StopReason::Preempted);
  tell_core({.kind = EventKind::JobKilled, .at_ns = at, .job = job.job});
  if (pending) enter_core(job, at);  // else when the run ended
  refresh(job);
}

void Controller::State::take(const Drain& drain, TimeNs at) {
  drained[drain.node] = drain.reason;
  const EventKind kind = drain.now ? EventKind::NodeClosed : EventKind::NodeDrained;
  if (down.contains(drain.node)) return;
  // Whoever closes a node that sleeps wants to work on it; and resumed, it has to be there.
  if (drain.now && core->state().node_power().is_resting(drain.node)) {
    orders.emplace_back(WakeNode{drain.node});
  }
  tell_core(
      {.kind = kind, .at_ns = at, .node = drain.node, .until_ns = std::max(drain.from_ns, at)});
}

void Controller::State::take(const Resume& resume, TimeNs at) {
  if (drained.erase(resume.node) == 0 || down.contains(resume.node)) return;
  tell_core({.kind = EventKind::NodeRestored, .at_ns = at, .node = resume.node});
}

void Controller::State::take(const Accounted& accounted, TimeNs) {
  const auto found = book.jobs.find(accounted.job);
  if (found != book.jobs.end()) found->second.accounted = true;
}

void Controller::State::take(const ScoresMeasured& scores, TimeNs) {
  // Configured anew since then: what was measured before does not count.
  if (scores.instead_of != configured_scores) return;
  auto read = core::knowledge::parse_scores(scores.table, "scores", site.cluster.num_gpus());
  if (!read) return;
  // The core and its policies hold what they derived from the old ones.
  const core::scheduler::CoreImage image = core->image();
  site.scores = std::move(*read);
  measured_scores = scores.table;
  reset_core();
  const Status restored = core->restore(image);
  GOBAN_CHECK(restored.has_value(), "a core refuses its own image");
}

void Controller::set_forgets(bool forgets) { state_->forgets = forgets; }

std::vector<Order> Controller::take_orders() { return std::exchange(state_->orders, {}); }

std::vector<LaunchOrder> Controller::launched_runs() const {
  std::vector<LaunchOrder> found;
  for (const auto& [id, run] : state_->book.runs) {
    const bool was_launched =
        run.stage == LiveRun::Stage::Running || run.stage == LiveRun::Stage::Stopping;
    if (was_launched) found.push_back(state_->launch_order(state_->book.jobs.at(id.job), run));
  }
  return found;
}

std::vector<Order> Controller::orders_to_repeat() const {
  std::vector<Order> found;
  for (const auto& [id, run] : state_->book.runs) {
    if (run.stage == LiveRun::Stage::Ordered) {
      found.emplace_back(LaunchRun{state_->launch_order(state_->book.jobs.at(id.job), run)});
    } else if (run.stage == LiveRun::Stage::Stopping) {
      found.emplace_back(StopRun{.run = id, .reason = run.stop});
    }
  }
  const core::scheduler::NodePower& power = state_->core->state().node_power();
  for (uint32_t i = 0; i < state_->site.cluster.nodes().size(); ++i) {
    if (power.is_waking(NodeId(i))) found.emplace_back(WakeNode{NodeId(i)});
  }
  for (const auto& [id, job] : state_->book.jobs) {
    if (job.stage == JobStage::Done && !job.accounted) found.emplace_back(AccountFor{id});
  }
  return found;
}

std::vector<Order> Controller::limits_to_repeat() const {
  std::vector<Order> found;
  for (const GpuId gpu : state_->capped) {
    found.emplace_back(state_->limit_order(gpu, state_->cap_of(gpu)));
  }
  return found;
}

TimeNs Controller::wake_ns() const {
  const State& state = *state_;
  TimeNs wake = std::min(
      {state.core->wake_ns(), state.observer.next_ns(), state.next_reservation_change_ns()});
  for (const JobId id : state.watched) {
    const LiveJob& job = state.book.jobs.at(id);
    if (job.stage == JobStage::Running) wake = std::min(wake, state.limit_ns(job));
  }
  return wake;
}

TimeNs Controller::now_ns() const { return state_->clock_ns; }
const JobBook& Controller::book() const { return state_->book; }
const core::scheduler::Core& Controller::core() const { return *state_->core; }
const Site& Controller::site() const { return state_->site; }
const std::string& Controller::configured_scores() const { return state_->configured_scores; }
core::knowledge::ColocationHistory Controller::colocation() const {
  const core::policy::SharingMemory* memory = state_->core->sharing_memory();
  return state_->applications.named(memory == nullptr ? core::knowledge::ColocationHistory{}
                                                      : memory->history());
}
const std::map<NodeId, std::string>& Controller::drained() const { return state_->drained; }
JobId Controller::next_job() const { return JobId(state_->book.next_job); }
ReservationId Controller::next_reservation() const {
  return ReservationId(state_->book.next_reservation);
}

double Controller::reported_left_s(JobId id, TimeNs now) const {
  (void)now;
  const double total = reported_total_s(id);
  const double done = state_->observer.epochs_done(id);
  if (total < 0 || done < 0) return total;
  return std::max(total - done * state_->epoch_s(id), 0.0);
}

double Controller::State::epoch_s(JobId id) const {
  const double own_s = observer.epoch_s(id);
  if (own_s > 0 || !in_core(id)) return own_s;
  const core::model::JobRequest& request = core->state().job(core->state().slot_of(id)).request;
  const auto pace = observer.paces().find({request.app, request.num_gpus, PaceUnit::Epochs});
  return request.app.valid() && pace != observer.paces().end() ? pace->second : own_s;
}

double Controller::reported_total_s(JobId id) const {
  const LiveJob* job = state_->book.find(id);
  const double epoch_s = state_->epoch_s(id);
  if (job == nullptr || epoch_s <= 0) return -1;
  const double epochs = job->progress.epochs > 0 ? job->progress.epochs
                                                 : static_cast<double>(job->spec.training.epochs);
  return epochs > 0 ? epochs * epoch_s : -1;
}

}  // namespace goban::live::controller
