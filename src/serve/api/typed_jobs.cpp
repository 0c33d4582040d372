#include "serve/api/typed_jobs.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace goban::serve::api {
namespace {

base::Status refuse(const char* field, std::string message, std::string remedy) {
  return base::bad_data({.file = {}, .line = 0, .column = 0, .field = field}, std::move(message),
                        std::move(remedy));
}

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

}  // namespace goban::serve::api
