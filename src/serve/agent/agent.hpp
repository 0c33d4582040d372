// The agent of a node (`goban agent`): samples its GPUs, watches its jobs, and reports both to the
// daemon. Keeps nothing on disk. A daemon that does not answer delays nothing but its own reports.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "site/telemetry/agent_report.hpp"

namespace goban::serve::agent {

struct AgentOptions {
  std::string server{};  ///< as in api::find_server()
  std::string node{};    ///< as the cluster names it
  double interval_s = 60;
  double sample_s = 5;       ///< between readings of the driver
  std::string program{};     ///< such as nvidia-smi; empty: NVIDIA's library, otherwise nvidia-smi
  double timeout_s = 10;     ///< of one reading
  int32_t virtual_gpus = 0;  ///< instead of those of the driver
  std::string socket{};      ///< of progress reports; empty: none
  std::string proc = "/proc";
  size_t samples_max = 20'000;
  std::function<void(const std::string&)> say{};  ///< problems, when they appear and when they end
};

/// Runs until cancelled. Errors: Failed if the progress socket cannot be opened; Usage if the
/// address of the server is none.
[[nodiscard]] base::Status run_agent(const AgentOptions& options, const base::Progress& progress);

/// One report, over two readings, without a server.
[[nodiscard]] site::telemetry::AgentReport one_report(const AgentOptions& options,
                                                      const base::Progress& progress);

}  // namespace goban::serve::agent
