// The core as plain values: what a snapshot of a live scheduler keeps of it. Ids are those of the
// core's inputs; names and configuration are not in here.
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
    policy::OrderKey queue_key{};  ///< that it has, or had last; Held: none
    TimeNs shortest_ns = 0;        ///< Waiting: of its entry in the queue
    Accounts::Node set_aside_at = Accounts::kNone;
    std::vector<GpuId> last_gpus{};
    Allocation allocation{};  ///< Running
  };
  struct Array {
    model::ArrayId array{};
    int32_t active = 0;
    std::vector<JobId> held{};  ///< in their order
  };
  struct Waiter {
    TimeNs since_ns = 0;
    JobId job{};
  };
  struct Node {
    bool is_open = true;
    TimeNs usable_until_ns = base::kNever;
  };

  std::string policy{};     ///< PolicySet::name
  std::vector<Job> jobs{};  ///< by arrival
  std::vector<Slot> free_slots{};
  std::vector<Array> arrays{};  ///< by ArrayId
  std::vector<Waiter> waiters{};
  uint32_t arrivals = 0;
  Accounts::Usages usages{};
  std::vector<double> fair_share{};
  TimeNs resort_due_ns = 0;
  std::vector<Node> nodes{};
  std::vector<PromisedNodes::Promise> promises{};  ///< by reservation
  uint32_t num_gpus = 0;                           ///< of the cluster
  NodePower::Image node_power{};
  std::optional<Tenants::Image> tenants{};
  std::optional<SharingBooks::Image> sharing{};
  std::vector<JobId> disturbed{};
  TimeNs next_review_ns = base::kNever;
  TimeNs next_migration_ns = base::kNever;
  TimeNs decided_at_ns = 0;
};

/// Errors: BadData if ids are beyond the cluster's or the image's own, or GPUs and nodes are held
/// that cannot be: what the core would take for a bug of its own. `jobs_per_gpu_max` is that of the
/// policies.
[[nodiscard]] base::Status check_image(const CoreImage& image, const model::Cluster& cluster,
                                       int32_t jobs_per_gpu_max);

/// The image under a co-location history that numbers its applications and GPU types otherwise:
/// `apps[old]` and `gpu_types[old]` are their numbers there. What has no new number is not known
/// any more.
void renumber(CoreImage& image, std::span<const model::AppId> apps,
              std::span<const knowledge::GpuTypeId> gpu_types);

/// New numbers of what a site names, by the old ones.
struct PeopleNumbers {
  std::vector<model::UserId> users{};
  std::vector<model::AccountId> accounts{};
  std::vector<model::PartitionId> partitions{};
  std::vector<model::QosId> qos{};
};

/// The image under an accounts file that numbers its users, accounts, partitions and QOS otherwise.
void renumber(CoreImage& image, const PeopleNumbers& numbers);

}  // namespace goban::core::scheduler
