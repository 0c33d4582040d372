#include "live/loop/live_scheduler.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <fmt/format.h>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/counted.hpp"
#include "live/loop/scheduler_clock.hpp"

namespace goban::live::loop {

using base::Result;
using base::Status;
using Steady = std::chrono::steady_clock;

namespace {

constexpr size_t kLatenciesKept = 1'000;
constexpr auto kBeat = std::chrono::seconds(1);

std::string say_others(const CommitCycle::Fold& fold) {
  const std::string more =
      fold.uncompared > 0 ? fmt::format(", and {} more were not compared", fold.uncompared) : "";
  return fmt::format(
      "{} recorded decisions differ with this release and configuration, the first in record {}{}: "
      "they are applied as recorded, and running jobs continue",
      fold.other, fold.first_other, more);
}

}  // namespace

double DaemonStats::decide_s(double share) const {
  std::vector<double> sorted = decide_s_last;
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(sorted.size() - 1));
  std::ranges::nth_element(sorted, sorted.begin() + at);
  return sorted[static_cast<size_t>(at)];
}

struct Daemon::Work {
  struct Letter {
    controller::Input input;
    std::promise<Result<Answer>> answer;
  };

  Work(controller::Site site, std::unique_ptr<journal::RecordLog> record_log,
       std::unique_ptr<Engine> launcher, DaemonOptions chosen)
      : options(std::move(chosen)),
        log(std::move(record_log)),
        engine(std::move(launcher)),
        cycle(std::move(site), *log, *engine) {}

  [[nodiscard]] std::unique_lock<std::shared_mutex> lock_state() const {
    const std::scoped_lock pass(gate);
    return std::unique_lock(state);
  }
  [[nodiscard]] std::shared_lock<std::shared_mutex> read_state() const {
    const std::scoped_lock pass(gate);
    return std::shared_lock(state);
  }

  /// True if it has learned from the site's history.
  bool learn_past();
  void run();
  void run_cycle();
  void be_shut_out();
  void note(double seconds, int64_t decisions);
  void say_holds();
  void say_engine_problem();
  void keep_books();
  void compact_if_due();

  DaemonOptions options;
  std::unique_ptr<journal::RecordLog> log;
  std::unique_ptr<Engine> engine;
  /// Passed by all who lock `state`: while the scheduler waits for it, no reader overtakes.
  mutable std::mutex gate;
  mutable std::shared_mutex state;  ///< guards `cycle`
  CommitCycle cycle;
  std::unique_ptr<Bookkeeper> bookkeeper;

  mutable std::mutex mail;  ///< guards all members below
  std::condition_variable posted;
  mutable std::condition_variable changed;
  std::vector<Letter> letters;
  bool stops = false;
  uint64_t version = 1;
  DaemonStats stats;
  Steady::time_point next_resume{};
  Steady::time_point next_beat{};
  int64_t seen_changes = 0;
  // Used by the thread only.
  std::map<core::model::NodeId, std::string> said_holds;  ///< reasons
  TimeNs problem_since_ns = -1;                           ///< of the engine; -1: it has none
  bool said_problem = false;
  std::string said_refusal;
  std::thread thread;
};

bool Daemon::Work::learn_past() {
  if (!options.past || !cycle.needs_past()) return false;
  const std::vector<controller::EarlierJob> past = options.past();
  if (past.empty()) return false;
  cycle.teach(past);
  if (cycle.needs_past()) return true;  // too few for predictions
  options.say(fmt::format("run times are predicted from {} of the history store",
                          base::counted(static_cast<int64_t>(past.size()), "run")));
  return true;
}

void Daemon::Work::run() {
  while (true) {
    {
      std::unique_lock lock(mail);
      posted.wait_for(lock, std::chrono::nanoseconds(options.poll_ns),
                      [this] { return stops || !letters.empty(); });
      if (stops && letters.empty()) return;
    }
    if (log->was_taken_over() || engine->is_shut_out()) return be_shut_out();
    run_cycle();
  }
}

void Daemon::Work::be_shut_out() {
  std::vector<Letter> refused;
  {
    const std::scoped_lock lock(mail);
    stops = true;
    refused = std::exchange(letters, {});
  }
  changed.notify_all();
  for (Letter& letter : refused) {
    letter.answer.set_value(
        base::failed("another daemon has taken over", "send the request to that daemon"));
  }
  if (options.shut_out) options.shut_out();
}

