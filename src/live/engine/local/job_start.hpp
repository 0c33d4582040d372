// Starts a job's script: from memory, as its user, in its own session, without passing user text to
// a shell.
#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/result.hpp"
#include "live/engine/local/as_user.hpp"
#include "live/engine/local/job_environment.hpp"

namespace goban::live::engine::local {

/// The interpreter of a script: from its first line, or /bin/sh.
struct ScriptCommand {
  std::string interpreter = "/bin/sh";
  std::string argument{};  ///< all words after the interpreter, as one argument; empty = none
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
  bool append = false;          ///< append to the output of earlier runs
  std::string terminal{};       ///< device of a pseudo-terminal that replaces the output files
  std::vector<int32_t> cpus{};  ///< empty: any
  std::string cgroup_procs{};   ///< `cgroup.procs` to join; empty: none
};

/// Returns once the interpreter runs. The process leads a session and is killed when this process
/// exits. Errors: Failed with the step that failed: folder, output file, user, interpreter.
[[nodiscard]] base::Result<pid_t> start_job(const JobStart& start);

}  // namespace goban::live::engine::local
