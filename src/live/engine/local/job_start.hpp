// Starts a job's script: from memory, as its user, in its own session, without passing user text to
// a shell.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

#include "base/files.hpp"
#include "base/result.hpp"
#include "live/engine/local/job_environment.hpp"

namespace goban::live::engine::local {

/// The interpreter of a script: from its first line, or /bin/sh.
struct ScriptCommand {
  std::string interpreter = "/bin/sh";
  std::string argument{};  ///< all words after the interpreter, as one argument; empty = none
};
[[nodiscard]] ScriptCommand script_command(std::string_view script);

/// Why a job could not be started.
struct StartFailure {
  base::Error error{};
  bool of_machine = false;  ///< it lacks processes, memory or open files; the job is not to blame
};

/// A job's process until its interpreter runs. Each of its steps may hang, on a file system that
/// does not answer. Until then it holds no GPU and no file of this process.
class StartingJob {
 public:
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Readable when is_decided() may have changed.
  [[nodiscard]] int file() const { return messages_.get(); }
  /// Reads what the process has reported; never blocks. True: its interpreter runs, or it has
  /// exited.
  [[nodiscard]] bool is_decided();
  /// Why it gave up; nothing if it has not.
  [[nodiscard]] std::optional<StartFailure> failure() const;
  /// What it does at present, such as "entering its work folder '/home/ada'".
  [[nodiscard]] std::string doing() const;

 private:
  friend tl::expected<StartingJob, StartFailure> start_job(const RunOrder& order,
                                                           const Payload& payload,
                                                           const RunPlaces& places);
  pid_t pid_ = 0;
  base::Descriptor messages_{};
  std::string said_{};  ///< a letter per step, then the message of a failure
  std::string work_folder_{};
  std::string output_{};
  std::string interpreter_{};
  bool decided_ = false;
};

/// Starts the job's process, which leads a session and is killed when this process exits. Errors:
/// it could not be created. What fails later, in folder, output file, user or interpreter, is
/// StartingJob::failure().
[[nodiscard]] tl::expected<StartingJob, StartFailure> start_job(const RunOrder& order,
                                                                const Payload& payload,
                                                                const RunPlaces& places);

}  // namespace goban::live::engine::local
