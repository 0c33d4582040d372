// Nodes and GPUs as they are now, and which jobs hold them. Copied out of a snapshot, so that the
// scheduler waits for a moment only.
#pragma once

#include <string>
#include <vector>

#include "serve/api/scheduler_client.hpp"

namespace goban::serve::api {

struct ClusterView {
  const core::model::Cluster* cluster = nullptr;
  std::vector<std::vector<core::model::JobId>> holders{};  ///< by GPU: jobs that run or start there
  std::vector<std::string> drain_reason{};                 ///< by node; "" = none
  std::vector<bool> is_drained{};                          ///< by node
  std::vector<bool> is_open{};                             ///< by node: neither down nor asleep
  std::vector<bool> is_asleep{};  ///< by node: rests, or is on its way back
  struct Promise {
    core::model::ReservationId reservation{};
    base::TimeNs start_ns = 0;
    base::TimeNs end_ns = 0;
  };
  std::vector<std::vector<Promise>> promises{};  ///< by node: open reservations, by their numbers
  std::vector<std::vector<double>> scores{};     ///< by class, by GPU

  /// "free", "busy", "shared" (several holders), "drained", "asleep" or "down" of a GPU.
  [[nodiscard]] const char* gpu_state(core::model::GpuId gpu) const;
  /// "up", "drained", "draining" (drained, jobs still run), "asleep" (the scheduler let it rest,
  /// and wakes it when a job needs it) or "down" of a node.
  [[nodiscard]] const char* node_state(size_t node) const;
  [[nodiscard]] uint32_t held_gpus(size_t node) const;
};

[[nodiscard]] ClusterView view_cluster(const SchedulerSnapshot& snapshot, bool with_scores);

}  // namespace goban::serve::api
