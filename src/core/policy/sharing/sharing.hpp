// Sharing: with whom a job may share GPUs, and when that is taken back. One file a policy.
//
// The core asks `choose` when a job's turn comes. A place found is provisional if the policy
// observes: its group is locked, everyone on it is measured for one epoch or up to a time bound,
// the measured slowdowns go into the history H, and `review` confirms the place or takes it back.
// Groups are reviewed again whenever a job joins or leaves.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/model/job_state.hpp"
#include "core/model/tenants.hpp"
#include "core/policy/knowledge.hpp"
#include "core/policy/policy_options.hpp"
#include "core/policy/sharing/memory.hpp"

namespace goban::core::policy {

using model::GroupId;
using model::JobState;
using model::Tenants;
using model::TenantTraits;

/// What a sharing policy may look at.
class SharingView {
 public:
  virtual ~SharingView() = default;
  [[nodiscard]] virtual TimeNs now() const = 0;
  [[nodiscard]] virtual const Tenants& tenants() const = 0;
  [[nodiscard]] virtual const SharingMemory& memory() const = 0;
  [[nodiscard]] virtual const SiteKnowledge& knowledge() const = 0;
  /// An active job.
  [[nodiscard]] virtual const JobState& job(JobId id) const = 0;
  /// What the job is to those beside it.
  [[nodiscard]] virtual TenantTraits traits(const JobState& job) const {
    return {.app = job.request.app,
            .util_pct = job.training.gpu_util_pct,
            .mem_bytes = job.training.gpu_mem_bytes,
            .sharing = job.training.sharing};
  }
  /// Seconds that the rest of the job takes alone at PM score 1 and locality penalty 1, restart
  /// costs still to be paid included; negative if nobody knows.
  [[nodiscard]] virtual double work_left_s(const JobState& job) const = 0;
  /// The same of the whole job, without restarts; negative if nobody knows.
  [[nodiscard]] virtual double work_total_s(const JobState& job) const {
    (void)job;
    return -1;
  }
  /// Slowdown by PM score and locality of a job on these GPUs, without neighbours.
  [[nodiscard]] virtual double alone_slowdown(const JobState& job,
                                              std::span<const model::GpuId> gpus) const = 0;
  /// The same of a running job where it is.
  [[nodiscard]] virtual double alone_slowdown(const JobState& job) const = 0;
  /// The same of a running job wherever it might go.
  [[nodiscard]] virtual double alone_slowdown_max(const JobState& job) const {
    return alone_slowdown(job);
  }
  /// GPUs asked by all active jobs, running or waiting.
  [[nodiscard]] virtual int64_t demand_gpus() const = 0;
  /// Jobs wait that nothing has been found for.
  [[nodiscard]] virtual bool someone_waits() const = 0;
  [[nodiscard]] virtual int32_t free_gpus() const = 0;
  /// For policies that draw; differs by job and decision.
  [[nodiscard]] virtual uint64_t seed(JobId job) const = 0;
};

/// A place found: the job takes as many GPUs of the group as it asks for, the lowest.
struct SharedPlace {
  GroupId group;
  /// knowledge::PredictionLevel of the slowdowns that were expected; for explanations.
  knowledge::PredictionLevel level = knowledge::PredictionLevel::Pessimistic;
};

/// When a policy is asked for a shared place.
enum class ShareWhen : uint8_t {
  Never,
  IfBlocked,   ///< the free GPUs do not suffice for the job
  BeforeFree,  ///< at once: free GPUs are taken only if nobody can be joined
};

/// Decides with whom a job may share its GPUs. A pure function of view and job.
class Sharing {
 public:
  virtual ~Sharing() = default;
  [[nodiscard]] virtual int32_t jobs_per_gpu_max() const = 0;
  [[nodiscard]] virtual ShareWhen when() const { return ShareWhen::Never; }
  /// A group for a waiting job; none: it has to get GPUs of its own.
  [[nodiscard]] virtual std::optional<SharedPlace> choose(const SharingView& view,
                                                          const JobState& job) const {
    (void)view, (void)job;
    return {};
  }
  /// How many waiting jobs behind a blocked one are asked about, too; they take no free GPU.
  [[nodiscard]] virtual int32_t look_behind() const { return 0; }
  /// Groups are reviewed again after so long, whatever happens; kNever = only after changes.
  [[nodiscard]] virtual TimeNs review_interval_ns() const { return base::kNever; }
  /// Shared places are provisional until everyone on them was measured.
  [[nodiscard]] virtual bool observes() const { return false; }
  /// Time bound of an observation, where epochs are longer or nobody reports.
  [[nodiscard]] virtual TimeNs observe_max_ns() const { return base::kNever; }
  /// A running job with a promise that it can keep is interrupted by priority only.
  [[nodiscard]] virtual bool spares_promises() const { return false; }
  /// The job that has to leave the group; none: it stays as it is. Asked after an observation
  /// (`observed`: H holds what was measured) and after a job joined or left.
  [[nodiscard]] virtual std::optional<JobId> review(const SharingView& view, GroupId group,
                                                    bool observed) const {
    (void)view, (void)group, (void)observed;
    return {};
  }
  /// Power limit for the GPUs of a group: an index into PowerModel::caps, or -1 for none. Asked
  /// when a group is new or changed and not provisional.
  [[nodiscard]] virtual int8_t choose_cap(const SharingView& view, GroupId group) const {
    (void)view, (void)group;
    return -1;
  }
  /// Some group may get a limit.
  [[nodiscard]] virtual bool caps_power() const { return false; }
};

/// Among groups that can be joined, which goes first.
enum class ShareRanking : uint8_t {
  Highest,        ///< highest utilisation (EaCO: consolidates)
  Similar,        ///< utilisation most like the job's
  Complementary,  ///< utilisation least like the job's: a light job beside heavy ones
  Worth,          ///< what sharing saves, less the price of the time that it costs
};

}  // namespace goban::core::policy