void Daemon::Work::run_cycle() {
  std::vector<Letter> taken;
  {
    const std::scoped_lock lock(mail);
    taken = std::exchange(letters, {});
  }
  std::vector<controller::Input> inputs;
  inputs.reserve(taken.size());
  for (Letter& letter : taken) inputs.push_back(std::move(letter.input));
  CommitCycle::Answers answers;
  const auto from = Steady::now();
  int64_t decisions = 0;
  {
    const std::unique_lock lock = lock_state();
    decisions = cycle.num_decisions();
    keep_books();
    answers = cycle.run(std::move(inputs), options.wall_clock());
    for (const JobId job : cycle.take_accounts()) {
      // A job repeated by resume() may have been accounted and removed since.
      const controller::LiveJob* found = cycle.controller().book().find(job);
      if (found != nullptr && !found->accounted) {
        bookkeeper->add(*found, cycle.controller().cluster());
      }
    }
    if (from >= next_resume && !cycle.is_stuck()) {
      next_resume = from + std::chrono::nanoseconds(options.resume_ns);
      cycle.resume();
    }
    compact_if_due();
    decisions = cycle.num_decisions() - decisions;
  }
  const double seconds = std::chrono::duration<double>(Steady::now() - from).count();
  note(seconds, decisions);
  say_holds();
  say_engine_problem();
  if (from >= next_beat && !cycle.is_stuck()) {
    next_beat = from + kBeat;
    engine->beat();
    if (options.beat) options.beat();
  }
  for (size_t i = 0; i < taken.size(); ++i) taken[i].answer.set_value(std::move(answers[i]));
}

void Daemon::Work::keep_books() {
  for (const JobId job : bookkeeper->take_done()) cycle.accounted(job, options.wall_clock());
}

void Daemon::Work::compact_if_due() {
  if (log->bytes_since_snapshot() < options.snapshot_bytes || cycle.is_stuck()) return;
  if (const Status status = cycle.compact(); !status) {
    options.say("cannot write a snapshot: " + status.error().text());
  }
}

/// Logs that the engine's cluster cannot be asked, unless that passes at once, when it can be, and
/// what it refuses.
void Daemon::Work::say_engine_problem() {
  constexpr TimeNs kPatience = 10 * base::kSecond;
  if (std::string refusal = engine->refusal(); refusal != said_refusal) {
    if (!refusal.empty()) options.say("the cluster refuses what was asked of it: " + refusal);
    said_refusal = std::move(refusal);
  }
  const std::string problem = engine->problem();
  const TimeNs now_ns = base::steady_ns();
  if (problem.empty()) {
    if (said_problem) options.say("jobs of the cluster are started again");
    said_problem = false;
    problem_since_ns = -1;
    return;
  }
  if (problem_since_ns < 0) problem_since_ns = now_ns;
  if (said_problem || now_ns - problem_since_ns < kPatience) return;
  said_problem = true;
  options.say("no job of the cluster is started or ended: " + problem);
}

/// Logs a hold when it begins or has another reason, not at every attempt, and when it is over.
void Daemon::Work::say_holds() {
  const auto& holds = cycle.controller().holds();
  const auto& nodes = cycle.controller().site().cluster.nodes();
  for (const auto& [node, hold] : holds) {
    std::string& said = said_holds[node];
    if (said == hold.reason) continue;
    said = hold.reason;
    if (hold.until_ns == base::kNever) {
      options.say(
          fmt::format("launches on {} are held: {}", nodes[node.index()].name, hold.reason));
      continue;
    }
    options.say(fmt::format(
        "launches on {} are held: {}; the job waits, and the next attempt follows every {:g} s",
        nodes[node.index()].name, hold.reason,
        base::to_seconds(cycle.controller().site().launch_hold_ns)));
  }
  std::erase_if(said_holds, [&](const auto& said) {
    if (holds.contains(said.first)) return false;
    options.say(fmt::format("launches on {} are tried again", nodes[said.first.index()].name));
    return true;
  });
}

void Daemon::Work::note(double seconds, int64_t decisions) {
  {
    const std::scoped_lock lock(mail);
    if (cycle.is_stuck()) {
      if (!stats.journal_is_stuck) {
        options.say("the journal cannot be written: " + cycle.problem() +
                    "; no job starts until it can be");
      }
      ++stats.journal_failures;
    }
    stats.journal_is_stuck = cycle.is_stuck();
    stats.inputs = cycle.num_inputs();
    stats.decisions = cycle.num_decisions();
    ++stats.turns;
    if (decisions > 0) {
      stats.decide_s_sum += seconds;
      if (stats.decide_s_last.size() == kLatenciesKept) {
        stats.decide_s_last.erase(stats.decide_s_last.begin());
      }
      stats.decide_s_last.push_back(seconds);
    }
    const int64_t changes = stats.inputs + stats.decisions;
    if (changes == seen_changes) return;
    seen_changes = changes;
    ++version;
  }
  changed.notify_all();
}

Daemon::Daemon(std::unique_ptr<Work> work) : work_(std::move(work)) {}

