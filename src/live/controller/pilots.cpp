#include "live/controller/pilots.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <utility>

#include "core/policy/pilot_policies.hpp"
#include "live/controller/pilot_part.hpp"

namespace goban::live::controller {

using base::Result;
using base::Status;
using core::pilot::Arm;
using core::pilot::Outcome;
using core::pilot::Outcomes;
using core::policy::Composition;

namespace {

/// Whether what the job waits for can depend on the policy alone.
bool is_eligible_at_once(const LiveJob& job) {
  const job::JobSpec& spec = job.spec;
  const bool is_throttled = spec.array_task >= 0 && spec.array_limit > 0;
  return spec.dependencies.empty() && spec.begin_ns == 0 && !spec.held && !is_throttled &&
         !job.delayed;
}

/// What a job held up to a time.
struct Held {
  TimeNs time_ns = 0;
  double gpu_s = 0;

  void add(TimeNs span_ns, size_t gpus) {
    const TimeNs added_ns = std::max<TimeNs>(span_ns, 0);
    time_ns += added_ns;
    gpu_s += base::to_seconds(added_ns) * static_cast<double>(gpus);
  }
};

/// Each run with its own GPUs, without suspensions.
Held held_until(const LiveJob& job, TimeNs at) {
  Held held;
  for (const PastRun& run : job.past) {
    if (run.start_ns < 0 || run.start_ns >= at) continue;
    const TimeNs over_ns = std::max<TimeNs>(run.end_ns - at, 0);
    held.add(run.end_ns - run.start_ns - std::max(run.suspended_ns, over_ns), run.gpus.size());
  }
  if (holds_gpus(job.stage) && job.run_start_ns >= 0) {
    held.add(at - job.run_start_ns - job.suspensions.total_ns(at), job.gpus.size());
  }
  return held;
}

/// The job as it stands at `now`.
Outcome outcome_of(const LiveJob& job, TimeNs now) {
  const bool is_over = job.stage == JobStage::Done && job.end_ns <= now;
  const TimeNs end_ns = is_over ? job.end_ns : std::max(now, job.submit_ns);
  const Held held = held_until(job, end_ns);
  const TimeNs deadline_ns = job.spec.training.deadline_ns;
  Outcome out;
  out.held_s = base::to_seconds(held.time_ns);
  out.wait_s = base::to_seconds(std::max<TimeNs>(end_ns - job.submit_ns - held.time_ns, 0));
  out.gpus = held.time_ns > 0 ? held.gpu_s / out.held_s : 0;
  if (!is_over || held.time_ns == 0) out.expected_s = base::to_seconds(job.predicted.run.p50_ns);
  out.missed = (is_over && job.result == JobResult::TimedOut) ||
               (deadline_ns >= 0 && end_ns - job.submit_ns > deadline_ns);
  out.failed =
      is_over && (job.result == JobResult::Failed || job.result == JobResult::OutOfMemory ||
                  job.result == JobResult::NodeFailed);
  return out;
}

/// Adds the job to the period of its submission, if it has one. Nothing after the end of the pilot
/// counts. Who is withdrawn counts with the wait until then: a policy may be why.
void add(const LivePilot& pilot, const LiveJob& job, TimeNs now, std::vector<Outcomes>& periods) {
  if (pilot.part.valid() && job.reservation != pilot.part) return;
  if (!job.managed || job.submit_ns < pilot.started_ns || job.submit_ns >= pilot.until_ns()) return;
  const TimeNs since_ns = job.submit_ns - pilot.started_ns;
  const auto period = static_cast<size_t>(pilot.plan.period_at(since_ns));
  if (period >= periods.size()) return;
  periods[period].add(outcome_of(job, std::min(now, pilot.until_ns())),
                      pilot.plan.judges(since_ns) && is_eligible_at_once(job));
}

Status refuse(const char* field, std::string message, std::string remedy) {
  return base::bad_data({.file = {}, .line = 0, .column = 0, .field = field}, std::move(message),
                        std::move(remedy));
}

/// What shares a GPU cannot be parted at the end of a period.
constexpr const char* kNotHere =
    "a pilot is not possible where the daemon's configuration sets energy or colocation";
/// PilotStep::period of a pilot that cannot go on.
constexpr int32_t kCannotGoOn = -1;

Result<Composition> usable_policy(const Site& site, const char* field, const std::string& name,
                                  bool is_limited) {
  auto policy = pilot_policy(site, name);
  if (!policy) {
    return base::failure(refuse(field, policy.error().message, policy.error().remedy).error());
  }
  if (is_limited && !policy->is_standard(core::policy::PartKind::Size)) {
    return base::failure(refuse(field,
                                fmt::format("policy '{}' chooses the sizes of jobs, which is not "
                                            "possible on some nodes alone",
                                            name),
                                "use another policy, or limit the pilot to no nodes and users")
                             .error());
  }
  if (auto fits = core::policy::check_pilot_policy(field, *policy); !fits) {
    return base::failure(fits.error());
  }
  return policy;
}

}  // namespace

Result<Composition> pilot_policy(const Site& site, const std::string& name) {
  auto made = core::policy::compose(name);
  if (!made) return base::failure(made.error());
  made->options = site.composition.options;
  made->rules = site.composition.rules;
  return made;
}

Status check_pilot(const StartPilot& start, const Site& site, const JobBook& book,
                   const core::scheduler::State& core) {
  if (!start.by.is_operator) {
    return base::failed("only operators may start a pilot", "ask one");
  }
  if (book.pilot && book.pilot->runs()) {
    return base::failed("a pilot is running", "goban pilot stop ends it");
  }
  if (site.knowledge != nullptr) {
    return base::failed(
        std::string(kNotHere) + ": what shares a GPU cannot be parted at the end of a period",
        "remove both settings for the time of the pilot");
  }
  if (auto status = core::pilot::check(start.plan); !status) return status;
  const bool is_limited = start.plan.is_limited();
  if (is_limited) {
    const auto nodes = nodes_of_pilot(start.plan, site.cluster, core.resources().promised());
    if (!nodes) return base::failure(nodes.error());
  }
  const auto a = usable_policy(site, "policy_a", start.plan.policy_a, is_limited);
  if (!a) return base::failure(a.error());
  const auto b = usable_policy(site, "policy_b", start.plan.policy_b, is_limited);
  if (!b) return base::failure(b.error());
  const Composition& configured = site.composition;
  if (start.plan.policy_a != configured.name && !decide_alike(*a, configured)) {
    return refuse("policy_a",
                  fmt::format("is {}, but the daemon is configured with {}, which decides again "
                              "when the pilot ends",
                              start.plan.policy_a, configured.name),
                  "name the configured policy as policy_a");
  }
  if (start.plan.policy_b != configured.name && !decide_alike(*a, *b)) return {};
  return refuse(
      "policy_b",
      fmt::format("{} and {} are the same policy", start.plan.policy_a, start.plan.policy_b),
      "name two different policies");
}

Status check_pilot(const StopPilot& stop, const JobBook& book) {
  if (!stop.by.is_operator) return base::failed("only operators may stop a pilot", "ask one");
  if (book.pilot && book.pilot->runs()) return {};
  return base::failed("no pilot is running");
}

std::vector<Outcomes> pilot_outcomes(const JobBook& book, TimeNs now) {
  if (!book.pilot) return {};
  std::vector<Outcomes> periods = book.pilot->periods;
  if (!book.pilot->runs()) return periods;
  for (const auto& [id, job] : book.jobs) {
    if (job.stage != JobStage::Done) add(*book.pilot, job, now, periods);
  }
  return periods;
}

void count_for_pilot(JobBook& book, const LiveJob& job) {
  if (book.pilot && book.pilot->runs()) add(*book.pilot, job, job.end_ns, book.pilot->periods);
}

void Pilots::start(const StartPilot& start, TimeNs at) {
  LivePilot& pilot = book_.pilot.emplace();
  pilot.plan = start.plan;
  pilot.started_ns = at;
  pilot.started_by = start.by.user;
  pilot.periods.resize(static_cast<size_t>(start.plan.num_periods()));
  if (start.plan.is_limited()) pilot.part = ReservationId(book_.next_reservation++);
  use(pilot.policy());
  if (!pilot.part.valid() || !obstacle_.empty()) return;
  // The journal may be from another cluster.
  if (const Status occupied = occupy_part(book_, core_, at); !occupied) {
    obstacle_ = "nodes: " + occupied.error().message;
  }
}

void Pilots::stop(const StopPilot& stop, TimeNs at) {
  if (!book_.pilot || !book_.pilot->runs()) return;
  std::string detail = stop.by.user.empty() ? "stopped" : "stopped by " + stop.by.user;
  if (!stop.reason.empty()) detail += ": " + stop.reason;
  close(PilotState::Stopped, std::move(detail), at);
}

void Pilots::step(const PilotStep& step, TimeNs at) {
  if (!book_.pilot || !book_.pilot->runs()) return;
  if (step.period == kCannotGoOn) return close(PilotState::Stopped, step.harm, at);
  if (!step.harm.empty()) return close(PilotState::FellBack, step.harm, at);
  if (step.period >= book_.pilot->plan.num_periods()) {
    return close(PilotState::Ended, {}, std::min(at, book_.pilot->until_ns()));
  }
  book_.pilot->period = std::max(step.period, 0);
  use(book_.pilot->policy());
}

void Pilots::close(PilotState state, std::string detail, TimeNs at) {
  // From here on nobody can change what is compared, such as by cancelling what still waits.
  book_.pilot->periods = pilot_outcomes(book_, at);
  book_.pilot->state = state;
  book_.pilot->detail = std::move(detail);
  book_.pilot->closed_ns = at;
  obstacle_.clear();
  leave_part(book_, core_, at);
  const Status back = core_.use_policy(core_.configured_policy());
  if (back) return;
  std::string& why = book_.pilot->detail;
  if (!why.empty()) why += "; ";
  why += fmt::format("{} decides on until the next restart, as {} cannot take over: {}",
                     core_.site().composition.name, core_.configured_policy().name,
                     back.error().message);
}

void Pilots::use(const std::string& policy) {
  obstacle_.clear();
  const Composition& configured = core_.configured_policy();
  const auto made = pilot_policy(core_.site(), policy);
  if (core_.site().knowledge != nullptr) {
    obstacle_ = kNotHere;
  } else if (!made) {
    obstacle_ = made.error().message;
  } else {
    const bool is_ours = policy == configured.name || decide_alike(*made, configured);
    Composition wanted = is_ours ? configured : *made;
    if (book_.pilot->part.valid()) {
      // The site's own policy decides about everything else.
      auto of_part = std::make_shared<const Composition>(std::move(wanted));
      wanted = configured;
      wanted.of_part = std::move(of_part);
      wanted.part_id = book_.pilot->part;
    }
    const Status used = core_.use_policy(wanted);
    if (!used) obstacle_ = fmt::format("{} cannot take over: {}", policy, used.error().message);
  }
}

void Pilots::resume() {
  if (book_.pilot && book_.pilot->runs()) use(book_.pilot->policy());
}

std::optional<PilotStep> Pilots::due(TimeNs now, bool weighs) const {
  if (!book_.pilot || !book_.pilot->runs()) return std::nullopt;
  if (!obstacle_.empty()) return PilotStep{.period = kCannotGoOn, .harm = obstacle_};
  const LivePilot& pilot = *book_.pilot;
  const int32_t period = pilot.plan.period_at(now - pilot.started_ns);
  if (period > pilot.period) return PilotStep{.period = period};
  if (!weighs) return std::nullopt;
  const std::vector<Outcomes> periods = pilot_outcomes(book_, now);
  const auto harm =
      core::pilot::find_harm(pilot.plan.stop, core::pilot::of_arm(pilot.plan, periods, Arm::A),
                             core::pilot::of_arm(pilot.plan, periods, Arm::B));
  if (!harm) return std::nullopt;
  return PilotStep{.period = pilot.period, .harm = core::pilot::harm_text(*harm)};
}

TimeNs Pilots::next_ns() const {
  if (!book_.pilot || !book_.pilot->runs()) return base::kNever;
  const LivePilot& pilot = *book_.pilot;
  return base::add_saturating(pilot.started_ns, (pilot.period + 1) * pilot.plan.period_ns);
}

}  // namespace goban::live::controller
