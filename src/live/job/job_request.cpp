#include "live/job/job_request.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace goban::live::job {
namespace {

using base::Result;
using base::Status;

constexpr int64_t kCountMax = 1'000'000;
constexpr int64_t kBytesMax = int64_t{1} << 50;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

Result<int32_t> count_of(const char* what, int64_t count) {
  if (count >= 0 && count <= kCountMax) return static_cast<int32_t>(count);
  return base::usage_error(fmt::format("the job requests {} {}", count, what),
                           fmt::format("at most {} can be requested", kCountMax));
}

Status put_gpus(const SubmitDirectives& request, int64_t nodes, int64_t tasks, JobSpec& spec) {
  int64_t gpus = spec.num_gpus;
  if (request.gpus >= 0) gpus = request.gpus;
  if (request.gpus_per_node >= 0) gpus = request.gpus_per_node * nodes;
  const bool in_all = request.gpus >= 0 || request.gpus_per_node >= 0;
  if (request.gpus_per_task >= 0) {
    const int64_t of_tasks = request.gpus_per_task * tasks;
    if (in_all && of_tasks != gpus) {
      return base::usage_error(fmt::format("{} GPUs do not suit {} tasks with {} GPUs each", gpus,
                                           tasks, request.gpus_per_task),
                               "leave out one of the three numbers");
    }
    gpus = of_tasks;
  } else if (request.tasks_per_gpu > 0 && !in_all) {
    gpus = nodes * ceil_div(ceil_div(tasks, nodes), request.tasks_per_gpu);
  }
  const auto count = count_of("GPUs", gpus);
  if (!count) return base::failure(count.error());
  spec.num_gpus = *count;
  return {};
}

Status put_cores(const SubmitDirectives& request, int64_t nodes, int64_t tasks, JobSpec& spec) {
  int64_t cores = spec.cores;
  if (request.slots >= 0) cores = ceil_div(request.slots, nodes);
  const int64_t node_gpus = ceil_div(spec.num_gpus, nodes);
  const bool tasks_said = request.tasks >= 0 || request.tasks_per_node >= 0;
  if (request.cores_per_task >= 0 || tasks_said) {
    cores = ceil_div(tasks, nodes) * std::max(request.cores_per_task, 1);
  }
  if (request.cores_per_gpu >= 0 && request.cores_per_task < 0) {
    cores = std::max(tasks_said ? cores : 0, node_gpus * request.cores_per_gpu);
  }
  const auto count = count_of("cores per node", cores);
  if (!count) return base::failure(count.error());
  spec.cores = *count;
  return {};
}

Status put_memory(const SubmitDirectives& request, int64_t nodes, JobSpec& spec) {
  int64_t units = 1;
  int64_t each = spec.mem_bytes;
  if (request.mem_per_core_bytes >= 0) {
    units = std::max(spec.cores, 1);
    each = request.mem_per_core_bytes;
  } else if (request.mem_per_gpu_bytes >= 0) {
    units = std::max<int64_t>(ceil_div(spec.num_gpus, nodes), 1);
    each = request.mem_per_gpu_bytes;
  }
  if (each > kBytesMax / units) {
    return base::usage_error("the job requests more memory than any node has",
                             "at most 1 PiB can be requested");
  }
  spec.mem_bytes = each * units;
  return {};
}

/// The number of tasks if only GPUs tell it; -1 otherwise.
int64_t tasks_of_gpus(const SubmitDirectives& request, int64_t nodes) {
  if (request.tasks >= 0 || request.tasks_per_node >= 0) return -1;
  int64_t gpus = request.gpus;
  if (request.gpus_per_node >= 0) gpus = request.gpus_per_node * nodes;
  if (gpus < 0) return -1;
  if (request.gpus_per_task > 0) return std::max<int64_t>(gpus / request.gpus_per_task, 1);
  if (request.tasks_per_gpu > 0) return std::max<int64_t>(gpus * request.tasks_per_gpu, 1);
  return -1;
}

void name_outputs(const SubmitDirectives& request, JobSpec& spec) {
  const bool array = !request.array_tasks.empty();
  if (request.dialect == "sge" || request.dialect == "pbs") {
    const std::string tail = array ? "%A.%a" : "%j";
    if (spec.stdout_path.empty()) spec.stdout_path = "%x.o" + tail;
    if (spec.stderr_path.empty() && request.separate_errors) spec.stderr_path = "%x.e" + tail;
  } else if (spec.stdout_path.empty()) {
    spec.stdout_path = "%x-%j.out";
  }
}

}  // namespace

Result<SubmitDirectives> finish(SubmitDirectives request) {
  JobSpec& spec = request.spec;
  int64_t nodes = request.nodes;
  if (nodes < 0 && !spec.resource_type.empty()) nodes = spec.instances;
  if (nodes < 0 && request.tasks > 0 && request.tasks_per_node > 0) {
    nodes = ceil_div(request.tasks, request.tasks_per_node);
  }
  nodes = std::max<int64_t>(nodes, 1);
  const auto instances = count_of("nodes", nodes);
  if (!instances) return base::failure(instances.error());
  spec.instances = *instances;
  if (const int64_t told = tasks_of_gpus(request, nodes); told >= 0) {
    const auto count = count_of("tasks", told);
    if (!count) return base::failure(count.error());
    request.tasks = *count;
  }
  const int64_t tasks =
      request.tasks > 0 ? int64_t{request.tasks} : nodes * std::max(request.tasks_per_node, 1);
  if (const auto gpus = put_gpus(request, nodes, tasks, spec); !gpus) {
    return base::failure(gpus.error());
  }
  if (const auto cores = put_cores(request, nodes, tasks, spec); !cores) {
    return base::failure(cores.error());
  }
  if (const auto memory = put_memory(request, nodes, spec); !memory) {
    return base::failure(memory.error());
  }
  name_outputs(request, spec);
  return request;
}

void forget_gpus(SubmitDirectives& request) {
  request.gpus = request.gpus_per_node = request.gpus_per_task = request.tasks_per_gpu = -1;
  request.spec.gpu_model.clear();
}

}  // namespace goban::live::job
