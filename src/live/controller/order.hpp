// Orders that follow from decisions, to the engine and to accounting.
#pragma once

#include <variant>
#include <vector>

#include "live/engine.hpp"

namespace goban::live::controller {

struct LaunchRun {
  LaunchOrder order{};
};
struct StopRun {
  RunId run{};
  StopReason reason = StopReason::Preempted;
};
struct CapGpu {
  GpuId gpu{};
  double watts = 0;  ///< 0 = no limit
};
struct RestNode {
  NodeId node{};
};
struct WakeNode {
  NodeId node{};
};
/// The job is finished: its record goes to the history store, then the input Accounted follows.
struct AccountFor {
  JobId job{};
};
using Order = std::variant<LaunchRun, StopRun, CapGpu, RestNode, WakeNode, AccountFor>;

}  // namespace goban::live::controller
