#include "live/machine/busy_gpus.hpp"

#include <chrono>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <thread>

namespace goban::live::machine {
namespace {

struct CoreTicks {
  int64_t busy = 0;
  int64_t all = 0;
};

/// Ticks of each core since boot, from /proc/stat.
std::map<int32_t, CoreTicks> core_ticks() {
  std::map<int32_t, CoreTicks> out;
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("cpu") || line.size() < 4 || line[3] == ' ') continue;
    std::istringstream words(line.substr(3));
    int32_t core = -1;
    words >> core;
    CoreTicks ticks;
    int64_t value = 0;
    constexpr int kIdle = 3;
    constexpr int kIoWait = 4;
    constexpr int kSteal = 7;
    for (int i = 0; i <= kSteal && words >> value; ++i) {
      ticks.all += value;
      if (i != kIdle && i != kIoWait) ticks.busy += value;
    }
    out[core] = ticks;
  }
  return out;
}

BusyGpus busy_cores(const base::gpus::MachineGpus& machine) {
  const auto before = core_ticks();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  auto after = core_ticks();
  BusyGpus out;
  for (const auto& gpu : machine.gpus) {
    for (const int32_t core : gpu.cpus) {
      const auto was = before.find(core);
      if (was == before.end()) continue;
      const auto all = static_cast<double>(after[core].all - was->second.all);
      const auto busy = static_cast<double>(after[core].busy - was->second.busy);
      if (all <= 0 || 100 * busy / all <= kIdleCoresPctMax) continue;
      out[gpu.index] = fmt::format("core {} is {:.0f} % busy", core, 100 * busy / all);
    }
  }
  return out;
}

}  // namespace

BusyGpus busy_by_use(const base::gpus::MachineGpus& machine) {
  if (machine.nvml == nullptr) return busy_cores(machine);
  BusyGpus out;
  for (const auto& gpu : machine.gpus) {
    const auto processes = machine.nvml->processes_on(gpu.uuid);
    const auto now = machine.nvml->read(gpu.uuid);
    if (!processes.empty()) {
      out[gpu.index] = fmt::format("process {} uses it", processes.front());
    } else if (now.util_pct > kIdleGpuPctMax) {
      out[gpu.index] = fmt::format("it is {:.0f} % busy", now.util_pct);
    }
  }
  return out;
}

}  // namespace goban::live::machine
