// The live scheduler: one thread runs commit cycles, which take inputs, decide, and write the
// journal. Only then the engine gets its orders and callers get their answers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "live/loop/bookkeeper.hpp"
#include "live/loop/commit_cycle.hpp"

namespace goban::live::loop {

struct DaemonOptions {
  TimeNs poll_ns = 50'000'000;             ///< interval between polls of the engine's reports
  TimeNs resume_ns = 60 * base::kSecond;   ///< interval between queries of the state of all runs
  int64_t snapshot_bytes = 32 << 20;       ///< journal size at which a snapshot replaces it
  std::function<TimeNs()> wall_clock{};    ///< empty: the system's
  std::function<void(std::string)> say{};  ///< log lines; empty: stderr
  /// Called after completed commit cycles, at most once a second, from the scheduler's thread: what
  /// was decided is durable, and its orders are given. Must not block. May be empty.
  std::function<void()> beat{};
  /// The site's ended jobs, to predict run times from; called at the start if too few are known.
  /// May be empty.
  std::function<std::vector<controller::EarlierJob>()> past{};
  /// Of the time when the journal was written, if they were others.
  std::optional<controller::StagingRules> staging_then{};
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

/// A read-only view of the scheduler's state. It does not change while a client reads it.
struct SchedulerSnapshot {
  const controller::JobBook& book;
  /// Its cluster never changes and lives as long as the client.
  const controller::Site& site;
  const std::map<core::model::NodeId, std::string>& drained;
  const core::scheduler::Core* core = nullptr;  ///< null: the reasons why jobs wait are unknown
  TimeNs now_ns = 0;
  /// Nodes on which launches are held; null: none.
  const std::map<core::model::NodeId, controller::LaunchHold>* holds = nullptr;
  /// Controller::imagine(); empty: nothing is forecast.
  std::function<controller::Controller::ImaginedJob(const job::JobSpec&)> imagine{};
  /// Returns the co-location history; empty function: none is kept.
  std::function<core::knowledge::ColocationHistory()> colocation{};
};

/// The scheduler as the HTTP handlers see it. It is narrow, so that their tests need no daemon.
/// Thread-safe.
class SchedulerClient {
 public:
  virtual ~SchedulerClient() = default;
  /// Submits an input and waits until it is durable. Errors: those of check(); Failed if the
  /// journal cannot be written.
  [[nodiscard]] virtual base::Result<Answer> ask(controller::Input input) = 0;
  /// Submits several inputs as one, in order: they share a commit cycle and its sync. The answers
  /// are by input.
  [[nodiscard]] virtual CommitCycle::Answers ask_all(std::vector<controller::Input> inputs) = 0;
  /// Succeeds if the scheduler would accept this input now. Errors: the reason why it would not.
  [[nodiscard]] virtual base::Status check(const controller::Input& input) const = 0;
  /// Passes a snapshot to `see`. The scheduler is blocked meanwhile, so `see` must be fast. It is
  /// next as soon as those who look now have finished: later ones wait for it.
  virtual void look(const std::function<void(const SchedulerSnapshot&)>& see) const = 0;
  [[nodiscard]] virtual DaemonStats stats() const = 0;
  /// Grows with every commit cycle that changed the state.
  [[nodiscard]] virtual uint64_t version() const = 0;
  /// Waits until version() differs from `seen`, at most `timeout_ns`. Returns version().
  [[nodiscard]] virtual uint64_t wait_for_change(uint64_t seen, TimeNs timeout_ns) const = 0;
};

class Daemon final : public SchedulerClient {
 public:
  /// Folds what was recovered, queries the state of all runs from the engine, and starts the
  /// thread. Errors: BadData if a record does not fit. Notes go to `say`.
  [[nodiscard]] static base::Result<std::unique_ptr<Daemon>> start(
      controller::Site site, const journal::Recovered& recovered,
      std::unique_ptr<journal::RecordLog> log, std::unique_ptr<Engine> engine,
      std::unique_ptr<Accounting> accounting, DaemonOptions options);
  /// Stops the thread and writes a snapshot. Jobs continue.
  ~Daemon() override;

  base::Result<Answer> ask(controller::Input input) override;
  CommitCycle::Answers ask_all(std::vector<controller::Input> inputs) override;
  base::Status check(const controller::Input& input) const override;
  void look(const std::function<void(const SchedulerSnapshot&)>& see) const override;
  DaemonStats stats() const override;
  uint64_t version() const override;
  uint64_t wait_for_change(uint64_t seen, TimeNs timeout_ns) const override;
  /// Whether another daemon has taken over. From any thread.
  [[nodiscard]] bool was_taken_over() const;

 private:
  struct Work;
  explicit Daemon(std::unique_ptr<Work> work);
  std::unique_ptr<Work> work_;
};

}  // namespace goban::live::loop
