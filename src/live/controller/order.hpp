// Orders that follow from decisions, to the engine and to accounting.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/model/cluster.hpp"
#include "live/engine.hpp"

namespace goban::live::controller {

/// Engines know a GPU by its node and its index there.
[[nodiscard]] inline GpuPlace place_of(const core::model::Cluster& cluster, GpuId gpu) {
  const core::model::Node& node = cluster.node(cluster.node_of(gpu));
  return {.node = node.name, .index = static_cast<int32_t>(gpu.value - node.first_gpu)};
}

struct StopRun {
  RunId run{};
  StopReason reason = StopReason::Preempted;
  StopUrgency urgency = StopUrgency::Ask;
};
struct SuspendRun {
  RunId run{};
  bool suspended = false;  ///< otherwise it goes on
};
struct CapGpu {
  GpuPlace gpu{};
  double watts = 0;  ///< 0 = no limit
};
struct RestNode {
  std::string node{};
};
struct WakeNode {
  std::string node{};
};
/// Nothing runs on the node, and nothing that was started there will be.
struct FenceNode {
  std::string node{};
};
/// The job is finished: its record goes to the history store, then the input Accounted follows.
struct AccountFor {
  JobId job{};
};
/// A job of the engine's queue was cancelled here and has no run: the engine is to end it.
struct WithdrawJob {
  JobId job{};
  std::string engine_id{};
};
/// A run that somebody else started is Goban's from now on.
struct AdoptRun {
  LaunchOrder order{};
};
using Order = std::variant<LaunchOrder, StopRun, SuspendRun, CapGpu, RestNode, WakeNode, AccountFor,
                           WithdrawJob, AdoptRun, FenceNode, StageOrder>;

}  // namespace goban::live::controller
