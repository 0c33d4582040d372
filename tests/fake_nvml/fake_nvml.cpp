// A stand-in for libnvidia-ml.so.1 with two GPUs, listed against the order of their PCI addresses.
// Energy grows by 100 J at each reading, or with time if FAKE_NVML_WATTS says how fast; the file in
// FAKE_NVML_PROCESS holds a process id that has 300 MiB on the first GPU. With FAKE_NVML_IDLE no
// GPU is used; FAKE_NVML_DRIVER is the version. With FAKE_NVML_HIDES nobody is told what a process
// has. With FAKE_NVML_COUNTERS the first GPU has performance counters. With FAKE_NVML_MIG the
// second GPU is cut into slices: three places for them, one of which is empty.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {
constexpr unsigned kGpus = 2;
unsigned long long energy_mj[kGpus];
unsigned limit_mw[kGpus] = {700'000, 700'000};
int number_of(void* device) {
  return static_cast<int>(reinterpret_cast<char*>(device) - static_cast<char*>(nullptr)) - 1;
}
void* device_of(unsigned number) { return static_cast<char*>(nullptr) + number + 1; }
constexpr unsigned kFirstSlice = 10;  // numbers of devices that are slices
bool is_slice(void* device) { return number_of(device) >= static_cast<int>(kFirstSlice); }
constexpr int kNotFound = 6;
constexpr int kInvalid = 2;
/// 0 = there is none.
unsigned process_of_test() {
  const char* file = std::getenv("FAKE_NVML_PROCESS");
  std::FILE* open = file == nullptr ? nullptr : std::fopen(file, "r");
  unsigned pid = 0;
  const bool known = open != nullptr && std::fscanf(open, "%u", &pid) == 1;
  if (open != nullptr) std::fclose(open);
  return known ? pid : 0;
}
}  // namespace

