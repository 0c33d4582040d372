// The nodes of the cluster, as `scontrol -o show node` prints them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "live/engine.hpp"

namespace goban::live::engine::slurm {

struct NodeRow {
  SeenNode node{};
  std::vector<std::string> partitions{};
  /// One type per GPU index ("g0", "g1", ...): jobs can be given GPUs by their index.
  std::vector<std::string> index_types{};
  std::vector<std::string> features{};
  int32_t shards = 0;
  bool sleeps = false;  ///< or falls asleep, or wakes up
  bool silent = false;  ///< its slurmd does not answer; Slurm has not given it up yet
};

/// Of a node whose shards are spread evenly, as Slurm does it by itself.
[[nodiscard]] constexpr int32_t shards_per_gpu(const NodeRow& node) {
  return node.node.num_gpus > 0 ? node.shards / node.node.num_gpus : 0;
}

/// Those of the node with most of them.
[[nodiscard]] std::vector<std::string> index_types_of(std::span<const NodeRow> nodes);

/// Nodes of state FUTURE do not exist yet and are left out. Errors: BadData with line and field.
[[nodiscard]] base::Result<std::vector<NodeRow>> parse_node_list(std::string_view text);

/// Up, Drained or Down, from "MIXED+DRAIN", "DOWN*", "IDLE+POWERED_DOWN".
[[nodiscard]] SeenNodeState node_state(std::string_view state);

}  // namespace goban::live::engine::slurm
