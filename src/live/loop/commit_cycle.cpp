#include "live/loop/commit_cycle.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace goban::live::loop {

using base::Result;
using base::Status;

namespace {

constexpr std::string_view kDecided = R"({"decided":)";
/// Comparing a decision costs an image of the core, which is linear in its jobs. This many jobs
/// take a few seconds; later decisions are carried out without comparison.
constexpr size_t kComparedJobsMax = 2'000'000;
constexpr size_t kCompareCost = 16;  ///< fixed cost of an image, in jobs

/// Looking at a pilot's stop rules costs time linear in the jobs.
constexpr TimeNs kWeighEvery_ns = 10 * base::kSecond;

/// The time in the line of a decision: its last field "at".
TimeNs decided_at(std::string_view line) {
  constexpr std::string_view kAt = R"("at":)";
  const size_t found = line.rfind(kAt);
  if (found == std::string_view::npos) return -1;
  TimeNs at = 0;
  for (const char c : line.substr(found + kAt.size())) {
    if (c < '0' || c > '9') break;
    at = at * 10 + (c - '0');
  }
  return at;
}

/// Whether a task of the same array still needs the payload of this one.
bool is_used_by_other_tasks(const controller::JobBook& book, const controller::LiveJob& job) {
  if (job.spec.array_task < 0) return false;
  const JobId first = job.spec.array_first;
  for (auto at = book.jobs.lower_bound(first); at != book.jobs.end(); ++at) {
    const controller::LiveJob& other = at->second;
    if (other.spec.array_first != first) return false;
    if (other.job != job.job && !other.accounted) return true;
  }
  return false;
}

/// Removes values that come from the job or its measurement: a report that cannot be read back
/// would make the journal unreadable.
void leave_out_words(Report& report) {
  report.usage = {};
  report.ranks.clear();
  report.pace = {};
  report.progress = {};
  report.detail.clear();
}

}  // namespace

CommitCycle::CommitCycle(controller::Site site, journal::RecordLog& log, Engine& engine)
    : controller_(std::make_unique<controller::Controller>(std::move(site))),
      log_(log),
      engine_(engine) {}

Status CommitCycle::restore(const journal::Recovered& recovered) {
  if (recovered.snapshot.empty()) return {};
  return controller_->restore(recovered.snapshot);
}

Result<CommitCycle::Fold> CommitCycle::fold(const journal::Recovered& recovered,
                                            const std::optional<controller::StagingRules>& then) {
  controller::Site fresh = controller_->site();
  const controller::StagingRules now = fresh.staging;
  if (then) {
    fresh.staging = *then;
    controller_ = std::make_unique<controller::Controller>(fresh);
  }
  controller_->set_forgets(false);
  auto fold = fold_alike(recovered);
  if (fold && fold->first_other >= 0) {
    controller_ = std::make_unique<controller::Controller>(std::move(fresh));
    controller_->set_forgets(false);
    if (auto status = fold_recorded(recovered, *fold); !status) {
      return base::failure(status.error());
    }
  }
  if (then && fold) {
    const std::string state = controller_->snapshot();
    controller::Site site = controller_->site();
    site.staging = now;
    controller_ = std::make_unique<controller::Controller>(std::move(site));
    if (auto status = controller_->restore(state); !status) return base::failure(status.error());
  }
  controller_->set_forgets(true);
  // These orders were given out before, or will be repeated.
  (void)controller_->take_orders();
  // The current configuration may allow jobs to start at once.
  changed_ = !recovered.snapshot.empty() || !recovered.records.empty();
  return fold;
}

Result<CommitCycle::Fold> CommitCycle::fold_alike(const journal::Recovered& recovered) {
  if (auto status = restore(recovered); !status) return base::failure(status.error());
  Fold fold;
  for (const std::string& record : recovered.records) {
    if (!record.starts_with(kDecided)) {
      auto input = controller::parse_input(record);
      if (!input) return base::failure(input.error());
      controller_->apply(*input);
    } else if (controller_->decide(decided_at(record)) == record) {
      ++fold.reproduced;
    } else {
      fold.first_other = fold.records;
      return fold;
    }
    ++fold.records;
  }
  return fold;
}

