// Samples this node's GPUs periodically, for a file or over HTTP (`goban collect`).
#pragma once

#include <functional>
#include <string>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "site/telemetry/gpu_sampler.hpp"

namespace goban::site::telemetry {

struct CollectOptions {
  std::string program{};  ///< such as nvidia-smi; empty: NVIDIA's library, otherwise nvidia-smi
  double timeout_s = 10;  ///< of one reading
  double interval_s = 0;  ///< between samplings; 0: one sampling
  /// Called with a problem of the driver when it appears or changes.
  std::function<void(const std::string&)> warn{};
};

/// Writes `folder`/goban_gpu.prom after each sampling until cancelled. False if a single sampling
/// had a problem, which is reported in the file. Errors: Failed if the file cannot be written.
[[nodiscard]] base::Result<bool> collect_to_file(const CollectOptions& options,
                                                 const std::string& folder,
                                                 const base::Progress& progress);

/// Serves the last sampling at `listen` (parse_listen()) until cancelled; one that is older than
/// three intervals is reported as failed. `started` is called with the address once it is served.
/// Errors: those of parse_listen() and Exporter::start().
[[nodiscard]] base::Result<bool> collect_over_http(
    const CollectOptions& options, const std::string& listen, const base::Progress& progress,
    const std::function<void(const std::string& url)>& started);

}  // namespace goban::site::telemetry
