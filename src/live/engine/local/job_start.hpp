// Starts a job's script: from memory, as its user, in its own session, without a shell reading any
// text that a user gave.
#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/result.hpp"
#include "live/engine/local/as_user.hpp"
#include "live/engine/local/job_environment.hpp"

namespace goban::live::engine::local {

/// How a script is run: by the interpreter of its first line, else by /bin/sh.
struct ScriptCommand {
  std::string interpreter = "/bin/sh";
  std::string argument{};  ///< all words after the interpreter, as one; empty = none
};
[[nodiscard]] ScriptCommand script_command(std::string_view script);

struct JobStart {
  std::string_view script{};
  std::vector<std::string> args{};
  std::vector<std::string> env{};  ///< `NAME=value`
  job::Owner owner{};
  UserFacts user{};
  std::string work_folder{};
  OutputPaths outputs{};
  bool append = false;          ///< keep what earlier runs wrote
  std::string terminal{};       ///< device of a pseudo-terminal, instead of the outputs
  std::vector<int32_t> cpus{};  ///< empty: any
  std::string cgroup_procs{};   ///< `cgroup.procs` to join; empty: none
};

/// Returns when the interpreter runs. The process leads a session and dies with us. Errors: Failed
/// with what could not be done: folder, output file, user, interpreter.
[[nodiscard]] base::Result<pid_t> start_job(const JobStart& start);

}  // namespace goban::live::engine::local
