// Contention for the links between racks: jobs that span racks share the uplinks of their racks,
// and slow each other down where these are over-subscribed.
//
// A rack of N nodes has uplinks for r N nodes at full speed, r = the uplink ratio. A job that would
// communicate for a share c of its time puts a demand of c per node on the uplinks of its racks.
// Where the sum D of a rack exceeds r N, all traffic across it takes o = D / (r N) times as long
// (fluid model, equal shares). A job with its worst rack at o runs 1 + c (o - 1) times slower.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "core/model/cluster.hpp"
#include "core/model/job.hpp"

namespace goban::study::simulator {

struct ContentionSettings {
  /// Share of its time that a job spanning racks communicates when alone, from 0 to 1.
  double communication_share = 0;
  /// Bandwidth between racks / bandwidth inside one; none: from the links of the cluster.
  std::optional<double> uplink_ratio;
};

/// The load on the uplinks as jobs start and stop.
class LinkContention {
 public:
  /// Errors: Usage if the cluster has no racks, or states no bandwidths and no ratio is given.
  [[nodiscard]] static base::Result<LinkContention> make(const core::model::Cluster& cluster,
                                                         const ContentionSettings& settings);

  /// A job starts or stops. Returns the jobs whose speed may have changed, including the job itself
  /// if it starts across racks; valid until the next call.
  std::span<const core::model::JobId> start(core::model::JobId job,
                                            std::span<const core::model::GpuId> gpus);
  std::span<const core::model::JobId> stop(core::model::JobId job);

  /// Slowdown of a running job against running alone; 1 for jobs within a rack.
  [[nodiscard]] double slowdown(core::model::JobId job) const;

 private:
  struct RackShare {
    uint32_t rack;
    int32_t nodes;
  };
  LinkContention(const core::model::Cluster& cluster, size_t rack_level, double ratio,
                 double share);

  void change(const std::vector<RackShare>& racks, int sign);
  /// Jobs on these racks, without duplicates, by id.
  void collect(const std::vector<RackShare>& racks);

  const core::model::Cluster* cluster_;
  size_t rack_level_;
  double share_;
  std::vector<double> capacity_nodes_;                 ///< by rack: r N
  std::vector<int32_t> demand_nodes_;                  ///< by rack: nodes of jobs that span racks
  std::vector<std::vector<core::model::JobId>> jobs_;  ///< by rack
  std::unordered_map<core::model::JobId, std::vector<RackShare>> spans_;
  std::vector<core::model::JobId> affected_;
};

}  // namespace goban::study::simulator
