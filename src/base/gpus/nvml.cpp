#include "base/gpus/nvml.hpp"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <iterator>
#include <map>

#include "base/clock.hpp"
#include "base/gpus/device_numbers.hpp"

namespace goban::base::gpus {
namespace {

template <typename Function>
void find(void* file, Function*& out, const char* name) {
  out = reinterpret_cast<Function*>(dlsym(file, name));
}

/// The first required function that this driver lacks; null: none.
const char* find_all(void* file, NvmlFunctions& f) {
  find(file, f.init, "nvmlInit_v2");
  find(file, f.shutdown, "nvmlShutdown");
  find(file, f.error_string, "nvmlErrorString");
  find(file, f.driver_version, "nvmlSystemGetDriverVersion");
  find(file, f.device_count, "nvmlDeviceGetCount_v2");
  find(file, f.device_by_index, "nvmlDeviceGetHandleByIndex_v2");
  find(file, f.device_by_uuid, "nvmlDeviceGetHandleByUUID");
  find(file, f.name, "nvmlDeviceGetName");
  find(file, f.uuid, "nvmlDeviceGetUUID");
  find(file, f.pci, "nvmlDeviceGetPciInfo_v3");
  find(file, f.memory, "nvmlDeviceGetMemoryInfo");
  find(file, f.utilization, "nvmlDeviceGetUtilizationRates");
  find(file, f.power_mw, "nvmlDeviceGetPowerUsage");
  find(file, f.energy_mj, "nvmlDeviceGetTotalEnergyConsumption");
  find(file, f.temperature, "nvmlDeviceGetTemperature");
  find(file, f.clock_mhz, "nvmlDeviceGetClockInfo");
  find(file, f.power_limit_default, "nvmlDeviceGetPowerManagementDefaultLimit");
  find(file, f.power_limit_range, "nvmlDeviceGetPowerManagementLimitConstraints");
  find(file, f.set_power_limit, "nvmlDeviceSetPowerManagementLimit");
  find(file, f.vbios_version, "nvmlDeviceGetVbiosVersion");
  find(file, f.processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  if (f.processes == nullptr) find(file, f.processes, "nvmlDeviceGetComputeRunningProcesses_v2");
  find(file, f.process_busy, "nvmlDeviceGetProcessUtilization");
  find(file, f.gpm_support, "nvmlGpmQueryDeviceSupport");
  find(file, f.gpm_sample_alloc, "nvmlGpmSampleAlloc");
  find(file, f.gpm_sample_free, "nvmlGpmSampleFree");
  find(file, f.gpm_sample_get, "nvmlGpmSampleGet");
  find(file, f.gpm_metrics, "nvmlGpmMetricsGet");
  find(file, f.mig_mode, "nvmlDeviceGetMigMode");
  find(file, f.mig_count_max, "nvmlDeviceGetMaxMigDeviceCount");
  find(file, f.mig_device, "nvmlDeviceGetMigDeviceHandleByIndex");
  find(file, f.gpu_instance, "nvmlDeviceGetGpuInstanceId");
  find(file, f.compute_instance, "nvmlDeviceGetComputeInstanceId");
  find(file, f.minor_number, "nvmlDeviceGetMinorNumber");
  if (f.init == nullptr) return "nvmlInit_v2";
  if (f.shutdown == nullptr) return "nvmlShutdown";
  if (f.device_count == nullptr) return "nvmlDeviceGetCount_v2";
  if (f.device_by_index == nullptr) return "nvmlDeviceGetHandleByIndex_v2";
  if (f.device_by_uuid == nullptr) return "nvmlDeviceGetHandleByUUID";
  if (f.name == nullptr) return "nvmlDeviceGetName";
  if (f.uuid == nullptr) return "nvmlDeviceGetUUID";
  if (f.pci == nullptr) return "nvmlDeviceGetPciInfo_v3";
  if (f.memory == nullptr) return "nvmlDeviceGetMemoryInfo";
  if (f.utilization == nullptr) return "nvmlDeviceGetUtilizationRates";
  return nullptr;
}

}  // namespace

base::Result<std::shared_ptr<const NvmlLibrary>> NvmlLibrary::load(const std::string& path) {
  std::string name = path;
  if (name.empty()) {
    const char* set = std::getenv("GOBAN_NVML");
    name = set != nullptr && *set != '\0' ? set : "libnvidia-ml.so.1";
  }
  const char* remedy = "install NVIDIA's driver, or use virtual GPUs: --virtual-gpus N";
  const std::shared_ptr<NvmlLibrary> out(new NvmlLibrary);
  out->file_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (out->file_ == nullptr) {
    return base::failed(fmt::format("cannot load NVIDIA's management library: {}", dlerror()),
                        remedy);
  }
  if (const char* missing = find_all(out->file_, out->f_); missing != nullptr) {
    return base::failed(fmt::format("'{}' has no function '{}'", name, missing),
                        "driver 450 or later is required");
  }
  if (const int code = out->f_.init(); code != kNvmlSuccess) {
    return base::failed(fmt::format("cannot initialise NVIDIA's driver: {}", out->explain(code)),
                        remedy);
  }
  out->initialised_ = true;
  return std::shared_ptr<const NvmlLibrary>(out);
}

NvmlLibrary::~NvmlLibrary() {
  if (initialised_) f_.shutdown();
  if (file_ != nullptr) dlclose(file_);
}

std::string NvmlLibrary::explain(int code) const {
  const char* text = f_.error_string == nullptr ? nullptr : f_.error_string(code);
  return fmt::format("{} (code {})", text == nullptr ? "error" : text, code);
}

std::string NvmlLibrary::driver_version() const {
  std::array<char, 96> text{};
  const bool known = f_.driver_version != nullptr &&
                     f_.driver_version(text.data(), text.size() - 1) == kNvmlSuccess;
  return known ? text.data() : "";
}

int NvmlLibrary::describe(NvmlDevice device, LocalGpu& gpu) const {
  std::array<char, 128> name{};
  std::array<char, 128> uuid{};
  NvmlMemory memory;
  int code = f_.name(device, name.data(), name.size() - 1);
  if (code == kNvmlSuccess) code = f_.uuid(device, uuid.data(), uuid.size() - 1);
  if (code == kNvmlSuccess) code = f_.memory(device, &memory);
  gpu.name = name.data();
  gpu.uuid = uuid.data();
  gpu.mem_bytes = static_cast<int64_t>(memory.total);
  return code;
}

bool NvmlLibrary::is_cut(NvmlDevice device) const {
  unsigned current = 0;
  unsigned pending = 0;
  return f_.mig_mode != nullptr && f_.mig_mode(device, &current, &pending) == kNvmlSuccess &&
         current != 0;
}

std::vector<DeviceNumber> NvmlLibrary::devices_of(NvmlDevice device, const std::string& pci) const {
  unsigned minor = 0;
  const bool known = f_.minor_number != nullptr && f_.minor_number(device, &minor) == kNvmlSuccess;
  return known ? nvidia_devices(minor, pci) : std::vector<DeviceNumber>{};
}

std::vector<DeviceNumber> NvmlLibrary::devices_of_slice(NvmlDevice whole, NvmlDevice slice) const {
  unsigned minor = 0;
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
  const bool known = f_.minor_number != nullptr && f_.minor_number(whole, &minor) == kNvmlSuccess &&
                     f_.gpu_instance != nullptr &&
                     f_.gpu_instance(slice, &gpu_instance) == kNvmlSuccess &&
                     f_.compute_instance != nullptr &&
                     f_.compute_instance(slice, &compute_instance) == kNvmlSuccess;
  return known ? mig_devices(minor, gpu_instance, compute_instance) : std::vector<DeviceNumber>{};
}

std::vector<LocalGpu> NvmlLibrary::slices(NvmlDevice whole, const LocalGpu& gpu) const {
  unsigned count = 0;
  std::vector<LocalGpu> out;
  if (f_.mig_count_max == nullptr || f_.mig_device == nullptr || !is_cut(whole)) return out;
  if (f_.mig_count_max(whole, &count) != kNvmlSuccess) return out;
  for (unsigned i = 0; i < count; ++i) {
    NvmlDevice slice = nullptr;
    LocalGpu part;
    if (f_.mig_device(whole, i, &slice) != kNvmlSuccess) continue;  // no instance at this index
    if (describe(slice, part) != kNvmlSuccess) continue;
    part.pci = gpu.pci;
    part.devices = gpu.devices;
    std::ranges::move(devices_of_slice(whole, slice), std::back_inserter(part.devices));
    out.push_back(std::move(part));
  }
  return out;
}

base::Result<std::vector<LocalGpu>> NvmlLibrary::gpus() const {
  unsigned count = 0;
  if (const int code = f_.device_count(&count); code != kNvmlSuccess) {
    return base::failed(fmt::format("cannot count the GPUs: {}", explain(code)));
  }
  std::vector<LocalGpu> out;
  for (unsigned i = 0; i < count; ++i) {
    NvmlDevice device = nullptr;
    NvmlPci pci;
    LocalGpu gpu;
    int code = f_.device_by_index(i, &device);
    if (code == kNvmlSuccess) code = describe(device, gpu);
    if (code == kNvmlSuccess) code = f_.pci(device, &pci);
    if (code != kNvmlSuccess) {
      return base::failed(fmt::format("cannot read GPU {}: {}", i, explain(code)),
                          "check it with nvidia-smi");
    }
    pci.bus_id.back() = '\0';
    gpu.pci = pci.bus_id.data();
    gpu.devices = devices_of(device, gpu.pci);
    unsigned limit_mw = 0;
    if (f_.power_limit_default != nullptr &&
        f_.power_limit_default(device, &limit_mw) == kNvmlSuccess) {
      gpu.power_max_w = limit_mw / 1000.0;
    }
    gpu.memory_enforced =
        f_.processes != nullptr && std::ranges::none_of(running(gpu.uuid), [](const auto& each) {
          return each.used_bytes == kNvmlNotAvailable;
        });
    std::vector<LocalGpu> parts = slices(device, gpu);
    if (parts.empty()) parts.push_back(std::move(gpu));
    std::ranges::move(parts, std::back_inserter(out));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const LocalGpu& a, const LocalGpu& b) { return a.pci < b.pci; });
  for (size_t i = 0; i < out.size(); ++i) out[i].index = static_cast<int32_t>(i);
  return out;
}

base::Result<std::vector<PhysicalGpu>> NvmlLibrary::physical_gpus() const {
  unsigned count = 0;
  if (const int code = f_.device_count(&count); code != kNvmlSuccess) {
    return base::failed(fmt::format("cannot count the GPUs: {}", explain(code)));
  }
  std::vector<PhysicalGpu> out;
  for (unsigned i = 0; i < count; ++i) {
    NvmlDevice device = nullptr;
    LocalGpu gpu;
    int code = f_.device_by_index(i, &device);
    if (code == kNvmlSuccess) code = describe(device, gpu);
    if (code != kNvmlSuccess) {
      return base::failed(fmt::format("cannot read GPU {}: {}", i, explain(code)),
                          "check it with nvidia-smi");
    }
    out.push_back({.uuid = gpu.uuid, .name = gpu.name, .mig = is_cut(device)});
  }
  return out;
}

NvmlDevice NvmlLibrary::device(const std::string& uuid) const {
  NvmlDevice device = nullptr;
  return f_.device_by_uuid(uuid.c_str(), &device) == kNvmlSuccess ? device : nullptr;
}

std::string NvmlLibrary::firmware(const std::string& uuid) const {
  NvmlDevice gpu = device(uuid);
  std::array<char, 64> text{};
  const bool known = gpu != nullptr && f_.vbios_version != nullptr &&
                     f_.vbios_version(gpu, text.data(), text.size() - 1) == kNvmlSuccess;
  return known ? text.data() : "";
}

GpuReading NvmlLibrary::read(const std::string& uuid) const {
  GpuReading out;
  NvmlDevice gpu = device(uuid);
  if (gpu == nullptr) return out;
  NvmlUtilization use;
  if (f_.utilization(gpu, &use) == kNvmlSuccess) {
    out.util_pct = use.gpu;
    out.memory_busy_pct = use.memory;
  }
  NvmlMemory memory;
  if (f_.memory(gpu, &memory) == kNvmlSuccess) {
    out.mem_used_bytes = static_cast<int64_t>(memory.used);
  }
  unsigned value = 0;
  if (f_.power_mw != nullptr && f_.power_mw(gpu, &value) == kNvmlSuccess) {
    out.power_w = value / 1000.0;
  }
  constexpr int kChip = 0;
  if (f_.temperature != nullptr && f_.temperature(gpu, kChip, &value) == kNvmlSuccess) {
    out.temperature_c = value;
  }
  constexpr int kSmClock = 1;
  constexpr int kMemoryClock = 2;
  if (f_.clock_mhz != nullptr && f_.clock_mhz(gpu, kSmClock, &value) == kNvmlSuccess) {
    out.sm_clock_mhz = value;
  }
  if (f_.clock_mhz != nullptr && f_.clock_mhz(gpu, kMemoryClock, &value) == kNvmlSuccess) {
    out.mem_clock_mhz = value;
  }
  unsigned long long energy_mj = 0;
  if (f_.energy_mj != nullptr && f_.energy_mj(gpu, &energy_mj) == kNvmlSuccess) {
    out.energy_j = static_cast<double>(energy_mj) / 1000.0;
  }
  return out;
}

std::vector<NvmlProcess> NvmlLibrary::running(const std::string& uuid) const {
  NvmlDevice gpu = device(uuid);
  if (gpu == nullptr || f_.processes == nullptr) return {};
  std::vector<NvmlProcess> out(64);
  constexpr int kTries = 4;  // processes may start between two queries
  for (int i = 0; i < kTries; ++i) {
    auto count = static_cast<unsigned>(out.size());
    const int code = f_.processes(gpu, &count, out.data());
    if (code == kNvmlSuccess) {
      out.resize(std::min<size_t>(count, out.size()));
      return out;
    }
    if (code != kNvmlInsufficientSize) break;
    out.resize(size_t{2} * count + 16);
  }
  return {};
}

int64_t NvmlLibrary::memory_of(const std::string& uuid, const std::vector<pid_t>& processes) const {
  if (f_.processes == nullptr) return -1;
  int64_t bytes = 0;
  // In containers and virtual machines a driver may list processes without their memory.
  for (const NvmlProcess& process : running(uuid)) {
    const auto pid = static_cast<pid_t>(process.pid);
    if (std::find(processes.begin(), processes.end(), pid) == processes.end()) continue;
    if (process.used_bytes == kNvmlNotAvailable) return -1;
    bytes += static_cast<int64_t>(process.used_bytes);
  }
  return bytes;
}

double NvmlLibrary::busy_share(const std::string& uuid, const std::vector<pid_t>& processes) const {
  NvmlDevice gpu = device(uuid);
  if (gpu == nullptr || f_.process_busy == nullptr) return -1;
  constexpr base::TimeNs kSpan = 2 * base::kSecond;
  const auto since_us = static_cast<unsigned long long>((base::wall_ns() - kSpan) / 1000);
  std::vector<NvmlProcessBusy> samples(64);
  auto count = static_cast<unsigned>(samples.size());
  int code = f_.process_busy(gpu, samples.data(), &count, since_us);
  if (code == kNvmlInsufficientSize) {
    samples.resize(size_t{2} * count + 16);
    count = static_cast<unsigned>(samples.size());
    code = f_.process_busy(gpu, samples.data(), &count, since_us);
  }
  if (code == kNvmlNotFound) return 0;
  if (code != kNvmlSuccess) return -1;
  samples.resize(std::min<size_t>(count, samples.size()));
  std::map<pid_t, NvmlProcessBusy> latest;
  for (const NvmlProcessBusy& each : samples) {
    const auto pid = static_cast<pid_t>(each.pid);
    if (std::ranges::find(processes, pid) == processes.end()) continue;
    NvmlProcessBusy& known = latest[pid];
    if (each.at_us >= known.at_us) known = each;
  }
  double share = 0;
  for (const auto& [pid, each] : latest) share += each.gpu_pct / 100.0;
  return std::min(share, 1.0);
}

std::vector<pid_t> NvmlLibrary::processes_on(const std::string& uuid) const {
  std::vector<pid_t> out;
  for (const NvmlProcess& process : running(uuid)) out.push_back(static_cast<pid_t>(process.pid));
  return out;
}

base::Status NvmlLibrary::set_power_limit(const std::string& uuid, double watts) const {
  NvmlDevice gpu = device(uuid);
  if (gpu == nullptr || f_.set_power_limit == nullptr || f_.power_limit_default == nullptr) {
    return base::failed(fmt::format("the power limit of GPU '{}' cannot be set", uuid));
  }
  unsigned limit_mw = 0;
  int code = kNvmlSuccess;
  if (watts > 0) {
    unsigned lowest = 0;
    unsigned highest = ~0U;
    if (f_.power_limit_range != nullptr) {
      static_cast<void>(f_.power_limit_range(gpu, &lowest, &highest));
    }
    const double wanted_mw = std::clamp<double>(watts * 1000, lowest, highest);
    limit_mw = static_cast<unsigned>(wanted_mw);
  } else {
    code = f_.power_limit_default(gpu, &limit_mw);
  }
  if (code == kNvmlSuccess) code = f_.set_power_limit(gpu, limit_mw);
  if (code == kNvmlSuccess) return {};
  return base::failed(
      fmt::format("cannot set the power limit of GPU '{}': {}", uuid, explain(code)),
      "only root may set power limits");
}

}  // namespace goban::base::gpus
