#include "live/job/slurm_variables.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace goban::live::job {

std::vector<std::pair<std::string, std::string>> slurm_variables(const SubmitDirectives& request) {
  constexpr int64_t kMebibyte = int64_t{1} << 20;
  std::vector<std::pair<std::string, std::string>> out;
  const auto put = [&out](const char* name, int64_t value) {
    if (value >= 0) out.emplace_back(name, fmt::format("{}", value));
  };
  const int64_t nodes = std::max(request.spec.instances, 1);
  int64_t tasks = request.tasks;
  if (tasks < 0 && request.tasks_per_node > 0) tasks = nodes * request.tasks_per_node;
  put("SLURM_NTASKS", tasks);
  put("SLURM_NPROCS", tasks);
  put("SLURM_NTASKS_PER_NODE", request.tasks_per_node);
  put("SLURM_NTASKS_PER_GPU", request.tasks_per_gpu);
  put("SLURM_CPUS_PER_TASK", request.cores_per_task);
  put("SLURM_CPUS_PER_GPU", request.cores_per_gpu);
  put("SLURM_GPUS", request.gpus);
  put("SLURM_GPUS_PER_NODE", request.gpus_per_node);
  put("SLURM_GPUS_PER_TASK", request.gpus_per_task);
  if (request.mem_per_core_bytes >= 0) {
    put("SLURM_MEM_PER_CPU", request.mem_per_core_bytes / kMebibyte);
  } else if (request.mem_per_gpu_bytes >= 0) {
    put("SLURM_MEM_PER_GPU", request.mem_per_gpu_bytes / kMebibyte);
  } else if (request.spec.mem_bytes > 0) {
    put("SLURM_MEM_PER_NODE", request.spec.mem_bytes / kMebibyte);
  }
  if (!request.array_tasks.empty()) {
    put("SLURM_ARRAY_TASK_COUNT", static_cast<int64_t>(request.array_tasks.size()));
    put("SLURM_ARRAY_TASK_MIN", request.array_tasks.front());
    put("SLURM_ARRAY_TASK_MAX", request.array_tasks.back());
    put("SLURM_ARRAY_TASK_STEP", request.array_step);
  }
  return out;
}

}  // namespace goban::live::job
