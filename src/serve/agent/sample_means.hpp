// Samplings of a node's GPUs, reduced to one sample of each GPU an interval.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "serve/agent/job_scan.hpp"
#include "site/telemetry/gpu_sampler.hpp"

namespace goban::serve::agent {

class SampleMeans {
 public:
  void add(const site::telemetry::Sampling& sampling);
  /// Means of shares, power and clocks; of memory and processes the largest. A metric that the GPU
  /// never had is not available. Begins anew.
  [[nodiscard]] std::vector<site::telemetry::AgentSample> take();

 private:
  struct Sum {
    double sum = 0, most = 0;
    int64_t count = 0;
    bool not_available = false;
  };
  /// By index of the GPU; "" for the node.
  std::map<std::string, std::map<site::series::Metric, Sum>> devices_{};
};

/// The sampling of virtual GPUs: utilisation is the CPU time of the jobs that hold one over
/// `over_s`, memory is theirs, both divided by their GPUs.
[[nodiscard]] site::telemetry::Sampling virtual_sampling(const std::string& node, int32_t num_gpus,
                                                         const ScannedJobs& jobs, double over_s);

}  // namespace goban::serve::agent
