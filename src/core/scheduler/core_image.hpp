// The core as plain values, for snapshots of the live scheduler. Ids are those of the core's
// inputs; names and configuration are not included.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/scheduler/core.hpp"

namespace goban::core::scheduler {

struct CoreImage {
  struct Job {
    Slot slot = 0;
    JobState state{};
    policy::OrderKey queue_key{};  ///< present or last; none if Held
    TimeNs shortest_ns = 0;        ///< Waiting: of its entry in the queue
    Accounts::Node set_aside_at = Accounts::kNone;
    std::vector<GpuId> last_gpus{};
    Allocation allocation{};  ///< Running
  };
  struct Array {
    model::ArrayId array{};
    int32_t active = 0;
    int32_t surplus = 0;
    std::vector<JobId> held{};  ///< in order of arrival
  };
  struct Waiter {
    TimeNs since_ns = 0;
    JobId job{};
  };
  /// Held by somebody else: by a job, or a GPU that is left out.
  struct Found {
    JobId job{};
    GpuId gpu{};
    model::FoundAllocation held{};
  };
  struct Node {
    bool is_open = true;
    TimeNs usable_until_ns = base::kNever;
  };

  std::string policy{};       ///< PolicySet::name
  std::string part_policy{};  ///< of PolicySet::of_part; empty: there is none
  std::vector<Job> jobs{};    ///< by arrival
  std::vector<Slot> free_slots{};
  std::vector<Array> arrays{};  ///< by ArrayId
  std::vector<Waiter> waiters{};
  uint32_t arrivals = 0;
  /// The queue and the ends of running jobs rest on forecasts (PolicySet::uses_forecasts).
  bool forecasts = false;
  HeadPromise head_promise{};
  bool part_forecasts = false;  ///< as `forecasts`, for PolicySet::of_part
  HeadPromise part_promise{};
  Accounts::Usages usages{};
  std::vector<double> fair_share{};
  TimeNs resort_due_ns = 0;
  std::vector<Node> nodes{};
  std::vector<PromisedNodes::Promise> promises{};  ///< by reservation
  std::vector<Found> found{};                      ///< by holder
  uint32_t num_gpus = 0;                           ///< of the cluster
  NodePower::Image node_power{};
  std::optional<Tenants::Image> tenants{};
  std::optional<SharingBooks::Image> sharing{};
  std::vector<JobId> disturbed{};
  TimeNs next_review_ns = base::kNever;
  TimeNs next_migration_ns = base::kNever;
  TimeNs decided_at_ns = 0;
};

/// Checks what the core's own CHECKs would otherwise find. Errors: BadData if ids are outside those
/// of the cluster or the image, or GPUs and nodes cannot be held as stated. `jobs_per_gpu_max` is
/// that of the policies.
[[nodiscard]] base::Status check_image(const CoreImage& image, const model::Cluster& cluster,
                                       int32_t jobs_per_gpu_max);

/// Converts the image to a co-location history with other ids of applications and GPU types:
/// `apps[old]` and `gpu_types[old]` are the new ids. Items without a new id become unknown.
void renumber(CoreImage& image, std::span<const model::AppId> apps,
              std::span<const knowledge::GpuTypeId> gpu_types);

/// New ids of nodes and GPUs, by old id; invalid: it left the cluster.
struct ClusterNumbers {
  std::vector<model::NodeId> nodes{};
  std::vector<GpuId> gpus{};
};

/// Converts the image to `cluster`. No running job and no reservation may name a node or GPU that
/// left. Groups of jobs that share GPUs are formed anew; observations in progress end.
void renumber(CoreImage& image, const ClusterNumbers& numbers, const model::Cluster& cluster);

/// New ids, by old id.
struct PeopleNumbers {
  std::vector<model::UserId> users{};
  std::vector<model::AccountId> accounts{};
  std::vector<model::PartitionId> partitions{};
  std::vector<model::QosId> qos{};
  std::vector<model::ModelId> models{};
};

/// Converts the image to an accounts file with other ids of users, accounts, partitions and QOS,
/// and to a table of speeds with other ids of models.
void renumber(CoreImage& image, const PeopleNumbers& numbers);

}  // namespace goban::core::scheduler
