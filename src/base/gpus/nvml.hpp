// NVIDIA's management library, loaded at run time: neither the build nor the start requires it.
// Declared by hand after nvml.h of drivers 450 to 580; the functions and structs used here are
// stable.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/gpus/gpu.hpp"
#include "base/result.hpp"

namespace goban::base::gpus {

using NvmlDevice = void*;

struct NvmlMemory {
  unsigned long long total = 0, free = 0, used = 0;
};
struct NvmlUtilization {
  unsigned int gpu = 0, memory = 0;
};
/// nvmlPciInfo_t of version 3.
struct NvmlPci {
  std::array<char, 16> bus_id_legacy{};
  unsigned int domain = 0, bus = 0, device = 0, device_id = 0, subsystem_id = 0;
  std::array<char, 32> bus_id{};
};
/// nvmlProcessInfo_t of nvmlDeviceGetComputeRunningProcesses_v2 and _v3.
struct NvmlProcess {
  unsigned int pid = 0;
  unsigned long long used_bytes = 0;
  unsigned int gpu_instance = 0, compute_instance = 0;
};
/// nvmlProcessUtilizationSample_t.
struct NvmlProcessBusy {
  unsigned int pid = 0;
  unsigned long long at_us = 0;
  unsigned int gpu_pct = 0, memory_pct = 0, encoder_pct = 0, decoder_pct = 0;
};
using NvmlGpmSample = void*;
/// nvmlGpmSupport_t.
struct NvmlGpmSupport {
  unsigned int version = 1, is_supported = 0;
};
/// nvmlGpmMetric_t.
struct NvmlGpmMetric {
  unsigned int id = 0;
  int code = 0;
  double value = 0;
  const char *short_name = nullptr, *long_name = nullptr, *unit = nullptr;
};
/// nvmlGpmMetricsGet_t; the library reads the first `count` entries of its longer array.
struct NvmlGpmMetrics {
  unsigned int version = 1, count = 0;
  NvmlGpmSample from = nullptr, to = nullptr;
  std::array<NvmlGpmMetric, 16> metrics{};
};
inline constexpr int kNvmlNotFound = 6;
inline constexpr int kNvmlSuccess = 0;
inline constexpr int kNvmlInsufficientSize = 7;
inline constexpr unsigned long long kNvmlNotAvailable = ~0ULL;

/// The functions used; each returns 0 on success.
struct NvmlFunctions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*device_count)(unsigned*) = nullptr;
  int (*device_by_index)(unsigned, NvmlDevice*) = nullptr;
  int (*device_by_uuid)(const char*, NvmlDevice*) = nullptr;
  int (*name)(NvmlDevice, char*, unsigned) = nullptr;
  int (*uuid)(NvmlDevice, char*, unsigned) = nullptr;
  int (*pci)(NvmlDevice, NvmlPci*) = nullptr;
  int (*memory)(NvmlDevice, NvmlMemory*) = nullptr;
  int (*utilization)(NvmlDevice, NvmlUtilization*) = nullptr;
  // May be missing on old GPUs or not permitted; callers must do without them.
  int (*power_mw)(NvmlDevice, unsigned*) = nullptr;
  int (*energy_mj)(NvmlDevice, unsigned long long*) = nullptr;
  int (*temperature)(NvmlDevice, int sensor, unsigned*) = nullptr;
  int (*clock_mhz)(NvmlDevice, int kind, unsigned*) = nullptr;
  int (*power_limit_default)(NvmlDevice, unsigned*) = nullptr;
  int (*power_limit_range)(NvmlDevice, unsigned* lowest, unsigned* highest) = nullptr;
  int (*set_power_limit)(NvmlDevice, unsigned) = nullptr;
  int (*processes)(NvmlDevice, unsigned*, NvmlProcess*) = nullptr;
  /// All samples since a time; "not found" if there are none.
  int (*process_busy)(NvmlDevice, NvmlProcessBusy*, unsigned*,
                      unsigned long long since_us) = nullptr;
  // Performance counters: Hopper and later.
  int (*gpm_support)(NvmlDevice, NvmlGpmSupport*) = nullptr;
  int (*gpm_sample_alloc)(NvmlGpmSample*) = nullptr;
  int (*gpm_sample_free)(NvmlGpmSample) = nullptr;
  int (*gpm_sample_get)(NvmlDevice, NvmlGpmSample) = nullptr;
  int (*gpm_metrics)(NvmlGpmMetrics*) = nullptr;
  int (*vbios_version)(NvmlDevice, char*, unsigned) = nullptr;
  // MIG instances; missing before driver 450 and on GPUs without MIG.
  int (*mig_mode)(NvmlDevice, unsigned* current, unsigned* pending) = nullptr;
  int (*mig_count_max)(NvmlDevice, unsigned*) = nullptr;
  int (*mig_device)(NvmlDevice, unsigned, NvmlDevice*) = nullptr;
  int (*gpu_instance)(NvmlDevice, unsigned*) = nullptr;
  int (*compute_instance)(NvmlDevice, unsigned*) = nullptr;
  int (*minor_number)(NvmlDevice, unsigned*) = nullptr;  ///< of /dev/nvidia<N>
};

