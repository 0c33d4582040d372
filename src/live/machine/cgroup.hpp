// A cgroup (version 2) for one run, where the machine permits it: counts, limits and ends all
// processes of the run at once. Without one, the supervisor does the same through /proc. Source:
// the kernel's Documentation/admin-guide/cgroup-v2.rst.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace goban::live::machine {

class Cgroup {
 public:
  /// Creates `<root>/<name>`. `root`: empty = `goban` in the top cgroup if run as root, otherwise
  /// in this process's cgroup; "-" = none. Returns nothing if not permitted.
  [[nodiscard]] static std::optional<Cgroup> make(const std::string& root, const std::string& name);
  /// An existing cgroup.
  [[nodiscard]] static Cgroup at(std::string path) { return Cgroup(std::move(path)); }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string procs_file() const { return path_ + "/cgroup.procs"; }
  [[nodiscard]] std::vector<pid_t> processes() const;
  /// False if the memory controller is missing: then the caller has to watch the memory.
  [[nodiscard]] bool limit_memory(int64_t bytes) const;
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
