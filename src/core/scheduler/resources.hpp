// Free resources: GPUs, their bins, host resources; and until when nodes may be used.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/model/event.hpp"
#include "core/model/found.hpp"
#include "core/policy/placement/placement.hpp"
#include "core/scheduler/promised_nodes.hpp"

namespace goban::core::scheduler {

using model::Allocation;
using model::JobRequest;

/// Another placement for the jobs of a part of the cluster; null: none.
struct PartPlacement {
  ReservationId part{};
  const policy::Placement* placement = nullptr;
};

/// The resources of a cluster. find() searches with a placement policy and changes nothing; take()
/// and give() change what is free.
class Resources {
 public:
  /// `jobs_per_gpu_max`: maximum number of jobs on one GPU; placements see free GPUs only.
  Resources(const policy::SpeedModel& speed, const policy::Placement& placement,
            int32_t jobs_per_gpu_max = 1, PartPlacement of_part = {});

  /// An allocation for the whole job from free resources, chosen by the placement policy, to be
  /// held for the time `hold`; false and an empty `out` if there is none.
  [[nodiscard]] bool find(const JobRequest& job, HoldSpan hold, uint64_t seed, Allocation& out);

  void take(const JobRequest& job, const Allocation& allocation);
  void give(const JobRequest& job, const Allocation& allocation);
  /// Somebody else holds these, or has left them. They may be held already, also by jobs.
  void take_found(const model::FoundAllocation& found);
  void give_found(const model::FoundAllocation& found);
  /// More host resources of the node are held than it has.
  [[nodiscard]] bool is_overcommitted(NodeId id) const {
    return !rooms_[id.index()].host.covers(model::HostResources{});
  }

  /// Free resources of one node.
  struct NodeRoom {
    model::HostResources host;
    int32_t gpus = 0;
    bool open = true;
  };
  [[nodiscard]] std::span<const NodeRoom> rooms() const { return rooms_; }
  [[nodiscard]] const model::Cluster& cluster() const { return *cluster_; }

  [[nodiscard]] int32_t free_gpus() const { return free_.total(); }
  /// Free GPUs that jobs of a reservation, or of none, may use at this time.
  [[nodiscard]] int32_t free_gpus(ReservationId whose, TimeNs now) const;
  [[nodiscard]] const model::FreeGpus& free() const { return free_; }
  /// The placement of the job depends on more than free GPUs.
  [[nodiscard]] bool restricted(const JobRequest& job) const {
    return job.resource_type.valid() || num_limited_ > 0 || !promised_.has_only_parts();
  }

  /// Some nodes are drained or reserved, now or at a known time.
  [[nodiscard]] bool has_windows() const { return num_limited_ > 0 || !promised_.empty(); }

  [[nodiscard]] const PromisedNodes& promised() const { return promised_; }
  [[nodiscard]] PromisedNodes& promised() { return promised_; }

  /// True if the job can take the allocation: its GPUs have fewer jobs than the maximum, its nodes
  /// are usable, and the host resources are free.
  [[nodiscard]] bool can_take(const JobRequest& job, const Allocation& allocation) const;
  /// One of the GPUs is held by a job.
  [[nodiscard]] bool is_held(std::span<const model::GpuId> gpus) const;

  /// Nothing on the node is held, and it is open.
  [[nodiscard]] bool idle(NodeId id) const {
    const NodeRoom& room = rooms_[id.index()];
    const model::Node& node = cluster_->node(id);
    return room.open && room.gpus == static_cast<int32_t>(node.num_gpus) && room.host == node.host;
  }
  /// The node is drained from a known time on; see drain().
  [[nodiscard]] bool has_window(NodeId id) const {
    return usable_until_[id.index()] != base::kNever;
  }

  /// Time from which the node is drained; kNever = none. See drain().
  [[nodiscard]] TimeNs usable_until_ns(NodeId id) const { return usable_until_[id.index()]; }

  /// Takes the node out of service: its free GPUs, and those given back later, are not offered.
  void close(NodeId id);
  /// Returns the node to service and cancels its drain.
  void open(NodeId id);
  /// Returns the node to service; keeps its drain.
  void reopen(NodeId id);
  /// No job may run on the node from `from` on; kNever cancels the drain.
  void drain(NodeId node, TimeNs from);

