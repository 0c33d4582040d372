// The processes of one run: listed, signalled, suspended and killed by its cgroups, and one by one
// where there are none.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "live/engine/local/run_folder.hpp"
#include "live/engine/local/run_status.hpp"
#include "live/machine/cgroup.hpp"

namespace goban::live::engine::local {

/// Used by the supervisor, whose descendants they are.
class RunProcesses {
 public:
  RunProcesses() = default;
  ~RunProcesses();
  RunProcesses(const RunProcesses&) = delete;
  RunProcesses& operator=(const RunProcesses&) = delete;

  /// Where permitted, makes the cgroups that the run is to join, with its memory limit. `key`: of
  /// its folder. Errors: Failed if it cannot be kept from the devices that its order denies.
  [[nodiscard]] base::Status make_cgroups(const RunOrder& order, const std::string& key);
  void limit_cores(const std::vector<int32_t>& cpus) const;
  /// Files that the job's first process writes itself into.
  [[nodiscard]] std::vector<std::string> procs_files() const;
  /// Tells the engine the cgroups.
  void describe(RunningNote& note) const;
  /// The cgroup has the memory limit: nobody else has to watch it.
  [[nodiscard]] bool kernel_limits_memory() const { return kernel_limits_; }

  [[nodiscard]] std::vector<pid_t> all() const;
  void signal(int signal) const;
  /// Sends a signal to those that have a handler for it: it would kill the others, such as a shell,
  /// and end the run. Returns their number.
  [[nodiscard]] size_t ask(int signal) const;
  /// Stops all processes, or lets them go on.
  void suspend(bool suspended);
  [[nodiscard]] bool is_suspended() const { return suspended_since_ns_ > 0; }
  /// Length of all suspensions so far.
  [[nodiscard]] base::TimeNs suspended_ns() const;
  void kill();
  /// Time of the first kill(), by the steady clock; 0 = none.
  [[nodiscard]] base::TimeNs killed_ns() const { return killed_ns_; }

  [[nodiscard]] double cpu_s() const;  ///< CPU time of the run so far
  /// What the cgroup has measured: CPU time in seconds, peak memory, both -1 = unknown, and whether
  /// the kernel killed processes because of the limit.
  struct Measured {
    double cpu_s = -1;
    int64_t mem_bytes_max = -1;
    bool out_of_memory = false;
  };
  [[nodiscard]] Measured measured() const;

 private:
  /// Stops processes one by one, as there is no cgroup that freezes them.
  void stop_each() const;

  std::optional<machine::Cgroup> cgroup_{};
  std::optional<machine::Cgroup> device_cgroup_{};  ///< of version 1
  bool kernel_limits_ = false;
  base::TimeNs suspended_since_ns_ = 0;  ///< 0 = they are not suspended
  base::TimeNs suspended_ns_ = 0;        ///< in suspensions that ended
  base::TimeNs killed_ns_ = 0;
};

}  // namespace goban::live::engine::local
