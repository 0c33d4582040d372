// State that sharing accumulates: the co-location history with observations, and failed attempts.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "core/knowledge/colocation/colocation_predictor.hpp"
#include "core/model/event.hpp"

namespace goban::core::policy {

using base::TimeNs;
using model::AppId;
using model::JobId;

/// Updated by the core, read by policies. Not copyable: the predictor refers to the history in it.
class SharingMemory {
 public:
  explicit SharingMemory(const knowledge::ColocationHistory& seed,
                         const knowledge::PredictorOptions& options);
  SharingMemory(const SharingMemory&) = delete;
  SharingMemory& operator=(const SharingMemory&) = delete;

  struct Tried {
    bool alone = false;                      ///< the job failed with neighbours
    TimeNs last_ns = -1;                     ///< of the last undo
    std::vector<std::vector<JobId>> sets{};  ///< rejected sets, each ascending
  };
  /// The accumulated state as plain values.
  struct Image {
    std::vector<knowledge::MeasuredSet> learned{};        ///< sets that differ from the seed
    std::vector<std::pair<JobId, Tried>> tried{};         ///< by job
    std::vector<std::pair<uint64_t, uint32_t>> broken{};  ///< by pair of applications
  };
  /// The key of a pair of applications in Image::broken, in either order; and the pair of a key.
  [[nodiscard]] static uint64_t pair_of(AppId one, AppId other);
  [[nodiscard]] static std::pair<AppId, AppId> apps_of(uint64_t pair);
  /// `seed`: the history passed to the constructor.
  [[nodiscard]] Image image(const knowledge::ColocationHistory& seed) const;
  /// Requires that nothing was recorded yet.
  void restore(const Image& image);

  /// Predicts from the current history.
  [[nodiscard]] const knowledge::ColocationPredictor& predictor() const { return predictor_; }
  [[nodiscard]] const knowledge::ColocationHistory& history() const { return history_; }
  /// Adds the observation of a set: slowdowns by position in `apps`. Ignored if the GPU type or an
  /// application is invalid, the set has one member, or a slowdown is invalid.
  void observed(knowledge::GpuTypeId gpu_type, std::span<const AppId> apps,
                std::span<const double> slowdowns);

  /// Adds the declared resource use of an application alone. It applies until there is a
  /// measurement.
  void declared(knowledge::GpuTypeId gpu_type, AppId app, const model::AloneUse& use);
  /// Adds the measured resource use of an application alone.
  void measured_alone(knowledge::GpuTypeId gpu_type, AppId app, const model::AloneUse& use);

  /// Records that the placement of `job` with `partners` was undone.
  void undone(JobId job, std::span<const JobId> partners, TimeNs now);
  /// A placement of the job with this set was undone before: a rejected set stays rejected.
  [[nodiscard]] bool rejected(JobId job, std::span<const JobId> partners) const;
  /// Time of the last undo of the job; -1 = never.
  [[nodiscard]] TimeNs last_undo_ns(JobId job) const;
  /// Records that a job failed with neighbours. Pairs of applications are counted, each once per
  /// call; a failure by lack of memory separates them at once.
  void broke(AppId app, std::span<const AppId> beside, bool out_of_memory = false);
  /// Number of failures of one of the two with the other as neighbour.
  [[nodiscard]] uint32_t times_broken(AppId one, AppId other) const;
  /// The job failed with neighbours and never shares again.
  void keep_alone(JobId job) { tried_[job].alone = true; }
  [[nodiscard]] bool stays_alone(JobId job) const;
  /// Drops the state of a finished job.
  void forget(JobId job);

 private:
  void add_alone(knowledge::GpuTypeId gpu_type, AppId app, const model::AloneUse& use,
                 double samples);

  knowledge::ColocationHistory history_;
  knowledge::ColocationPredictor predictor_;
  std::unordered_map<JobId, Tried> tried_;
  std::unordered_map<uint64_t, uint32_t> broken_;  ///< by pair_of
};

}  // namespace goban::core::policy
