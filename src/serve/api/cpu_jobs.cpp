#include "serve/api/cpu_jobs.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace goban::serve::api {
namespace {

int64_t ceil_div(int64_t value, int64_t by) { return (value + by - 1) / by; }

}  // namespace

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
