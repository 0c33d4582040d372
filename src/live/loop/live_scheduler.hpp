// The live scheduler at work: one thread takes inputs in turns, writes them to the journal,
// decides, and only then lets the engine act and callers have their answers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "live/loop/commit_cycle.hpp"

namespace goban::live::loop {

/// Takes the records of jobs that are over. Called from a thread of its own.
class Accounting {
 public:
  virtual ~Accounting() = default;
  /// Writes them, again if need be. Errors: Failed; all of them are tried again later.
  [[nodiscard]] virtual base::Status record(const std::vector<controller::LiveJob>& jobs) = 0;
};

struct DaemonOptions {
  TimeNs poll_ns = 50'000'000;             ///< how often the engine is asked for reports
  TimeNs resume_ns = 60 * base::kSecond;   ///< how often it is asked how all runs stand
  int64_t snapshot_bytes = 32 << 20;       ///< of journal, then a snapshot replaces it
  std::function<TimeNs()> wall_clock{};    ///< empty: the system's
  std::function<void(std::string)> say{};  ///< log lines; empty: stderr
  /// Called once, from the scheduler's thread, when another daemon has taken over: nothing is
  /// written or ordered any more, callers get errors, and all that is left to do is to end.
  std::function<void()> shut_out{};
};

/// Counters since the start, for metrics.
struct DaemonStats {
  int64_t inputs = 0;
  int64_t decisions = 0;
  int64_t turns = 0;
  int64_t journal_failures = 0;
  double decide_s_sum = 0;              ///< of turns with a decision, journal included
  std::vector<double> decide_s_last{};  ///< of the latest such turns, at most 1,000
  bool journal_is_stuck = false;

  /// Seconds that this share of the latest such turns took at most, the last one for 1; there are
  /// some.
  [[nodiscard]] double decide_s(double share) const;
};

class Daemon {
 public:
  /// Folds what was recovered, asks the engine how the runs of the book stand, and starts to work.
  /// Errors: BadData if a record does not fit. Notes go to `say`.
  [[nodiscard]] static base::Result<std::unique_ptr<Daemon>> start(
      controller::Site site, const journal::Recovered& recovered,
      std::unique_ptr<journal::RecordLog> log, std::unique_ptr<Engine> engine,
      std::unique_ptr<Accounting> accounting, DaemonOptions options);
  /// Stops working; jobs go on. Writes a snapshot.
  ~Daemon();

  /// Hands in an input and waits until it is safe. From any thread. Errors: those of
  /// Controller::check(); Failed if the journal cannot be written.
  [[nodiscard]] base::Result<Answer> ask(controller::Input input);
  /// Looks at the state; nobody changes it meanwhile, so be quick. From any thread.
  void look(const std::function<void(const controller::Controller&)>& see) const;
  [[nodiscard]] DaemonStats stats() const;
  /// Another daemon works on the state now. From any thread.
  [[nodiscard]] bool was_taken_over() const;
  /// Grows with every turn that changed something.
  [[nodiscard]] uint64_t version() const;
  /// Waits until version() differs from `seen`, at most so long. Returns it.
  [[nodiscard]] uint64_t wait_for_change(uint64_t seen, TimeNs timeout_ns) const;

 private:
  struct Work;
  explicit Daemon(std::unique_ptr<Work> work);
  std::unique_ptr<Work> work_;
};

}  // namespace goban::live::loop