Status CommitCycle::fold_recorded(const journal::Recovered& recovered, Fold& fold) {
  if (auto status = restore(recovered); !status) return status;
  fold.records = 0;
  size_t compared_jobs = 0;
  for (const std::string& record : recovered.records) {
    if (!record.starts_with(kDecided)) {
      auto input = controller::parse_input(record);
      if (!input) return base::failure(input.error());
      controller_->apply(*input);
    } else if (fold.records < fold.first_other) {
      (void)controller_->decide(decided_at(record));
    } else {
      const auto& core = controller_->core();
      const bool compare = compared_jobs < kComparedJobsMax;
      if (compare) compared_jobs += kCompareCost + core.num_waiting() + core.num_running();
      const auto same = controller_->redo(record, compare);
      if (!same) return base::failure(same.error());
      ++(!compare ? fold.uncompared : *same ? fold.reproduced : fold.other);
    }
    ++fold.records;
  }
  return {};
}

void CommitCycle::recall() { engine_.recall(controller_->known_jobs()); }

void CommitCycle::repeat_limits() { give_out(controller_->limits_to_repeat()); }

void CommitCycle::resume() {
  for (const LaunchOrder& order : controller_->launched_runs()) engine_.resume(order);
  give_out(controller_->orders_to_repeat());
}

CommitCycle::Answers CommitCycle::run(std::vector<controller::Input> inputs, TimeNs now) {
  Answers answers;
  if (stuck_ && !commit()) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      answers.emplace_back(base::failed("the journal cannot be written: " + problem_,
                                        "free space on its disk; nothing is lost"));
    }
    return answers;
  }
  now = std::max(now, controller_->now_ns());
  for (controller::Input& input : inputs) answers.push_back(take(std::move(input), now));
  for (EngineEvent& event : engine_.take_events()) take_event(std::move(event), now);
  step_pilot(now);
  if (changed_ || now >= controller_->wake_ns()) decide(now);
  if (commit()) return answers;
  for (auto& answer : answers) {
    if (!answer) continue;
    answer = base::failed("the journal cannot be written: " + problem_,
                          "the request takes effect as soon as the disk has space, unless the "
                          "daemon ends first; check with goban queue");
  }
  return answers;
}

Result<Answer> CommitCycle::take(controller::Input input, TimeNs now) {
  if (auto* scores = std::get_if<controller::ScoresMeasured>(&input)) {
    scores->instead_of = controller_->configured_scores();
  }
  if (auto* submit = std::get_if<controller::Submit>(&input)) {
    submit->predicted = controller_->forecasts().predict(submit->jobs);
  }
  if (auto* reserve = std::get_if<controller::Reserve>(&input)) {
    auto nodes = controller_->nodes_for(*reserve, now);
    if (!nodes) return base::failure(nodes.error());
    reserve->plan.nodes = std::move(*nodes);
  }
  if (auto status = controller_->check(input); !status) return base::failure(status.error());
  Answer answer{.first_job = controller_->next_job(),
                .reservation = controller_->next_reservation(),
                .at_ns = now};
  apply({.at_ns = now, .input = std::move(input)});
  return answer;
}

void CommitCycle::take_event(EngineEvent event, TimeNs now) {
  controller::TimedInput timed{.at_ns = now, .input = {}};
  if (auto* report = std::get_if<Report>(&event)) {
    const auto expected = controller_->expected_after(*report, now);
    timed.input = controller::EngineReport{.report = std::move(*report), .expected = expected};
  }
  if (auto* seen = std::get_if<JobSeen>(&event)) {
    const bool is_new = seen->managed && !controller_->book().by_engine_id.contains(seen->id);
    if (is_new) {
      const auto predicted = controller_->forecasts().predict({seen->spec});
      if (!predicted.empty()) seen->predicted = predicted.front();
    }
    timed.input = std::move(*seen);
  }
  if (auto* gone = std::get_if<JobGone>(&event)) timed.input = std::move(*gone);
  if (auto* staged = std::get_if<StageReport>(&event)) timed.input = std::move(*staged);
  if (auto* cluster = std::get_if<ClusterSeen>(&event)) {
    timed.input = controller_->completed(std::move(*cluster));
  }
  apply(std::move(timed));
}

void CommitCycle::step_pilot(TimeNs now) {
  const bool weighs = now - weighed_ns_ >= kWeighEvery_ns;
  if (weighs) weighed_ns_ = now;
  if (auto step = controller_->pilot_step(now, weighs)) {
    apply({.at_ns = now, .input = std::move(*step)});
  }
}