Result<std::unique_ptr<Daemon>> Daemon::start(controller::Site site,
                                              const journal::Recovered& recovered,
                                              std::unique_ptr<journal::RecordLog> log,
                                              std::unique_ptr<Engine> engine,
                                              std::unique_ptr<Accounting> accounting,
                                              DaemonOptions options) {
  if (!options.say) options.say = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  auto work = std::make_unique<Work>(std::move(site), std::move(log), std::move(engine),
                                     std::move(options));
  for (const std::string& note : recovered.notes) work->options.say(note);
  const auto fold = work->cycle.fold(recovered, work->options.staging_then);
  if (!fold) return base::failure(fold.error());
  if (fold->records > 0) {
    work->options.say(fmt::format("read {} of the journal and reproduced {}",
                                  base::counted(fold->records, "record"),
                                  base::counted(fold->reproduced, "decision")));
  }
  if (!work->options.wall_clock) {
    const SchedulerClock clock(base::wall_ns(), base::steady_ns(),
                               work->cycle.controller().now_ns());
    if (clock.behind_ns() > base::kSecond) {
      work->options.say(
          fmt::format("the clock is {:.0f} s behind the journal; until it has caught up, the "
                      "scheduler's time goes at half speed and is ahead of it",
                      base::to_seconds(clock.behind_ns())));
    }
    work->options.wall_clock = clock;
  }
  work->cycle.recall();
  work->cycle.repeat_limits();
  if (fold->other > 0) work->options.say(say_others(*fold));
  if (work->options.staging_then) {
    // The records before and after obey different rules: no replay may read both.
    if (const Status status = work->cycle.compact(); !status) return base::failure(status.error());
  }
  const bool learns = work->learn_past();
  if (fold->other > 0 || learns) {
    // From here on this release and configuration decide, and with what was learned, so a replay
    // begins here.
    if (const Status status = work->cycle.compact(); !status) {
      work->options.say("cannot write a snapshot: " + status.error().text());
    }
  }
  work->bookkeeper =
      std::make_unique<Bookkeeper>(std::move(accounting), work->options.say,
                                   [&on = *work->log] { return !on.was_taken_over(); });
  work->cycle.resume();
  work->next_resume = Steady::now() + std::chrono::nanoseconds(work->options.resume_ns);
  work->thread = std::thread([&on = *work] { on.run(); });
  return std::unique_ptr<Daemon>(new Daemon(std::move(work)));
}

Daemon::~Daemon() {
  {
    const std::scoped_lock lock(work_->mail);
    work_->stops = true;
  }
  work_->posted.notify_all();
  work_->thread.join();
  work_->bookkeeper.reset();
  if (!work_->cycle.is_stuck() && !was_taken_over()) {
    if (const Status status = work_->cycle.compact(); !status) {
      work_->options.say("cannot write a snapshot: " + status.error().text());
    }
  }
}

Result<Answer> Daemon::ask(controller::Input input) {
  std::vector<controller::Input> inputs;
  inputs.push_back(std::move(input));
  return std::move(ask_all(std::move(inputs)).front());
}

CommitCycle::Answers Daemon::ask_all(std::vector<controller::Input> inputs) {
  std::vector<std::future<Result<Answer>>> waiting;
  CommitCycle::Answers answers;
  {
    const std::scoped_lock lock(work_->mail);
    if (work_->stops) {
      const auto refusal =
          base::failed("the daemon is shutting down", "try again after its restart");
      return CommitCycle::Answers(inputs.size(), Result<Answer>(refusal));
    }
    for (controller::Input& input : inputs) {
      auto& letter = work_->letters.emplace_back(Work::Letter{std::move(input), {}});
      waiting.push_back(letter.answer.get_future());
    }
  }
  work_->posted.notify_all();
  for (auto& answer : waiting) answers.push_back(answer.get());
  return answers;
}

Status Daemon::check(const controller::Input& input) const {
  const std::shared_lock lock = work_->read_state();
  return work_->cycle.controller().check(input);
}

void Daemon::look(const std::function<void(const SchedulerSnapshot&)>& see) const {
  const std::shared_lock lock = work_->read_state();
  const controller::Controller& controller = work_->cycle.controller();
  see({.book = controller.book(),
       .site = controller.site(),
       .drained = controller.drained(),
       .core = &controller.core(),
       .now_ns = controller.now_ns(),
       .holds = &controller.holds(),
       .imagine = [&controller](const job::JobSpec& spec) { return controller.imagine(spec); },
       .colocation = [&controller] { return controller.colocation(); }});
}

DaemonStats Daemon::stats() const {
  const std::scoped_lock lock(work_->mail);
  return work_->stats;
}

bool Daemon::was_taken_over() const { return work_->log->was_taken_over(); }

uint64_t Daemon::version() const {
  const std::scoped_lock lock(work_->mail);
  return work_->version;
}

uint64_t Daemon::wait_for_change(uint64_t seen, TimeNs timeout_ns) const {
  std::unique_lock lock(work_->mail);
  work_->changed.wait_for(lock, std::chrono::nanoseconds(timeout_ns),
                          [&] { return work_->version != seen || work_->stops; });
  return work_->version;
}

}  // namespace goban::live::loop
