// The live scheduler: one thread runs commit cycles, which take inputs, decide, and write the
// journal. Only then the engine gets its orders and callers get their answers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "live/loop/commit_cycle.hpp"

namespace goban::live::loop {

/// Takes the records of finished jobs. Called from a thread of its own.
class Accounting {
 public:
  virtual ~Accounting() = default;
  /// Writes them; repeated calls with the same jobs are allowed. Errors: Failed; all are retried
  /// later.
  [[nodiscard]] virtual base::Status record(const std::vector<controller::LiveJob>& jobs) = 0;
};

struct DaemonOptions {
  TimeNs poll_ns = 50'000'000;             ///< interval between polls of the engine's reports
  TimeNs resume_ns = 60 * base::kSecond;   ///< interval between queries of the state of all runs
  int64_t snapshot_bytes = 32 << 20;       ///< journal size at which a snapshot replaces it
  std::function<TimeNs()> wall_clock{};    ///< empty: the system's
  std::function<void(std::string)> say{};  ///< log lines; empty: stderr
  /// Called once, from the scheduler's thread, when another daemon has taken over. From then on
  /// nothing is written or ordered, and callers get errors; the process should end.
  std::function<void()> shut_out{};
};

/// Counters since the start, for metrics.
struct DaemonStats {
  int64_t inputs = 0;
  int64_t decisions = 0;
  int64_t turns = 0;
  int64_t journal_failures = 0;
  double decide_s_sum = 0;              ///< of commit cycles with a decision, journal included
  std::vector<double> decide_s_last{};  ///< of the latest such cycles, at most 1,000
  bool journal_is_stuck = false;

  /// The quantile `share` (0 to 1) of the durations of the latest such cycles, in seconds. There
  /// must be at least one.
  [[nodiscard]] double decide_s(double share) const;
};

class Daemon {
 public:
  /// Folds what was recovered, queries the state of all runs from the engine, and starts the
  /// thread. Errors: BadData if a record does not fit. Notes go to `say`.
  [[nodiscard]] static base::Result<std::unique_ptr<Daemon>> start(
      controller::Site site, const journal::Recovered& recovered,
      std::unique_ptr<journal::RecordLog> log, std::unique_ptr<Engine> engine,
      std::unique_ptr<Accounting> accounting, DaemonOptions options);
  /// Stops the thread and writes a snapshot. Jobs continue.
  ~Daemon();

  /// Submits an input and waits until it is durable. From any thread. Errors: those of
  /// Controller::check(); Failed if the journal cannot be written.
  [[nodiscard]] base::Result<Answer> ask(controller::Input input);
  /// Calls `see` with the state, which is locked against changes meanwhile, so `see` must be quick.
  /// From any thread.
  void look(const std::function<void(const controller::Controller&)>& see) const;
  [[nodiscard]] DaemonStats stats() const;
  /// Whether another daemon has taken over. From any thread.
  [[nodiscard]] bool was_taken_over() const;
  /// Grows with every commit cycle that changed the state.
  [[nodiscard]] uint64_t version() const;
  /// Waits until version() differs from `seen`, at most `timeout_ns`. Returns version().
  [[nodiscard]] uint64_t wait_for_change(uint64_t seen, TimeNs timeout_ns) const;

 private:
  struct Work;
  explicit Daemon(std::unique_ptr<Work> work);
  std::unique_ptr<Work> work_;
};

}  // namespace goban::live::loop
