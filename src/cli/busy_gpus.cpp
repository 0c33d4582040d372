#include "cli/busy_gpus.hpp"

#include <chrono>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "cli/live_client.hpp"

namespace goban::cli {
namespace {

using nlohmann::json;
using service::MachineGpus;

struct CoreTicks {
  int64_t busy = 0;
  int64_t all = 0;
};

/// Of each core since the machine started, by /proc/stat.
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

BusyGpus busy_cores(const MachineGpus& machine) {
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

BusyGpus busy_by_use(const MachineGpus& machine) {
  if (machine.nvml == nullptr) return busy_cores(machine);
  BusyGpus out;
  for (const auto& gpu : machine.gpus) {
    const auto processes = machine.nvml->processes_on(gpu.uuid);
    const auto now = machine.nvml->read(gpu.uuid);
    if (!processes.empty()) {
      out[gpu.index] = fmt::format("process {} computes on it", processes.front());
    } else if (now.util_pct > kIdleGpuPctMax) {
      out[gpu.index] = fmt::format("it is {:.0f} % busy", now.util_pct);
    }
  }
  return out;
}

base::Result<BusyGpus> busy_by_jobs(const MachineGpus& machine, const std::string& server) {
  auto client = connect(server);
  if (!client) return base::failure(client.error());
  constexpr double kTimeout_s = 5;
  client->set_timeout(kTimeout_s);
  const auto answer = get_json(*client, "/v1/cluster");
  if (!answer) {
    if (server.empty() && client->last_status() == 0) return BusyGpus{};  // there is none
    return base::failure(answer.error());
  }
  BusyGpus held;
  for (const json& rack : list_of(*answer, "racks")) {
    for (const json& node : list_of(rack, "nodes")) {
      for (const json& gpu : list_of(node, "gpus")) {
        const json jobs = list_of(gpu, "jobs");
        if (jobs.empty()) continue;
        held[static_cast<int32_t>(number_of(gpu, "gpu"))] =
            fmt::format("job {} of the daemon runs there", jobs.front().dump());
      }
    }
  }
  const auto managed = static_cast<size_t>(number_of(*answer, "num_gpus"));
  if (managed == machine.gpus.size() || held.empty()) return held;
  BusyGpus all;
  for (const auto& gpu : machine.gpus) {
    all[gpu.index] =
        fmt::format("the daemon has {} GPUs, not {}, and runs jobs", managed, machine.gpus.size());
  }
  return all;
}

}  // namespace goban::cli
