// A cgroup (version 2) for one run, where the machine permits it: counts, limits and ends all
// processes of the run at once. Without one the supervisor does the same through /proc.
// Source: the kernel's Documentation/admin-guide/cgroup-v2.rst.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace goban::live::machine {

class Cgroup {
 public:
  /// Makes `<root>/<name>`. `root`: empty = `goban` in the top cgroup for root, else in our own
  /// cgroup; "-" = none. Nothing if that is not permitted.
  [[nodiscard]] static std::optional<Cgroup> make(const std::string& root, const std::string& name);
  /// One that was made before.
  [[nodiscard]] static Cgroup at(std::string path) { return Cgroup(std::move(path)); }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string procs_file() const { return path_ + "/cgroup.procs"; }
  [[nodiscard]] std::vector<pid_t> processes() const;
  /// False where the memory controller is missing: then somebody has to watch.
  [[nodiscard]] bool limit_memory(int64_t bytes) const;
  /// Ends every process in it.
  void kill() const;
  /// CPU time of all that ever ran in it; -1 = not known.
  [[nodiscard]] double cpu_s() const;
  /// -1 = not known.
  [[nodiscard]] int64_t memory_bytes_max() const;
  /// Processes that the kernel ended for the limit.
  [[nodiscard]] int64_t memory_kills() const;
  /// Works once it is empty.
  void remove() const;

 private:
  explicit Cgroup(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace goban::live::machine