void CommitCycle::apply(controller::TimedInput timed) {
  std::string text = to_text(timed);
  if (auto* report = std::get_if<controller::EngineReport>(&timed.input);
      report != nullptr && !controller::parse_input(text)) {
    leave_out_words(report->report);
    text = to_text(timed);
  }
  const bool is_foreign = std::holds_alternative<JobSeen>(timed.input) ||
                          std::holds_alternative<StageReport>(timed.input) ||
                          std::holds_alternative<JobGone>(timed.input) ||
                          std::holds_alternative<ClusterSeen>(timed.input);
  if (is_foreign) {
    auto read = controller::parse_input(text);
    if (auto* seen = std::get_if<JobSeen>(&timed.input); seen != nullptr && !read) {
      // Its request is out of range; what it holds still counts.
      seen->spec = {.owner = seen->spec.owner};
      seen->blocked = "its request cannot be read";
      text = to_text(timed);
      read = controller::parse_input(text);
    }
    if (!read) return;
    // Names of other people's jobs may be any bytes: what is applied is what a replay will read.
    timed = std::move(*read);
  }
  log_.append(text);
  controller_->apply(timed);
  ++inputs_;
  dirty_ = true;
  changed_ = true;
}

void CommitCycle::decide(TimeNs now) {
  log_.append(controller_->decide(now));
  ++decisions_;
  dirty_ = true;
  changed_ = false;
}

bool CommitCycle::commit() {
  if (!dirty_) return true;
  const Status status = log_.commit();
  stuck_ = !status;
  if (stuck_) {
    problem_ = status.error().message;
    return false;
  }
  dirty_ = false;
  give_out(controller_->take_orders());
  return true;
}

void CommitCycle::give_out(std::vector<controller::Order> orders) {
  for (controller::Order& order : orders) {
    if (auto* launch = std::get_if<LaunchOrder>(&order)) engine_.launch(*launch);
    if (auto* stop = std::get_if<controller::StopRun>(&order)) {
      engine_.stop(stop->run, stop->reason);
      if (stop->urgency != StopUrgency::Ask) engine_.hurry(stop->run, stop->urgency);
    }
    if (auto* pause = std::get_if<controller::SuspendRun>(&order)) {
      engine_.suspend(pause->run, pause->suspended);
    }
    if (auto* cap = std::get_if<controller::CapGpu>(&order)) engine_.cap(cap->gpu, cap->watts);
    if (auto* rest = std::get_if<controller::RestNode>(&order)) engine_.rest(rest->node);
    if (auto* wake = std::get_if<controller::WakeNode>(&order)) engine_.wake(wake->node);
    if (auto* fence = std::get_if<controller::FenceNode>(&order))
      engine_.fence(fence->node, fence->at_ns);
    if (auto* account = std::get_if<controller::AccountFor>(&order))
      accounts_.push_back(account->job);
    if (auto* over = std::get_if<controller::WithdrawJob>(&order)) {
      engine_.withdraw(over->job, over->engine_id);
    }
    if (auto* stage = std::get_if<StageOrder>(&order)) engine_.stage(*stage);
    if (auto* adopted = std::get_if<controller::AdoptRun>(&order)) engine_.resume(adopted->order);
  }
}

std::vector<JobId> CommitCycle::take_accounts() { return std::exchange(accounts_, {}); }

void CommitCycle::accounted(JobId id, TimeNs now) {
  const controller::LiveJob* job = controller_->book().find(id);
  if (job == nullptr || job->accounted) return;
  const bool is_payload_needed = is_used_by_other_tasks(controller_->book(), *job);
  engine_.forget(id, is_payload_needed ? std::string{} : job->spec.payload);
  (void)take(controller::Accounted{id}, std::max(now, controller_->now_ns()));
}

bool CommitCycle::needs_past() const { return controller_->forecasts().needs_past(); }

void CommitCycle::teach(const std::vector<controller::EarlierJob>& past) {
  controller_->teach(past);
}

Status CommitCycle::compact() {
  if (stuck_) return base::failed("the journal cannot be written: " + problem_);
  const std::string snapshot = controller_->snapshot();
  if (snapshot.empty()) return base::failed("cannot make a snapshot");
  return log_.compact(snapshot);
}

}  // namespace goban::live::loop
