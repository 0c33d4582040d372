#include "serve/api/typed_jobs.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace goban::serve::api {
namespace {

base::Status refuse(const char* field, std::string message, std::string remedy) {
  return base::bad_data({.file = {}, .line = 0, .column = 0, .field = field}, std::move(message),
                        std::move(remedy));
}

int64_t ceil_div(int64_t value, int64_t by) { return (value + by - 1) / by; }

}  // namespace

base::Status fit_into_type(live::job::JobSpec& spec, const core::model::Cluster& cluster) {
  if (spec.resource_type.empty()) return {};
  const auto id = cluster.find_resource_type(spec.resource_type);
  if (!id.valid()) return {};
  const core::model::ResourceType& type = cluster.resource_type(id);
  const int32_t instances = std::max(spec.instances, 1);
  // 1 is the default of a job that does not state its GPUs.
  if (spec.num_gpus == 1 && instances <= type.max_instances) spec.num_gpus = type.gpus * instances;
  if (spec.cores > type.host.cores) {
    return refuse(
        "cores",
        fmt::format("requests {} cores; {} has {}", spec.cores, type.name, type.host.cores),
        "omit it, or use another type");
  }
  if (spec.mem_bytes > type.host.mem_bytes) {
    return refuse("mem_bytes",
                  fmt::format("requests {} MiB; {} has {} MiB", spec.mem_bytes >> 20, type.name,
                              type.host.mem_bytes >> 20),
                  "omit it, or use another type");
  }
  if (spec.cores == 0) spec.cores = type.host.cores;
  if (spec.mem_bytes == 0) spec.mem_bytes = type.host.mem_bytes;
  if (spec.walltime_limit_ns == 0) {
    spec.walltime_limit_ns =
        type.walltime_default_ns > 0 ? type.walltime_default_ns : type.walltime_max_ns;
  }
  if (type.walltime_max_ns > 0 && spec.walltime_limit_ns > type.walltime_max_ns) {
    return refuse("walltime_s",
                  fmt::format("requests {:g} s; {} permits at most {:g} s",
                              base::to_seconds(spec.walltime_limit_ns), type.name,
                              base::to_seconds(type.walltime_max_ns)),
                  "request less time");
  }
  return {};
}

base::Status fit_into_site(live::job::JobSpec& spec, const live::controller::JobLimits& limits) {
  if (spec.walltime_limit_ns == 0) {
    spec.walltime_limit_ns =
        limits.time_default_ns > 0 ? limits.time_default_ns : limits.time_max_ns;
  }
  if (!spec.resource_type.empty()) return {};
  if (spec.mem_bytes == 0) {
    spec.mem_bytes = limits.mem_default_bytes > 0 ? limits.mem_default_bytes : limits.mem_max_bytes;
  }
  if (limits.mem_max_bytes == 0 || spec.mem_bytes <= limits.mem_max_bytes) return {};
  return refuse("mem_bytes",
                fmt::format("requests {} MiB; this site allows at most {} MiB per node",
                            spec.mem_bytes >> 20, limits.mem_max_bytes >> 20),
                "reduce --mem, or ask an operator to raise mem_max");
}

core::model::ResourceType core_slots(const core::model::HostResources& host) {
  const int32_t cores = std::max(host.cores, 1);
  return {.name = kSlots,
          .host = {.cores = 1, .mem_bytes = host.mem_bytes / cores},
          .max_instances = cores};
}

base::Status fit_into_slots(live::job::JobSpec& spec, const core::model::Cluster& cluster) {
  if (spec.num_gpus != 0 || !spec.resource_type.empty()) return {};
  const auto id = cluster.find_resource_type(kSlots);
  if (!id.valid()) return {};
  const core::model::ResourceType& slot = cluster.resource_type(id);
  const int64_t parts = std::max(spec.instances, 1);
  const int64_t cores = parts * std::max(spec.cores, 1);
  const int64_t slot_bytes = std::max<int64_t>(slot.host.mem_bytes, 1);
  const int64_t by_memory = parts * ceil_div(spec.mem_bytes, slot_bytes);
  const int64_t slots = std::max(cores, by_memory);
  if (slots > slot.max_instances) {
    const bool by_cores = cores > slot.max_instances;
    return base::bad_data(
        {.file = {}, .line = 0, .column = 0, .field = by_cores ? "cores" : "mem_bytes"},
        fmt::format("requests {} cores and {} MiB; this machine has {} cores and {} MiB", cores,
                    (parts * spec.mem_bytes) >> 20, slot.max_instances,
                    (slot.max_instances * slot_bytes) >> 20),
        "request less");
  }
  spec.mem_bytes = ceil_div(parts * spec.mem_bytes, slots);
  spec.resource_type = kSlots;
  spec.instances = static_cast<int32_t>(slots);
  spec.cores = 1;
  return {};
}

}  // namespace goban::serve::api
