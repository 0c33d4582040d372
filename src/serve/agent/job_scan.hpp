// The jobs of a node, from its processes: whose they are, which GPUs they were given, which modules
// and libraries they loaded. A process belongs to the pod that its cgroup names, else to the job of
// Slurm that its environment names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "site/telemetry/agent_report.hpp"

namespace goban::serve::agent {

/// What a process says of its job.
struct ProcessJob {
  std::string id{};  ///< at the engine
  std::vector<int32_t> gpus{};
  std::vector<std::string> modules{};
};

/// `cgroup`: /proc/PID/cgroup; `environment`: /proc/PID/environ. None: it belongs to no job, or to
/// one on another node of the same machine (SLURMD_NODENAME).
[[nodiscard]] std::optional<ProcessJob> job_of(std::string_view cgroup,
                                               std::string_view environment, std::string_view node);

/// Libraries of /proc/PID/maps that say what a job computes with (CUDA, cuDNN, NCCL, PyTorch,
/// TensorFlow, JAX, ...): file names, without doubles.
[[nodiscard]] std::vector<std::string> known_libraries(std::string_view maps);

/// "0,2-3"; anything but indices is left out.
[[nodiscard]] std::vector<int32_t> gpu_indices(std::string_view text);

/// What a job used between two scans.
struct JobUse {
  double cpu_s = 0;
  int64_t mem_bytes = 0;
};

struct ScannedJob {
  site::telemetry::AgentJob job{};
  JobUse use{};
  base::TimeNs seen_ns = 0;  ///< last time that a process of it was there
};

/// By id and user: a process can say that it belongs to the job of somebody else.
using ScannedJobs = std::map<std::pair<std::string, uint32_t>, ScannedJob>;

/// Scans processes again and again. Not thread-safe.
class JobScan {
 public:
  explicit JobScan(std::string node, std::string proc = "/proc")
      : node_(std::move(node)), proc_(std::move(proc)) {}

  /// One scan. `now_ns`: of a monotonic clock.
  void scan(base::TimeNs now_ns);
  /// Also jobs whose processes are gone, for ten minutes. Their use is that between the last
  /// two scans.
  [[nodiscard]] const ScannedJobs& jobs() const { return jobs_; }
  /// The job of one process; none if it has none or is gone.
  [[nodiscard]] std::optional<site::telemetry::AgentJob> job_of_process(pid_t process) const;

 private:
  struct Process {
    int64_t start_ticks = 0;
    double cpu_s = -1;
    uint32_t scans = 0;
    std::pair<std::string, uint32_t> job{};  ///< an empty id: none
    bool seen = false;
  };
  void visit(pid_t id, base::TimeNs now_ns);
  /// The entry of a job; null if its user has too many that run.
  [[nodiscard]] ScannedJob* entry(const std::pair<std::string, uint32_t>& key);

  std::string node_;
  std::string proc_;
  std::map<pid_t, Process> processes_{};
  ScannedJobs jobs_{};
  base::TimeNs last_ns_ = -1;  ///< of the scan before
};

}  // namespace goban::serve::agent
