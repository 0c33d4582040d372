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
  if (request.gpus_per_task >= 0) gpus = request.gpus_per_task * tasks;
  const auto count = count_of("GPUs", gpus);
  if (!count) return base::failure(count.error());
  spec.num_gpus = *count;
  return {};
}

Status put_cores(const SubmitDirectives& request, int64_t nodes, int64_t tasks, JobSpec& spec) {
  int64_t cores = spec.cores;
  if (request.slots >= 0) cores = ceil_div(request.slots, nodes);
  const bool tasks_said = request.tasks >= 0 || request.tasks_per_node >= 0;
  if (request.cores_per_task >= 0 || tasks_said) {
    cores = ceil_div(tasks, nodes) * std::max(request.cores_per_task, 1);
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

}  // namespace goban::live::job
