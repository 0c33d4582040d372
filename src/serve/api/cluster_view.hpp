// The current state of nodes and GPUs and the jobs that hold them. Copied from a snapshot, so that
// the scheduler is blocked only briefly.
#pragma once

#include <string>
#include <vector>

#include "live/loop/live_scheduler.hpp"

namespace goban::serve::api {

struct ClusterView {
  const core::model::Cluster* cluster = nullptr;
  std::vector<std::vector<core::model::JobId>>
      holders{};                            ///< by GPU: starting and running jobs, also found ones
  std::vector<std::string> drain_reason{};  ///< by node; "" = none
  std::vector<bool> is_drained{};           ///< by node
  std::vector<bool> is_open{};              ///< by node: neither down nor asleep
  std::vector<bool> is_asleep{};            ///< by node: asleep or waking
  std::vector<int32_t> held_cores{};        ///< by node; also of jobs without GPUs
  struct Promise {
    core::model::ReservationId reservation{};
    base::TimeNs start_ns = 0;
    base::TimeNs end_ns = 0;
  };
  std::vector<std::vector<Promise>> promises{};  ///< by node: open reservations, by number
  std::vector<std::vector<double>> scores{};     ///< by class, by GPU

  /// "free", "busy", "shared" (several holders), "drained", "asleep" or "down" of a GPU.
  [[nodiscard]] const char* gpu_state(core::model::GpuId gpu) const;
  /// "up", "drained", "draining" (drained, but jobs still run), "asleep" (the scheduler wakes it
  /// when a job needs it) or "down" of a node.
  [[nodiscard]] const char* node_state(size_t node) const;
  [[nodiscard]] uint32_t held_gpus(size_t node) const;
};

[[nodiscard]] ClusterView view_cluster(const live::loop::SchedulerSnapshot& snapshot,
                                       bool with_scores);

}  // namespace goban::serve::api
