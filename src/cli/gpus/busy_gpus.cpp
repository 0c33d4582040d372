#include "cli/gpus/busy_gpus.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "cli/jobs/live_client.hpp"

namespace goban::cli {

using nlohmann::json;

base::Result<BusyGpus> busy_by_jobs(const base::gpus::MachineGpus& machine,
                                    const std::string& server) {
  auto client = connect(server);
  if (!client) return base::failure(client.error());
  constexpr double kTimeout_s = 5;
  client->set_timeout(kTimeout_s);
  const auto answer = get_json(*client, "/v1/cluster");
  if (!answer) {
    if (server.empty() && client->last_status() == 0) return BusyGpus{};  // no daemon runs
    return base::failure(answer.error());
  }
  BusyGpus held;
  for (const json& rack : list_of(*answer, "racks")) {
    for (const json& node : list_of(rack, "nodes")) {
      for (const json& gpu : list_of(node, "gpus")) {
        const json jobs = list_of(gpu, "jobs");
        if (jobs.empty()) continue;
        held[static_cast<int32_t>(number_of(gpu, "gpu"))] =
            fmt::format("job {} of the daemon runs on it", jobs.front().dump());
      }
    }
  }
  const auto managed = static_cast<size_t>(number_of(*answer, "num_gpus"));
  if (managed == machine.gpus.size() || held.empty()) return held;
  BusyGpus all;
  for (const auto& gpu : machine.gpus) {
    all[gpu.index] = fmt::format("the daemon manages {}, not {}, and runs jobs",
                                 base::counted(managed, "GPU"), machine.gpus.size());
  }
  return all;
}

}  // namespace goban::cli
