// All processes that come from one, however they detached: from /proc.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace goban::live::machine {

/// Children, their children and so on, without `root`. A subreaper is root of all its descendants,
/// those that left by setsid and double fork, too.
[[nodiscard]] std::vector<pid_t> descendants_of(pid_t root);

/// Memory of processes together, pages that several map counted once at most: what is private to
/// each, plus the largest shared part. Copy-on-write pages of forked processes count for each.
[[nodiscard]] int64_t resident_bytes(const std::vector<pid_t>& processes);

/// The same by shares (PSS): exact, and slow; unreadable processes count nothing.
[[nodiscard]] int64_t proportional_bytes(const std::vector<pid_t>& processes);

/// CPU time of the descendants of a subreaper, those that were waited for included; without its
/// own. Does not shrink but for processes that nobody waits for. -1 = the subreaper is gone.
[[nodiscard]] double tree_cpu_s(pid_t root);

/// The process has a handler for the signal.
[[nodiscard]] bool catches(pid_t process, int signal);

/// Its environment holds this `NAME=value`.
[[nodiscard]] bool has_environment(pid_t process, const std::string& entry);

/// Every process of the machine.
[[nodiscard]] std::vector<pid_t> all_processes();

}  // namespace goban::live::machine
