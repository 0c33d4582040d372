// The read-only view of policies, without engine, clock and I/O.
#pragma once

#include <vector>

#include "core/knowledge/bin_counts.hpp"
#include "core/knowledge/locality.hpp"
#include "core/knowledge/pm_scores.hpp"
#include "core/model/cluster.hpp"
#include "core/model/free_gpus.hpp"
#include "core/model/job.hpp"

namespace goban::core::policy {

using base::TimeNs;
using model::AppClass;
using model::GpuId;
using model::JobId;
using model::NodeId;

/// Slowdown of jobs by GPUs and class.
struct SpeedModel {
  const model::Cluster* cluster = nullptr;
  const knowledge::PmScores* scores = nullptr;
  const knowledge::LocalityPenalties* penalties = nullptr;

  /// Slowdown relative to PM score 1 and locality penalty 1: worst raw score x penalty of the span.
  [[nodiscard]] double slowdown(const model::JobRequest& job, std::span<const GpuId> gpus) const {
    if (gpus.empty()) return 1.0;
    return scores->max_raw(job.app_class, gpus) * penalties->at(cluster->span_level(gpus), job);
  }
};

/// The view of placement policies, restricted to the nodes that the job may use.
struct PlacementView {
  const SpeedModel* speed = nullptr;
  const model::FreeGpus* free = nullptr;
  /// Free GPUs by bin, one entry per class; empty unless Placement::uses_bins().
  const std::vector<knowledge::BinCounts>* bins = nullptr;

  [[nodiscard]] const knowledge::BinCounts& bins_of(AppClass app_class) const {
    return (*bins)[speed->scores->index(app_class)];
  }
};

}  // namespace goban::core::policy