extern "C" {
struct Memory {
  unsigned long long total, free, used;
};
struct Utilization {
  unsigned gpu, memory;
};
struct Pci {
  char bus_id_legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
struct ProcessBusy {
  unsigned pid;
  unsigned long long at_us;
  unsigned gpu_pct, memory_pct, encoder_pct, decoder_pct;
};
struct GpmSupport {
  unsigned version, is_supported;
};
struct GpmMetric {
  unsigned id;
  int code;
  double value;
  const char *short_name, *long_name, *unit;
};
struct GpmMetrics {
  unsigned version, count;
  int *from, *to;
  GpmMetric metrics[1];  // and more
};
struct Process {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};

int nvmlInit_v2() { return std::getenv("FAKE_NVML_BROKEN") == nullptr ? 0 : 9; }
int nvmlShutdown() { return 0; }
const char* nvmlErrorString(int) { return "Driver Not Loaded"; }
int nvmlSystemGetDriverVersion(char* out, unsigned size) {
  const char* driver = std::getenv("FAKE_NVML_DRIVER");
  std::snprintf(out, size, "%s", driver == nullptr ? "550.1" : driver);
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* out) {
  *out = kGpus;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** out) {
  if (index >= kGpus) return kInvalid;
  *out = device_of(index);
  return 0;
}
int nvmlDeviceGetUUID(void* device, char* out, unsigned size) {
  if (is_slice(device)) {
    std::snprintf(out, size, "MIG-b%d", number_of(device) - static_cast<int>(kFirstSlice));
  } else {
    std::snprintf(out, size, "GPU-%c", 'a' + number_of(device));
  }
  return 0;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** out) {
  for (unsigned i = 0; i < kGpus; ++i) {
    char own[16];
    nvmlDeviceGetUUID(device_of(i), own, sizeof own);
    if (std::strcmp(own, uuid) != 0) continue;
    *out = device_of(i);
    return 0;
  }
  return kNotFound;
}
int nvmlDeviceGetName(void*, char* out, unsigned size) {
  std::snprintf(out, size, "NVIDIA H200");
  return 0;
}
int nvmlDeviceGetPciInfo_v3(void* device, Pci* out) {
  *out = {};
  std::snprintf(out->bus_id, sizeof out->bus_id, "00000000:%02X:00.0", 9 - number_of(device));
  return 0;
}
int nvmlDeviceGetVbiosVersion(void*, char* out, unsigned size) {
  std::snprintf(out, size, "96.00.A5.00.01");
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* out) {
  *out = {143ULL << 30, 142ULL << 30, 1ULL << 30};
  if (is_slice(device)) *out = {18ULL << 30, 18ULL << 30, 0};
  return 0;
}
int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  *current = *pending = number_of(device) == 1 && std::getenv("FAKE_NVML_MIG") != nullptr ? 1 : 0;
  return 0;
}
int nvmlDeviceGetMaxMigDeviceCount(void*, unsigned* out) {
  *out = 3;
  return 0;
}
int nvmlDeviceGetMigDeviceHandleByIndex(void*, unsigned index, void** out) {
  if (index == 1) return kNotFound;
  *out = device_of(kFirstSlice + index);
  return 0;
}
/// Of /dev/nvidia<N>; not the index.
int nvmlDeviceGetMinorNumber(void* device, unsigned* out) {
  *out = 5U - static_cast<unsigned>(number_of(device));
  return 0;
}
int nvmlDeviceGetUtilizationRates(void* device, Utilization* out) {
  *out = {number_of(device) == 0 ? 80U : 40U, 10};
  if (std::getenv("FAKE_NVML_IDLE") != nullptr) *out = {0, 0};
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* out) {
  if (const char* watts = std::getenv("FAKE_NVML_WATTS"); watts != nullptr) {
    // The same counter in all processes.
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double ran_s = static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
    *out = static_cast<unsigned long long>(std::atof(watts) * 1000 * ran_s);
    return 0;
  }
  *out = energy_mj[number_of(device)] += 100'000;
  return 0;
}
int nvmlDeviceGetPowerManagementDefaultLimit(void*, unsigned* out) {
  *out = 700'000;
  return 0;
}
int nvmlDeviceGetPowerManagementLimitConstraints(void*, unsigned* lowest, unsigned* highest) {
  *lowest = 200'000;
  *highest = 700'000;
  return 0;
}
int nvmlDeviceSetPowerManagementLimit(void* device, unsigned mw) {
  limit_mw[number_of(device)] = mw;
  return 0;
}
/// Power is the limit, so that a test sees it. (Temperature is missing, as on
/// some GPUs.)
int nvmlDeviceGetPowerUsage(void* device, unsigned* out) {
  *out = limit_mw[number_of(device)];
  return 0;
}
/// Kind 1 is the SM clock, 2 that of the memory. FAKE_NVML_HANGS: the driver answers much later.
int nvmlDeviceGetClockInfo(void* device, int kind, unsigned* out) {
  if (const char* hangs = std::getenv("FAKE_NVML_HANGS"); hangs != nullptr) {
    timespec pause{};
    pause.tv_sec = std::atoi(hangs);
    nanosleep(&pause, nullptr);
  }
  if (number_of(device) != 0) return 3;  // not supported
  *out = kind == 1 ? 1980 : 3201;
  return 0;
}
/// The process of FAKE_NVML_PROCESS keeps GPU 0 busy for a quarter of the time, as its latest
/// sample says; others the rest.
int nvmlDeviceGetProcessUtilization(void* device, ProcessBusy* out, unsigned* count,
                                    unsigned long long since_us) {
  const unsigned pid = process_of_test();
  if (pid == 0 || number_of(device) != 0) return kNotFound;
  if (*count < 3) {
    *count = 3;
    return 7;
  }
  *count = 3;
  out[0] = {pid, since_us + 10, 25, 0, 0, 0};
  out[1] = {pid, since_us + 5, 90, 0, 0, 0};
  out[2] = {pid + 1, since_us + 20, 60, 0, 0, 0};
  return 0;
}
int nvmlGpmQueryDeviceSupport(void* device, GpmSupport* out) {
  if (out->version != 1) return kInvalid;
  out->is_supported = number_of(device) == 0 && std::getenv("FAKE_NVML_COUNTERS") != nullptr;
  return 0;
}
int nvmlGpmSampleAlloc(int** out) {
  *out = new int(0);
  return 0;
}
int nvmlGpmSampleFree(int* sample) {
  delete sample;
  return 0;
}
/// Samples are numbered.
int nvmlGpmSampleGet(void*, int* sample) {
  static int count = 0;
  *sample = ++count;
  return 0;
}
/// Memory at 30 % between the first two samples and at 50 % later; tensor cores at 40 %, FP32 at
/// 15 %; there is no FP64.
int nvmlGpmMetricsGet(GpmMetrics* query) {
  if (query->version != 1 || *query->from == 0 || *query->to <= *query->from) return kInvalid;
  for (unsigned i = 0; i < query->count; ++i) {
    GpmMetric& each = query->metrics[i];
    each.code = each.id == 11 ? 3 : 0;
    each.value = each.id == 10   ? (*query->from == 1 ? 30 : 50)
                 : each.id == 5  ? 40
                 : each.id == 12 ? 15
                                 : 0;
  }
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, Process* out) {
  const unsigned pid = process_of_test();
  if (pid == 0 || number_of(device) != 0) {
    *count = 0;
    return 0;
  }
  if (*count < 1) return 7;
  *count = 1;
  *out = {pid, std::getenv("FAKE_NVML_HIDES") == nullptr ? 300ULL << 20 : ~0ULL, 0, 0};
  return 0;
}
}