 private:
  /// Free GPUs and bins on some nodes only.
  struct Part {
    model::FreeGpus free;
    std::vector<knowledge::BinCounts> bins;

    void give(model::GpuId gpu);
    void take(model::GpuId gpu);
  };

  /// The policy's choice of GPUs of `part` for one instance of `type`.
  [[nodiscard]] bool place_instance(const JobRequest& job, const model::ResourceType& type,
                                    HoldSpan hold, uint64_t seed, const Part& part,
                                    Allocation& out) const;
  [[nodiscard]] bool usable(NodeId node, const JobRequest& job, HoldSpan hold) const;
  [[nodiscard]] std::vector<knowledge::BinCounts> empty_bins() const;
  [[nodiscard]] Part part_of(std::span<const NodeId> nodes) const;
  /// Updates one node of `part`: it offers the node's free GPUs if the node is open and has, with
  /// `left` of the host, room for an instance of `type`.
  void sync(Part& part, const model::ResourceType& type, NodeId id,
            const model::HostResources& left) const;
  /// Updates the nodes of an allocation, or one node, in all parts by type.
  void follow(const Allocation& allocation);
  void sync_types(NodeId node);
  [[nodiscard]] Part& part_of_type(model::ResourceTypeId id);
  [[nodiscard]] bool find_instances(const JobRequest& job, HoldSpan hold, uint64_t seed,
                                    Allocation& out);
  /// Places the instances one by one on `part` and removes each from it. `out.hosts` gets the nodes
  /// used, incomplete if not all instances fit.
  [[nodiscard]] bool place_instances(const JobRequest& job, const model::ResourceType& type,
                                     HoldSpan hold, uint64_t seed, Part& part,
                                     Allocation& out) const;
  /// The GPUs of `part` with these indices, on the nodes that have all of them; how many do.
  [[nodiscard]] Part only_indices(const Part& part, const std::vector<uint32_t>& wanted,
                                  int32_t& nodes) const;
  /// As place_instances, on GPUs with these indices.
  [[nodiscard]] bool place_at(const std::vector<uint32_t>& indices, const JobRequest& job,
                              const model::ResourceType& type, HoldSpan hold, uint64_t seed,
                              const Part& part, Allocation& out) const;
  /// As place_at, for a type with equal indices: those that the policy would give to one instance,
  /// else the first set (first_equal).
  [[nodiscard]] bool place_equal(const JobRequest& job, const model::ResourceType& type,
                                 HoldSpan hold, uint64_t seed, const Part& part,
                                 Allocation& out) const;
  [[nodiscard]] bool find_hosts(const JobRequest& job, const model::ResourceType& type,
                                HoldSpan hold, Allocation& out) const;
  [[nodiscard]] bool is_left(model::GpuId gpu) const {
    return held_[gpu.index()] == 0 && found_[gpu.index()] == 0;
  }
  void give_gpu(model::GpuId gpu);
  void take_gpu(model::GpuId gpu);

  [[nodiscard]] const policy::Placement& placement_of(const JobRequest& job) const {
    const bool is_there = of_part_.placement != nullptr && job.reservation == of_part_.part;
    return is_there ? *of_part_.placement : *placement_;
  }

  policy::SpeedModel speed_;
  const policy::Placement* placement_;
  PartPlacement of_part_;
  const model::Cluster* cluster_;
  model::FreeGpus free_;
  std::vector<knowledge::BinCounts> bins_;
  std::vector<NodeRoom> rooms_;       ///< by node
  std::vector<TimeNs> usable_until_;  ///< by node
  PromisedNodes promised_;
  /// By resource type: free resources of nodes with room for an instance. Built on first use.
  std::vector<std::optional<Part>> types_;
  std::vector<uint8_t> held_;    ///< by GPU: number of jobs
  std::vector<uint32_t> found_;  ///< by GPU: number of FoundAllocations
  uint8_t jobs_per_gpu_max_;
  size_t num_limited_ = 0;  ///< nodes with usable_until < kNever
};

}  // namespace goban::core::scheduler