/// A physical GPU, whether or not it is divided into MIG instances.
struct PhysicalGpu {
  std::string uuid{};
  std::string name{};
  bool mig = false;
};

/// The library, open and initialised during the lifetime of this object. Thread-safe.
class NvmlLibrary {
 public:
  /// `path`: empty = $GOBAN_NVML, then libnvidia-ml.so.1. Errors: Failed with the file, the message
  /// of the loader or driver, and the remedy.
  [[nodiscard]] static base::Result<std::shared_ptr<const NvmlLibrary>> load(
      const std::string& path = {});
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  [[nodiscard]] std::string driver_version() const;
  /// Version of the GPU's firmware (VBIOS); empty = unknown.
  [[nodiscard]] std::string firmware(const std::string& uuid) const;
  /// All GPUs by PCI address, the order of CUDA_DEVICE_ORDER=PCI_BUS_ID. A GPU that is divided into
  /// MIG instances is replaced by its instances, whose UUIDs begin with "MIG-". Errors: Failed if
  /// the driver reports an error.
  [[nodiscard]] base::Result<std::vector<LocalGpu>> gpus() const;
  /// In the driver's order, as in nvidia-smi. Errors: Failed if the driver reports an error.
  [[nodiscard]] base::Result<std::vector<PhysicalGpu>> physical_gpus() const;
  [[nodiscard]] GpuReading read(const std::string& uuid) const;
  /// Memory of these processes on the GPU, in bytes; -1 = unknown.
  [[nodiscard]] int64_t memory_of(const std::string& uuid,
                                  const std::vector<pid_t>& processes) const;
  /// Share of time, 0 to 1, in which the GPU was busy for these processes during about the last
  /// second; negative = unknown.
  [[nodiscard]] double busy_share(const std::string& uuid,
                                  const std::vector<pid_t>& processes) const;
  /// Processes that compute on the GPU.
  [[nodiscard]] std::vector<pid_t> processes_on(const std::string& uuid) const;
  /// For callers of functions that this class does not wrap; null: no such GPU.
  [[nodiscard]] NvmlDevice device(const std::string& uuid) const;
  [[nodiscard]] const NvmlFunctions& functions() const { return f_; }
  /// Sets the power limit; 0 = the GPU's default. Errors: Failed (no permission, out of range).
  [[nodiscard]] base::Status set_power_limit(const std::string& uuid, double watts) const;

 private:
  NvmlLibrary() = default;
  [[nodiscard]] bool is_cut(NvmlDevice device) const;
  /// Name, UUID and memory. Returns the driver's code.
  [[nodiscard]] int describe(NvmlDevice device, LocalGpu& gpu) const;
  /// Whoever can open these can compute on the GPU.
  [[nodiscard]] std::vector<DeviceNumber> devices_of(NvmlDevice device,
                                                     const std::string& pci) const;
  /// Further ones of a MIG instance.
  [[nodiscard]] std::vector<DeviceNumber> devices_of_slice(NvmlDevice whole,
                                                           NvmlDevice slice) const;
  /// The MIG instances of a GPU in the driver's order; empty: not divided.
  [[nodiscard]] std::vector<LocalGpu> slices(NvmlDevice whole, const LocalGpu& gpu) const;
  [[nodiscard]] std::vector<NvmlProcess> running(const std::string& uuid) const;
  [[nodiscard]] std::string explain(int code) const;

  void* file_ = nullptr;
  bool initialised_ = false;
  NvmlFunctions f_{};
};

}  // namespace goban::base::gpus
