// What is free: GPUs, their bins, host resources, and which nodes may be used until when.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/model/action.hpp"
#include "core/policy/placement/placement.hpp"
#include "core/scheduler/promised_nodes.hpp"

namespace goban::core::scheduler {

using model::Allocation;
using model::JobRequest;

/// The books of a cluster's resources. Finds allocations with a placement policy, but changes
/// nothing unless told to take or give.
class Resources {
 public:
  /// `jobs_per_gpu_max`: so many jobs may take one GPU at a time; placements see free GPUs only.
  Resources(const policy::SpeedModel& speed, const policy::Placement& placement,
            int32_t jobs_per_gpu_max = 1);

  /// An allocation for the whole job from what is free, as the placement policy chooses; false and
  /// an empty `out` if there is none. The job would hold it for that time.
  [[nodiscard]] bool find(const JobRequest& job, HoldSpan hold, uint64_t seed, Allocation& out);

  void take(const JobRequest& job, const Allocation& allocation);
  void give(const JobRequest& job, const Allocation& allocation);

  /// What is free on one node.
  struct NodeRoom {
    model::HostResources host;
    int32_t gpus = 0;
    bool open = true;
  };
  [[nodiscard]] std::span<const NodeRoom> rooms() const { return rooms_; }
  [[nodiscard]] const model::Cluster& cluster() const { return *cluster_; }

  [[nodiscard]] int32_t free_gpus() const { return free_.total(); }
  /// Of these, those that jobs of a reservation, or of none, may have at that time.
  [[nodiscard]] int32_t free_gpus(ReservationId whose, TimeNs now) const;
  [[nodiscard]] const model::FreeGpus& free() const { return free_; }
  /// Placement has to look at more than free GPUs for this job.
  [[nodiscard]] bool restricted(const JobRequest& job) const {
    return job.resource_type.valid() || has_windows();
  }

  /// Some nodes may be used until a known time only, or not by everybody.
  [[nodiscard]] bool has_windows() const { return num_limited_ > 0 || !promised_.empty(); }

  [[nodiscard]] const PromisedNodes& promised() const { return promised_; }
  [[nodiscard]] PromisedNodes& promised() { return promised_; }

  /// What a job could take just so: GPUs that so few hold that it may join them, on nodes that may
  /// be used, and parts of hosts that are free.
  [[nodiscard]] bool can_take(const JobRequest& job, const Allocation& allocation) const;
  /// Somebody holds one of the GPUs.
  [[nodiscard]] bool is_held(std::span<const model::GpuId> gpus) const;

  /// Nobody holds anything on the node, and it may be used.
  [[nodiscard]] bool idle(NodeId id) const {
    const NodeRoom& room = rooms_[id.index()];
    const model::Node& node = cluster_->node(id);
    return room.open && room.gpus == static_cast<int32_t>(node.num_gpus) && room.host == node.host;
  }
  /// The node is to be left by a known time, see drain().
  [[nodiscard]] bool has_window(NodeId id) const {
    return usable_until_[id.index()] != base::kNever;
  }

  /// When the node is to be left, see drain(); kNever = not at all.
  [[nodiscard]] TimeNs usable_until_ns(NodeId id) const { return usable_until_[id.index()]; }

  /// The node's free GPUs leave the books; GPUs given back later do not enter until it is up.
  void close(NodeId id);
  /// The node comes back, without any time by which it is to be left.
  void open(NodeId id);
  /// The node comes back as it was closed.
  void reopen(NodeId id);
  /// Nothing may run on the node from `from` on; kNever lifts that.
  void drain(NodeId node, TimeNs from);

 private:
  /// Free GPUs and bins on some nodes only.
  struct Part {
    model::FreeGpus free;
    std::vector<knowledge::BinCounts> bins;
  };

  [[nodiscard]] bool usable(NodeId node, const JobRequest& job, HoldSpan hold) const;
  [[nodiscard]] std::vector<knowledge::BinCounts> empty_bins() const;
  [[nodiscard]] Part part_of(std::span<const NodeId> nodes) const;
  /// Brings `part` up to date on one node: it offers the node's free GPUs if the node is open and
  /// has, with `left` of the host, room for an instance of `type`.
  void sync(Part& part, const model::ResourceType& type, NodeId id,
            const model::HostResources& left) const;
  /// Follows a change on the nodes of an allocation, or on one node, in all parts by type.
  void follow(const Allocation& allocation);
  void sync_types(NodeId node);
  [[nodiscard]] Part& part_of_type(model::ResourceTypeId id);
  [[nodiscard]] bool find_instances(const JobRequest& job, HoldSpan hold, uint64_t seed,
                                    Allocation& out);
  /// Places the instances one by one on what `part` offers, taking each off it. The nodes used are
  /// in `out.hosts`, which is filled as far as it went if there is no place for all.
  [[nodiscard]] bool place_instances(const JobRequest& job, const model::ResourceType& type,
                                     uint64_t seed, Part& part, Allocation& out) const;
  [[nodiscard]] bool find_hosts(const JobRequest& job, const model::ResourceType& type,
                                HoldSpan hold, Allocation& out) const;
  void give_gpu(model::GpuId gpu);
  void take_gpu(model::GpuId gpu);

  policy::SpeedModel speed_;
  const policy::Placement* placement_;
  const model::Cluster* cluster_;
  model::FreeGpus free_;
  std::vector<knowledge::BinCounts> bins_;
  std::vector<NodeRoom> rooms_;       ///< by node
  std::vector<TimeNs> usable_until_;  ///< by node
  PromisedNodes promised_;
  /// By resource type: what nodes with room for an instance have free. Made when first asked for.
  std::vector<std::optional<Part>> types_;
  std::vector<uint8_t> held_;  ///< by GPU: how many jobs have it
  uint8_t jobs_per_gpu_max_;
  size_t num_limited_ = 0;  ///< nodes with usable_until < kNever
};

}  // namespace goban::core::scheduler
