// Sharing: with which jobs a job may share GPUs, and when a placement is undone. One file per
// policy.
//
// The core calls `choose` when a job may start. If the policy observes, the placement is
// provisional: its group is locked, all jobs on it are measured for one epoch or up to a maximum
// time, the measured slowdowns are added to the co-location history, and `review` confirms or
// undoes the placement. Groups are reviewed again whenever a job joins or leaves.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/model/job.hpp"
#include "core/model/tenants.hpp"
#include "core/policy/knowledge.hpp"
#include "core/policy/policy_options.hpp"
#include "core/policy/sharing/memory.hpp"

namespace goban::core::policy {

using model::GroupId;
using model::JobState;
using model::Tenants;
using model::TenantTraits;

/// The read-only view of a sharing policy.
class SharingView {
 public:
  virtual ~SharingView() = default;
  [[nodiscard]] virtual TimeNs now() const = 0;
  [[nodiscard]] virtual const Tenants& tenants() const = 0;
  [[nodiscard]] virtual const SharingMemory& memory() const = 0;
  [[nodiscard]] virtual const SiteKnowledge& knowledge() const = 0;
  /// An unfinished job.
  [[nodiscard]] virtual const JobState& job(JobId id) const = 0;
  /// Properties of the job that affect its neighbours.
  [[nodiscard]] virtual TenantTraits traits(const JobState& job) const {
    return {.app = job.request.app,
            .util_pct = job.training.gpu_util_pct,
            .mem_bytes = job.training.gpu_mem_bytes,
            .sharing = job.training.sharing};
  }
  /// Remaining seconds of the job alone at PM score 1 and locality penalty 1, including restart
  /// costs still to be paid; negative if unknown.
  [[nodiscard]] virtual double work_left_s(const JobState& job) const = 0;
  /// The same for the whole job, without restarts; negative if unknown.
  [[nodiscard]] virtual double work_total_s(const JobState& job) const {
    (void)job;
    return -1;
  }
  /// Slowdown by PM score and locality of a job on these GPUs, without neighbours.
  [[nodiscard]] virtual double alone_slowdown(const JobState& job,
                                              std::span<const model::GpuId> gpus) const = 0;
  /// The same for a running job on its present GPUs.
  [[nodiscard]] virtual double alone_slowdown(const JobState& job) const = 0;
  /// The same for a running job on the worst GPUs it may get.
  [[nodiscard]] virtual double alone_slowdown_max(const JobState& job) const {
    return alone_slowdown(job);
  }
  /// GPUs requested by all unfinished jobs, running or waiting.
  [[nodiscard]] virtual int64_t demand_gpus() const = 0;
  /// Jobs wait for which no placement was found.
  [[nodiscard]] virtual bool someone_waits() const = 0;
  [[nodiscard]] virtual int32_t free_gpus() const = 0;
  /// For random policies; differs by job and decision.
  [[nodiscard]] virtual uint64_t seed(JobId job) const = 0;
};

/// A shared place: the job takes the lowest GPUs of the group, as many as it requests.
struct SharedPlace {
  GroupId group;
  /// Source of the predicted slowdowns, for explanations.
  knowledge::PredictionLevel level = knowledge::PredictionLevel::Pessimistic;
};

/// When the core calls Sharing::choose.
enum class ShareWhen : uint8_t {
  Never,
  IfBlocked,   ///< if the job does not fit the free GPUs
  BeforeFree,  ///< first; free GPUs are taken only if no group can be joined
};

/// Decides with which jobs a job shares its GPUs. A pure function of view and job.
class Sharing {
 public:
  virtual ~Sharing() = default;
  [[nodiscard]] virtual int32_t jobs_per_gpu_max() const = 0;
  [[nodiscard]] virtual ShareWhen when() const { return ShareWhen::Never; }
  /// A group for a waiting job; nullopt: it needs free GPUs.
  [[nodiscard]] virtual std::optional<SharedPlace> choose(const SharingView& view,
                                                          const JobState& job) const {
    (void)view, (void)job;
    return {};
  }
  /// Number of waiting jobs after a blocked one for which choose() is called as well; these take no
  /// free GPU.
  [[nodiscard]] virtual int32_t look_behind() const { return 0; }
  /// Interval of further reviews of groups; kNever = only after changes.
  [[nodiscard]] virtual TimeNs review_interval_ns() const { return base::kNever; }
  /// Placements are provisional until all jobs on the group were measured.
  [[nodiscard]] virtual bool observes() const { return false; }
  /// Maximum duration of an observation, for long epochs and jobs that do not report.
  [[nodiscard]] virtual TimeNs observe_max_ns() const { return base::kNever; }
  /// A running job with a service target that it can meet is preempted by priority only.
  [[nodiscard]] virtual bool spares_promises() const { return false; }
  /// The job that must leave the group; nullopt: no change. Called after an observation
  /// (`observed`: the history contains the measurement) and after a join or leave.
  [[nodiscard]] virtual std::optional<JobId> review(const SharingView& view, GroupId group,
                                                    bool observed) const {
    (void)view, (void)group, (void)observed;
    return {};
  }
  /// Power limit for the GPUs of a group: an index into PowerModel::caps, or -1 for none. Called
  /// for new and changed groups that are not provisional.
  [[nodiscard]] virtual int8_t choose_cap(const SharingView& view, GroupId group) const {
    (void)view, (void)group;
    return -1;
  }
  /// choose_cap may return a limit.
  [[nodiscard]] virtual bool caps_power() const { return false; }
};

/// Ranking of the groups that can be joined.
enum class ShareRanking : uint8_t {
  Highest,        ///< highest utilisation (EaCO: consolidates)
  Similar,        ///< utilisation closest to the job's
  Complementary,  ///< utilisation farthest from the job's: a light job with heavy ones
  Worth,          ///< energy saved by sharing, minus the price of the delay
};

}  // namespace goban::core::policy
