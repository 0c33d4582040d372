// The jobs on a GPU, in the form that the models of memory, slowdown and power take.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "core/knowledge/colocation/colocation_predictor.hpp"
#include "core/policy/sharing/sharing.hpp"

namespace goban::core::policy {

using knowledge::kSetMax;
using knowledge::SetPrediction;

/// Slowdown of a job by neighbours and power limits: mean and upper quantile.
struct Slowdown {
  double mean = 0;
  double upper = 0;
};
/// Slowdown of a job that is in both: that of the slower one.
[[nodiscard]] inline Slowdown slower(const Slowdown& a, const Slowdown& b) {
  return {std::max(a.mean, b.mean), std::max(a.upper, b.upper)};
}
[[nodiscard]] inline Slowdown operator*(const Slowdown& a, double factor) {
  return {a.mean * factor, a.upper * factor};
}

/// At most kSetMax jobs on one GPU. Does not allocate.
class TenantSet {
 public:
  /// Jobs with these traits, in this order, on a GPU of this model.
  TenantSet(const SharingView& view, uint32_t gpu_model,
            std::span<const model::TraitsId> traits = {});

  /// Adding more than kSetMax members makes the set too_large().
  void add(const TenantTraits& traits);
  [[nodiscard]] TenantSet without(size_t position) const;
  [[nodiscard]] TenantSet only(size_t position) const;

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool too_large() const { return too_large_; }
  [[nodiscard]] uint32_t gpu_model() const { return gpu_model_; }
  [[nodiscard]] knowledge::GpuTypeId gpu_type() const { return gpu_type_; }
  [[nodiscard]] std::span<const AppId> apps() const { return {apps_.data(), size_}; }
  /// Utilisation of each job alone; negative = unknown.
  [[nodiscard]] std::span<const float> util_pct() const { return {util_pct_.data(), size_}; }
  [[nodiscard]] std::span<const int64_t> mem_bytes() const { return {mem_bytes_.data(), size_}; }
  /// No member declares no; unless `everyone` may share, all members declare yes.
  [[nodiscard]] bool may_share(bool everyone) const {
    return everyone ? !somebody_refuses_ : all_opted_in_;
  }
  /// Sum of the utilisations; negative if one is unknown.
  [[nodiscard]] double joint_util_pct() const;

  /// The slowdowns of its members. The set must not be empty.
  [[nodiscard]] SetPrediction predict(const SharingView& view) const;
  /// The slowdowns of its members in the worst of its subsets; `whole` is the prediction for the
  /// set. Measured slowdowns need not grow with the set, and members leave in any order. Level
  /// Never if a subset has it.
  [[nodiscard]] SetPrediction worst_of_parts(const SharingView& view,
                                             const SetPrediction& whole) const;
  /// Slowdown of a member with this application. With several such members, that of the slowest:
  /// measurements do not distinguish them.
  [[nodiscard]] Slowdown slowdown(const SetPrediction& prediction, AppId app) const;
  /// Power of the GPU without the host's; 1 if there is no power model.
  [[nodiscard]] double power_w(const SharingView& view, const SetPrediction& prediction) const;

 private:
  uint32_t gpu_model_;
  knowledge::GpuTypeId gpu_type_;
  const knowledge::ColocationHistory* history_;
  size_t size_ = 0;
  bool too_large_ = false;
  bool somebody_refuses_ = false;
  bool all_opted_in_ = true;
  std::array<AppId, kSetMax> apps_{};
  std::array<float, kSetMax> util_pct_{};
  std::array<int64_t, kSetMax> mem_bytes_{};
};

/// The power model of a GPU model, or null.
[[nodiscard]] const knowledge::PowerModel* power_model(const SharingView& view, uint32_t gpu_model);

}  // namespace goban::core::policy
