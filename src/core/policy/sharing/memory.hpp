// What sharing has taught the scheduler: the growing history H, and what was tried in vain.
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

/// Kept by the core, read by policies. Not copied: the predictor refers to the history in it.
class SharingMemory {
 public:
  explicit SharingMemory(const knowledge::ColocationHistory& seed,
                         const knowledge::PredictorOptions& options);
  SharingMemory(const SharingMemory&) = delete;
  SharingMemory& operator=(const SharingMemory&) = delete;

  struct Tried {
    bool alone = false;                      ///< it broke
    TimeNs last_ns = -1;                     ///< of the last undo
    std::vector<std::vector<JobId>> sets{};  ///< each ascending
  };
  /// What was learned, as plain values.
  struct Image {
    std::vector<knowledge::MeasuredSet> learned{};        ///< sets of H that are not as in the seed
    std::vector<std::pair<JobId, Tried>> tried{};         ///< by job
    std::vector<std::pair<uint64_t, uint32_t>> broken{};  ///< by pair of applications
  };
  /// The key of a pair of applications in Image::broken, in either order; and the pair of a key.
  [[nodiscard]] static uint64_t pair_of(AppId one, AppId other);
  [[nodiscard]] static std::pair<AppId, AppId> apps_of(uint64_t pair);
  /// `seed`: what the memory was made from.
  [[nodiscard]] Image image(const knowledge::ColocationHistory& seed) const;
  /// Nothing was learned yet.
  void restore(const Image& image);

  /// Answers from H as it is now.
  [[nodiscard]] const knowledge::ColocationPredictor& predictor() const { return predictor_; }
  [[nodiscard]] const knowledge::ColocationHistory& history() const { return history_; }
  /// A set was observed: slowdowns by position in `apps`. Nothing is learned of a GPU type or an
  /// application that is invalid, of a job alone, or of slowdowns that are no measurements.
  void observed(knowledge::GpuTypeId gpu_type, std::span<const AppId> apps,
                std::span<const double> slowdowns);

  /// What an application takes of a GPU of its own, as somebody says. Counts as long as nobody
  /// measured it.
  void declared(knowledge::GpuTypeId gpu_type, AppId app, const model::AloneUse& use);
  /// The same, as it was measured.
  void measured_alone(knowledge::GpuTypeId gpu_type, AppId app, const model::AloneUse& use);

  /// The shared allocation of `job` beside `partners` was taken back.
  void undone(JobId job, std::span<const JobId> partners, TimeNs now);
  /// The job was taken off this very set before: a rejected set stays rejected.
  [[nodiscard]] bool rejected(JobId job, std::span<const JobId> partners) const;
  /// When the last shared allocation of the job was taken back; -1 = never.
  [[nodiscard]] TimeNs last_undo_ns(JobId job) const;
  /// A job broke beside others. Pairs of applications are counted, each once a call; one for want
  /// of memory is certain at once.
  void broke(AppId app, std::span<const AppId> beside, bool out_of_memory = false);
  /// How often one of the two broke beside the other.
  [[nodiscard]] uint32_t times_broken(AppId one, AppId other) const;
  /// The job broke beside others and is not to be beside anybody any more.
  void keep_alone(JobId job) { tried_[job].alone = true; }
  [[nodiscard]] bool stays_alone(JobId job) const;
  /// The job is gone: what was kept of it is not needed any more.
  void forget(JobId job);

 private:
  void add_alone(knowledge::GpuTypeId gpu_type, AppId app, const model::AloneUse& use,
                 double samples);

  knowledge::ColocationHistory history_;
  knowledge::ColocationPredictor predictor_;
  std::unordered_map<JobId, Tried> tried_;
  std::unordered_map<uint64_t, uint32_t> broken_;  ///< by both apps, the lower one above
};

}  // namespace goban::core::policy
