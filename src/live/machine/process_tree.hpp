// All descendants of a process, however they detached, from /proc.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace goban::live::machine {

/// All descendants, without `root`. For a subreaper these include processes that detached by setsid
/// and double fork.
[[nodiscard]] std::vector<pid_t> descendants_of(pid_t root);

/// Total memory of the processes: the private part of each, plus the largest shared part, so that
/// shared pages are counted at most once. Copy-on-write pages of forked processes are counted for
/// each.
[[nodiscard]] int64_t resident_bytes(const std::vector<pid_t>& processes);

/// The same as the sum of proportional set sizes (PSS): exact but slow. Unreadable processes are
/// skipped.
[[nodiscard]] int64_t proportional_bytes(const std::vector<pid_t>& processes);

/// CPU time of the descendants of a subreaper in seconds, including exited ones that were waited
/// for, without its own. Decreases only when a process exits that no parent waits for. -1 = the
/// subreaper has exited.
[[nodiscard]] double tree_cpu_s(pid_t root);

/// Whether the process has a handler for the signal.
[[nodiscard]] bool catches(pid_t process, int signal);

/// Whether its environment contains this `NAME=value`.
[[nodiscard]] bool has_environment(pid_t process, const std::string& entry);

/// Closes the descriptors of this process from `first` to `last`. Safe after fork().
void close_files(unsigned first, unsigned last);

/// All processes of the machine.
[[nodiscard]] std::vector<pid_t> all_processes();

}  // namespace goban::live::machine
