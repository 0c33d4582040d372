#include "serve/daemon/machine_gpus.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <set>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "site/inputs/inputs.hpp"

namespace goban::serve::daemon {

using base::gpus::LocalGpu;

namespace {

/// The cores that this process may use.
std::vector<int32_t> own_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int32_t> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  for (int32_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<size_t>(core), &set)) cores.push_back(core);
  }
  return cores;
}

/// Errors: BadData if one is not a character device, is one that every process needs, or is given
/// twice.
base::Status add_devices(const std::vector<std::string>& files, std::vector<LocalGpu>& gpus) {
  std::set<dev_t> known;
  for (size_t i = 0; i < files.size() && i < gpus.size(); ++i) {
    struct stat facts{};
    if (::stat(files[i].c_str(), &facts) != 0 || !S_ISCHR(facts.st_mode)) {
      return base::bad_data({"", 0, 0, "virtual_devices"},
                            fmt::format("'{}' is not a character device", files[i]),
                            "name device files, such as /dev/full, or remove the key");
    }
    const auto refuse = [&](std::string message, const char* remedy) {
      return base::bad_data({"", 0, 0, "virtual_devices"}, std::move(message), remedy);
    };
    struct stat null{};
    if (::stat("/dev/null", &null) == 0 && null.st_rdev == facts.st_rdev) {
      return refuse(fmt::format("'{}' is needed by all jobs", files[i]),
                    "name another device, such as /dev/full");
    }
    if (!known.insert(facts.st_rdev).second) {
      return refuse(fmt::format("'{}' is the device of two virtual GPUs", files[i]),
                    "name another device for each");
    }
    gpus[i].devices = {{.major = major(facts.st_rdev), .minor = minor(facts.st_rdev)}};
  }
  return {};
}

}  // namespace

std::vector<LocalGpu> virtual_gpus(int32_t count, const std::vector<int32_t>& cores,
                                   int64_t mem_bytes, const std::vector<double>& slowness) {
  const auto gpus = static_cast<size_t>(count);
  std::vector<LocalGpu> out;
  for (size_t i = 0; i < gpus; ++i) {
    LocalGpu gpu{.index = static_cast<int32_t>(i),
                 .uuid = fmt::format("VIRTUAL-{}", i),
                 .name = "virtual",
                 .mem_bytes = mem_bytes / count,
                 .is_virtual = true};
    for (size_t core = i % cores.size(); core < cores.size(); core += gpus) {
      gpu.cpus.push_back(cores[core]);
    }
    if (i < slowness.size()) gpu.slowness = slowness[i];
    out.push_back(std::move(gpu));
  }
  return out;
}

base::Result<MachineGpus> find_gpus(const ServeConfig& config) {
  MachineGpus found;
  if (config.virtual_gpus > 0) {
    const int64_t mem_bytes = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE);
    found.gpus = virtual_gpus(config.virtual_gpus, own_cores(), mem_bytes, config.virtual_slowness);
    if (auto status = add_devices(config.virtual_devices, found.gpus); !status) {
      return base::failure(status.error());
    }
    return found;
  }
  auto nvml = base::gpus::NvmlLibrary::load();
  if (!nvml) {
    base::Error error = nvml.error();
    error.remedy = "install the NVIDIA driver, or try --virtual-gpus 4";
    return base::failure(std::move(error));
  }
  auto gpus = (*nvml)->gpus();
  if (!gpus) return base::failure(gpus.error());
  if (gpus->empty()) {
    return base::failed("the NVIDIA driver reports no GPU", "try --virtual-gpus 4");
  }
  found.driver = (*nvml)->driver_version();
  found.gpus = std::move(*gpus);
  found.nvml = std::move(*nvml);
  return found;
}

base::Status add_power(const ServeConfig& config, std::vector<LocalGpu>& gpus) {
  if (config.energy.empty()) return {};
  const auto power = site::inputs::resolve_power(config.energy);
  if (!power) return base::failure(power.error());
  for (LocalGpu& gpu : gpus) {
    const core::knowledge::PowerModel* const model = power->find(gpu.name);
    if (!gpu.is_virtual || model == nullptr) continue;
    gpu.power_idle_w = model->gpu_idle_w;
    gpu.power_max_w = model->gpu_idle_w + model->gpu_dynamic_w;
    gpu.power_exponent = model->exponent;
  }
  return {};
}

}  // namespace goban::serve::daemon
