// For tests: the jobs of a simulated cluster, and where its own rules let them run.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "live/loop/commit_cycle.hpp"

namespace goban::live::loop {

using PlacedGpu = std::pair<std::string, int32_t>;  ///< node and index

struct PlacedJob {
  bool managed = true;
  bool running = false;
  bool held = false;
  int32_t num_gpus = 1;  ///< of all parts
  int32_t parts = 1;     ///< several: equal ones, each on a node of its own
  bool equal = false;    ///< all parts have GPUs of the same indices
  std::string partition = "long";
  TimeNs takes_ns = 0;
  TimeNs ends_ns = 0;
  std::set<PlacedGpu> gpus{};
  RunId run{};  ///< as which it was launched by Goban; invalid: by somebody else
};

/// Nodes n0, n1, ...: the odd ones are in both partitions.
inline std::vector<std::string> partitions_by_name(const std::string& node) {
  if (node == "n0") return {"short"};
  if ((node.back() - '0') % 2 == 0) return {"long"};
  return {"long", "short"};
}

inline bool is_of_partition(const PlacedJob& job, const std::string& node) {
  const std::vector<std::string> partitions = partitions_by_name(node);
  return std::ranges::find(partitions, job.partition) != partitions.end();
}

/// A cluster with these partitions would give a job these GPUs.
inline bool is_place_of(const PlacedJob& job, const std::set<PlacedGpu>& gpus) {
  std::map<std::string, std::set<int32_t>> indices;
  for (const auto& [node, index] : gpus) {
    if (!is_of_partition(job, node)) return false;
    indices[node].insert(index);
  }
  if (job.parts < 2) return true;
  return static_cast<int32_t>(indices.size()) == job.parts &&
         std::ranges::all_of(indices, [&](const auto& each) {
           return job.equal ? each.second == indices.begin()->second
                            : each.second.size() == indices.begin()->second.size();
         });
}

}  // namespace goban::live::loop
