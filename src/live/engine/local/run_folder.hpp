// The folder of one run, `jobs/<number>/run-<run>/`, which decides that a run starts at most once:
//   order     written by the engine; renamed to `taken` by the one supervisor that may run it
//   taken     the run was started, or must not be any more
//   lock      held (OFD lock) by the supervisor as long as it lives
//   control   FIFO: one byte an order to the supervisor
//   running   the job's process runs
//   progress  the last that it said of itself
//   sockets   link to the folder of sockets that the job's user can reach
//   status    how it ended; then nothing of it runs any more
#pragma once

#include <string>

#include "base/files.hpp"
#include "base/result.hpp"
#include "live/engine/local/run_order.hpp"

namespace goban::live::engine::local {

enum class RunStage : uint8_t {
  Absent,   ///< no order: never launched
  Ordered,  ///< no supervisor took it so far; one may be about to
  Running,  ///< a supervisor lives
  Over,     ///< `status` says how it ended
  Broken,   ///< its supervisor died without a word
};

/// Orders to a supervisor, one byte each.
enum class ControlByte : char {
  Preempted = 'p',
  Cancelled = 'c',
  TimedOut = 't',
  Broken = 'b',
  Shared = 's',  ///< somebody else came onto its GPUs: its memory there is limited from now on
};

class RunFolder {
 public:
  /// `path` is absolute.
  explicit RunFolder(std::string path) : path_(std::move(path)) {}
  RunFolder(const std::string& state, RunId run);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const char* name) const { return path_ + "/" + name; }
  /// `<state>` of `<state>/jobs/<number>/run-<run>`.
  [[nodiscard]] std::string state() const;

  /// Marks what belongs to the run: differs between runs of all daemons of a machine.
  [[nodiscard]] std::string key() const;

  /// Writes the order if the run was never taken. True: there is an order to start a supervisor on.
  /// May be repeated, and by two at once. Errors: Failed (disk full, no permission).
  [[nodiscard]] base::Result<bool> place_order(const RunOrder& order) const;

  /// What a supervisor does first: the lock, then the order. Nothing: another one was first.
  struct Taken {
    base::Descriptor lock{};
    RunOrder order{};
  };
  /// Errors: Failed if this run must not be started (any more); BadData for a wrong order, and then
  /// it is taken all the same.
  [[nodiscard]] base::Result<Taken> take() const;

  [[nodiscard]] RunStage stage() const;
  /// Makes sure that an order that nobody took is never taken. False: somebody was faster, or the
  /// disk refuses the mark; ask again.
  [[nodiscard]] bool fence() const;
  /// Hands a byte to the supervisor. False: it does not listen yet, or not any more.
  [[nodiscard]] bool tell(ControlByte byte) const;

 private:
  [[nodiscard]] base::Status make_folders() const;
  /// Errors: Failed if there is no order, or if it is of a daemon that was taken over.
  [[nodiscard]] base::Status check_epoch() const;

  std::string path_;
};

/// `<state>/jobs/<number>`: the runs of a job.
[[nodiscard]] std::string job_folder(const std::string& state, core::model::JobId job);
/// The payload of a job: `<state>/payloads/<name>/payload.json`.
[[nodiscard]] std::string payload_path(const std::string& state, const job::JobSpec& spec);
/// Removes the runs of a job; no error if there are none.
void remove_runs(const std::string& state, core::model::JobId job);
/// Removes a payload; names that are none are ignored. False: a back-up copies payloads now (it has
/// a lock on their folder), so try again later.
[[nodiscard]] bool remove_payload(const std::string& state, const std::string& name);
/// What the ranks of a run said of their time so far, as its supervisor kept it last.
[[nodiscard]] std::vector<RankTimes> rank_times(const std::string& state, RunId run);
/// The socket of a running interactive job's terminal, as its user can reach it; empty if none.
[[nodiscard]] std::string terminal_socket(const std::string& state, RunId run);

}  // namespace goban::live::engine::local
