// The cluster of an engine that has nodes of its own (ClusterSeen): nodes that join and leave, and
// their states. Everything is renumbered by name.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "live/controller/seen_jobs.hpp"

namespace goban::live::controller {

/// A cluster of these nodes. `like`: name, resource types and links are taken from it. `models`:
/// the first GPU models; others are added. The kinds of parts (part_types.hpp) are
/// added, those named `kinds` first. Nodes without GPUs are omitted. Errors: those of
/// ClusterBuilder.
[[nodiscard]] base::Result<core::model::Cluster> cluster_of(
    std::vector<SeenNode> nodes, const core::model::Cluster& like,
    std::span<const core::model::GpuModel> models, bool share_nodes = false,
    std::span<const std::string> kinds = {});
/// The nodes of a cluster, with invented names of racks, zones and sites.
[[nodiscard]] std::vector<SeenNode> nodes_of(const core::model::Cluster& cluster);

class Clusters {
 public:
  struct Parts {
    JobBook& book;
    DecisionCore& core;
    PowerLimits& limits;
    Runs& runs;
    Jobs& jobs;
    Nodes& nodes;
    SeenJobs& seen;
  };
  /// The parts outlive this.
  explicit Clusters(const Parts& parts) : parts_(parts) {}

  /// The list with the nodes that left and that a job, also a finished one, still names, as failed
  /// ones. For the journal: a fold still has jobs that were forgotten since.
  [[nodiscard]] ClusterSeen completed(ClusterSeen seen) const;
  /// The whole list. Nodes that unfinished jobs, runs or reservations name stay, as failed ones. A
  /// list that is no cluster only changes the states of known nodes.
  void take(const ClusterSeen& seen, TimeNs at);

  /// The field `node_list` of snapshots.
  void write(nlohmann::json& snapshot) const;
  /// Gives the core, which is new, the cluster of the snapshot. Call it before all else is read.
  void read(base::FieldReader& snapshot);

 private:
  /// Nodes that the job table, the core or an operator's drain name.
  [[nodiscard]] std::set<NodeId> named(bool by_finished) const;
  /// Nodes of which GPUs are held now.
  [[nodiscard]] std::set<NodeId> held() const;
  /// The nodes to use from now on, as a cluster can be made of them.
  [[nodiscard]] std::vector<SeenNode> wanted(const ClusterSeen& seen, bool by_finished) const;
  void change(core::model::Cluster cluster, TimeNs at);
  void follow_states(const ClusterSeen& seen, TimeNs at);

  Parts parts_;
  std::vector<SeenNode>
      list_;  ///< of which the present cluster was made; empty: the configured one
};

}  // namespace goban::live::controller
