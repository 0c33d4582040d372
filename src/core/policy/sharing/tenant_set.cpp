#include "core/policy/sharing/tenant_set.hpp"

namespace goban::core::policy {
namespace {

knowledge::GpuTypeId type_of(const SharingView& view, uint32_t gpu_model) {
  const auto& types = view.knowledge().gpu_types;
  return gpu_model < types.size() ? types[gpu_model] : knowledge::GpuTypeId{};
}

}  // namespace

TenantSet::TenantSet(const SharingView& view, uint32_t gpu_model,
                     std::span<const model::TraitsId> traits)
    : gpu_model_(gpu_model),
      gpu_type_(type_of(view, gpu_model)),
      history_(&view.memory().history()) {
  for (const model::TraitsId id : traits) add(view.tenants().traits(id));
}

void TenantSet::add(const TenantTraits& traits) {
  if (size_ >= kSetMax) {
    too_large_ = true;
    return;
  }
  apps_[size_] = traits.app;
  mem_bytes_[size_] = traits.mem_bytes;
  util_pct_[size_] = traits.util_pct;
  if (traits.util_pct < 0 && traits.app.valid()) {
    const knowledge::MeasuredSet* alone = history_->find_alone(gpu_type_, traits.app);
    if (alone != nullptr) util_pct_[size_] = static_cast<float>(alone->util_pct);
  }
  somebody_refuses_ = somebody_refuses_ || traits.sharing == model::SharingRequest::No;
  all_opted_in_ = all_opted_in_ && traits.sharing == model::SharingRequest::Yes;
  ++size_;
}

TenantSet TenantSet::without(size_t position) const {
  TenantSet rest = *this;
  for (size_t i = position + 1; i < size_; ++i) {
    rest.apps_[i - 1] = apps_[i];
    rest.util_pct_[i - 1] = util_pct_[i];
    rest.mem_bytes_[i - 1] = mem_bytes_[i];
  }
  --rest.size_;
  return rest;
}

TenantSet TenantSet::only(size_t position) const {
  TenantSet one = *this;
  one.apps_[0] = apps_[position];
  one.util_pct_[0] = util_pct_[position];
  one.mem_bytes_[0] = mem_bytes_[position];
  one.size_ = 1;
  return one;
}

double TenantSet::joint_util_pct() const {
  double sum = 0;
  for (const float util : util_pct()) {
    if (util < 0) return -1;
    sum += util;
  }
  return sum;
}

SetPrediction TenantSet::predict(const SharingView& view) const {
  return view.memory().predictor().predict(gpu_type_, apps());
}

SetPrediction TenantSet::worst_of_parts(const SharingView& view, const SetPrediction& whole) const {
  SetPrediction worst = whole;
  const uint32_t all = (1U << size_) - 1;
  for (uint32_t mask = 3; mask < all; ++mask) {
    std::array<AppId, kSetMax> apps{};
    std::array<size_t, kSetMax> position{};
    size_t count = 0;
    for (size_t i = 0; i < size_; ++i) {
      if ((mask >> i & 1) == 0) continue;
      apps[count] = apps_[i];
      position[count++] = i;
    }
    if (count < 2) continue;
    const SetPrediction part = view.memory().predictor().predict(gpu_type_, {apps.data(), count});
    if (!part.packable()) worst.level = knowledge::PredictionLevel::Never;
    for (size_t i = 0; i < count; ++i) {
      worst.mean[position[i]] = std::max(worst.mean[position[i]], part.mean[i]);
      worst.upper[position[i]] = std::max(worst.upper[position[i]], part.upper[i]);
    }
  }
  return worst;
}

Slowdown TenantSet::slowdown(const SetPrediction& prediction, AppId app) const {
  Slowdown worst;
  for (size_t i = 0; i < size_; ++i) {
    if (apps_[i] == app) worst = slower(worst, {prediction.mean[i], prediction.upper[i]});
  }
  return worst;
}

double TenantSet::power_w(const SharingView& view, const SetPrediction& prediction) const {
  const knowledge::PowerModel* model = power_model(view, gpu_model_);
  if (model == nullptr) return 1;
  const knowledge::SetPower power = set_power(*model, *history_, gpu_type_, apps(), prediction);
  const double joint_pct = joint_util_pct();
  // Fall back to the utilisations that the jobs declare.
  if (power.level == knowledge::PowerLevel::Unknown && joint_pct >= 0) {
    return model->gpu_busy_w(joint_pct);
  }
  return power.gpu_w;
}

const knowledge::PowerModel* power_model(const SharingView& view, uint32_t gpu_model) {
  const auto& power = view.knowledge().power;
  return gpu_model < power.size() ? &power[gpu_model] : nullptr;
}

}  // namespace goban::core::policy
