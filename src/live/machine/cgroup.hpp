// A cgroup (version 2) for one run, where the machine permits it: counts, limits and ends all
// processes of the run at once. Without one, the supervisor does the same through /proc. Source:
// the kernel's Documentation/admin-guide/cgroup-v2.rst, and systemd's "Control Group APIs and
// Delegation".
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace goban::live::machine {

/// The folder for cgroups of runs; empty: none is permitted. The first of these that there is:
/// - `<unit>-jobs.service` beside the `<unit>.service` in which this process runs, if delegated to
///   it: its processes go to a leaf, and its controllers are enabled;
/// - `goban` in the cgroup of this process, if that is delegated. Without controllers: with them
///   systemd could not start the unit again while jobs run;
/// - root: `goban` in the top cgroup, with controllers; others: `goban` in their own cgroup.
[[nodiscard]] std::string find_cgroup_root();

/// The same in the `devices` hierarchy of version 1; empty: there is none.
[[nodiscard]] std::string find_device_cgroup_root();

class Cgroup {
 public:
  /// Creates `<root>/<name>`. `root`: empty = find_cgroup_root(), "-" = none. Returns nothing if
  /// not permitted.
  [[nodiscard]] static std::optional<Cgroup> make(const std::string& root, const std::string& name);
  /// An existing cgroup.
  [[nodiscard]] static Cgroup at(std::string path) { return Cgroup(std::move(path)); }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string procs_file() const { return path_ + "/cgroup.procs"; }
  [[nodiscard]] std::vector<pid_t> processes() const;
  /// False if the memory controller is missing: then the caller has to watch the memory.
  [[nodiscard]] bool limit_memory(int64_t bytes) const;
  /// False if the cpuset controller is missing: then the affinity of each process has to do.
  [[nodiscard]] bool limit_cores(const std::vector<int32_t>& cpus) const;
  /// Stops all its processes, also those that it will have, or lets them go on. False if the kernel
  /// cannot (before Linux 5.2).
  [[nodiscard]] bool freeze(bool frozen) const;
  /// Kills every process in it.
  void kill() const;
  /// CPU time of all processes that ever ran in it, in seconds; -1 = unknown.
  [[nodiscard]] double cpu_s() const;
  /// Peak memory; -1 = unknown.
  [[nodiscard]] int64_t memory_bytes_max() const;
  /// Number of processes killed by the kernel because of the limit.
  [[nodiscard]] int64_t memory_kills() const;
  /// Removes it, if it is empty.
  void remove() const;

 private:
  explicit Cgroup(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace goban::live::machine
