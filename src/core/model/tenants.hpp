// Which jobs share GPUs: part of the read-only view of sharing policies.
//
// A group is a set of GPUs of one model that are held by exactly the same jobs; every allocated GPU
// is in one group. A job that takes some of a group's GPUs splits the group; groups held by the
// same jobs again are merged.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "core/model/cluster.hpp"
#include "core/model/job.hpp"

namespace goban::core::model {

using GroupId = base::Id<struct GroupTag>;
using TraitsId = base::Id<struct TraitsTag>;
using KindId = base::Id<struct KindTag>;

/// Properties of a job that affect its neighbours on a GPU. Equal traits have the same TraitsId.
struct TenantTraits {
  AppId app;              ///< invalid: unknown
  float util_pct = -1;    ///< per GPU, without neighbours; negative = unknown
  int64_t mem_bytes = 0;  ///< peak per GPU; 0 = unknown
  SharingRequest sharing = SharingRequest::Unsaid;
  auto operator<=>(const TenantTraits&) const = default;
};

/// The groups of a cluster. Adding or removing a job costs O(GPUs it holds).
class Tenants {
 public:
  struct Group {
    std::vector<JobId> jobs;       ///< in order of arrival
    std::vector<TraitsId> traits;  ///< of each of `jobs`
    std::vector<GpuId> gpus;       ///< ascending
    KindId kind;
    int8_t cap = -1;      ///< power limit: index into PowerModel::caps; -1 = none
    bool locked = false;  ///< a placement on it is provisional
    uint32_t place_in_kind = 0;
    base::TimeNs changed_ns = 0;  ///< when a job last joined or left
  };
  /// Groups with the same number of GPUs, GPU model, `one_node` and traits of jobs.
  struct Kind {
    uint32_t gpu_model = 0;
    uint32_t num_gpus = 0;
    bool one_node = true;
    std::vector<TraitsId> traits;  ///< ascending
    std::vector<GroupId> groups;   ///< at least one; in no order
    uint32_t place_in_size = 0;
  };

  explicit Tenants(const Cluster& cluster);

  /// The state as plain values, by id; free ids are listed separately.
  struct Image {
    std::vector<TenantTraits> traits{};
    std::vector<Group> groups{};
    std::vector<GroupId> free_groups{};
    std::vector<Kind> kinds{};
    std::vector<KindId> free_kinds{};
    std::vector<std::vector<KindId>> kinds_by_size{};
    std::vector<std::pair<JobId, std::vector<GroupId>>> groups_of_jobs{};  ///< by JobId
    std::vector<JobId> changed{};
    std::vector<GpuId> recapped{};
  };
  [[nodiscard]] Image image() const;
  /// Restores an image of the same cluster. No GPU may be allocated.
  void restore(const Image& image);

  /// The id of these traits; assigned on first use.
  TraitsId intern(const TenantTraits& traits);

  /// Allocates these GPUs, free or held, to the job.
  void add(JobId job, TraitsId traits, std::span<const GpuId> gpus, base::TimeNs now);
  /// Releases all GPUs of the job.
  void remove(JobId job, base::TimeNs now);
  /// An unlocked group may be merged with others of the same jobs; it keeps its id.
  void set_locked(GroupId id, bool locked);
  void set_cap(GroupId id, int8_t cap);

  [[nodiscard]] const Group& group(GroupId id) const { return groups_[id.index()]; }
  /// Groups of a job that holds GPUs; usually one.
  [[nodiscard]] std::span<const GroupId> groups_of(JobId job) const;
  [[nodiscard]] GroupId group_of(GpuId gpu) const { return group_of_gpu_[gpu.index()]; }
  [[nodiscard]] const TenantTraits& traits(TraitsId id) const { return traits_[id.index()]; }
  [[nodiscard]] const Kind& kind(KindId id) const { return kinds_[id.index()]; }
  /// Kinds of `num_gpus` GPUs, unordered. A kind is removed with its last group.
  [[nodiscard]] std::span<const KindId> kinds_of_size(uint32_t num_gpus) const;
  /// Upper bound of the sizes that exist.
  [[nodiscard]] uint32_t largest_size() const {
    return static_cast<uint32_t>(kinds_by_size_.size());
  }
  [[nodiscard]] const Cluster& cluster() const { return *cluster_; }

  /// Running jobs whose neighbours or power limit changed since the last call; unique, ascending.
  /// Jobs that no longer run are not included.
  [[nodiscard]] std::vector<JobId> take_changed();
  /// GPUs whose power limit may have changed since the last call; unique, ascending.
  [[nodiscard]] std::vector<GpuId> take_recapped();
  /// The current power limit of a GPU; -1 = none.
  [[nodiscard]] int8_t cap_of(GpuId gpu) const {
    const GroupId id = group_of(gpu);
    return id.valid() ? group(id).cap : int8_t{-1};
  }

 private:
  using KindKey = std::tuple<uint32_t, uint32_t, bool, std::vector<TraitsId>>;
  GroupId make_group(Group group);
  /// Moves these GPUs, a proper subset of the group's, into a new group.
  GroupId split(GroupId id, std::vector<GpuId> gpus);
  void drop_group(GroupId id);
  /// Merges other groups of the same jobs into this one.
  void merge_alike(GroupId id);
  void enter_kind(GroupId id);
  void leave_kind(GroupId id);
  KindId make_kind(const KindKey& key);
  void drop_kind(KindId id);
  void mark_changed(const Group& group);
  void mark_recapped(const Group& group);

  const Cluster* cluster_;
  std::vector<TenantTraits> traits_;
  std::map<TenantTraits, TraitsId> traits_ids_;
  std::vector<Group> groups_;
  std::vector<GroupId> free_groups_;
  std::vector<GroupId> group_of_gpu_;  ///< invalid: free
  std::vector<Kind> kinds_;
  std::vector<KindId> free_kinds_;
  std::map<KindKey, KindId> kind_ids_;
  std::vector<std::vector<KindId>> kinds_by_size_;  ///< by number of GPUs - 1
  std::unordered_map<JobId, std::vector<GroupId>> groups_of_job_;
  std::vector<JobId> changed_;
  std::vector<GpuId> recapped_;
};

}  // namespace goban::core::model
