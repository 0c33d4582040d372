#include "core/policy/sharing/memory.hpp"

#include <algorithm>

namespace goban::core::policy {
namespace {

constexpr const char* kSource = "observed";
/// Number of failures recorded for lack of memory: above any limit.
constexpr uint32_t kCertain = 1000;
/// Weight of a declaration: negligible once there is a measurement.
constexpr double kDeclaredSamples = 1e-3;

bool is_slowdown(double value) {  // false for NaN
  return value >= knowledge::kSlowdownMin && value <= knowledge::kSlowdownMax;
}

}  // namespace

SharingMemory::SharingMemory(const knowledge::ColocationHistory& seed,
                             const knowledge::PredictorOptions& options)
    : history_(seed), predictor_(history_, options) {}

uint64_t SharingMemory::pair_of(AppId one, AppId other) {
  const auto [low, high] = std::minmax(one, other);
  return uint64_t{low.value} << 32 | high.value;
}

std::pair<AppId, AppId> SharingMemory::apps_of(uint64_t pair) {
  return {AppId(static_cast<uint32_t>(pair >> 32)), AppId(static_cast<uint32_t>(pair))};
}

SharingMemory::Image SharingMemory::image(const knowledge::ColocationHistory& seed) const {
  Image image;
  for (size_t i = 0; i < history_.sets().size(); ++i) {
    // Merging always increases the number of samples.
    const knowledge::MeasuredSet& set = history_.sets()[i];
    const bool is_seed = i < seed.sets().size() && seed.sets()[i].samples == set.samples;
    if (!is_seed) image.learned.push_back(set);
  }
  image.tried.assign(tried_.begin(), tried_.end());
  std::ranges::sort(image.tried, {}, &std::pair<JobId, Tried>::first);
  image.broken.assign(broken_.begin(), broken_.end());
  std::ranges::sort(image.broken);
  return image;
}

void SharingMemory::restore(const Image& image) {
  const uint32_t source = history_.add_source(kSource);
  for (knowledge::MeasuredSet set : image.learned) {
    const knowledge::MeasuredSet* known = history_.find(set.gpu_type, set.members());
    set.source = known == nullptr ? source : known->source;
    history_.put(set);
  }
  tried_.insert(image.tried.begin(), image.tried.end());
  broken_.insert(image.broken.begin(), image.broken.end());
}

void SharingMemory::observed(knowledge::GpuTypeId gpu_type, std::span<const AppId> apps,
                             std::span<const double> slowdowns) {
  if (!gpu_type.valid() || apps.size() < 2 || apps.size() > knowledge::kSetMax) return;
  if (!std::ranges::all_of(apps, &AppId::valid)) return;
  if (slowdowns.size() != apps.size() || !std::ranges::all_of(slowdowns, is_slowdown)) return;
  knowledge::MeasuredSet set;
  set.gpu_type = gpu_type;
  set.size = static_cast<uint8_t>(apps.size());
  std::ranges::copy(apps, set.apps.begin());
  std::ranges::copy(slowdowns, set.slowdown.begin());
  set.source = history_.add_source(kSource);
  history_.merge(set);
}

void SharingMemory::add_alone(knowledge::GpuTypeId gpu_type, AppId app, const model::AloneUse& use,
                              double samples) {
  const bool says = use.gpu_util_pct >= 0 || use.gpu_power_w >= 0 || use.gpu_mem_bytes > 0;
  if (!gpu_type.valid() || !app.valid() || !says) return;
  knowledge::MeasuredSet alone;
  alone.gpu_type = gpu_type;
  alone.size = 1;
  alone.apps[0] = app;
  alone.slowdown[0] = 1;
  alone.samples = samples;
  alone.util_pct = std::min(use.gpu_util_pct, 100.0);
  alone.power_w = use.gpu_power_w;
  alone.mem_bytes = use.gpu_mem_bytes > 0 ? use.gpu_mem_bytes : -1;
  alone.source = history_.add_source(kSource);
  history_.merge(alone);
}

void SharingMemory::declared(knowledge::GpuTypeId gpu_type, AppId app, const model::AloneUse& use) {
  model::AloneUse unmeasured = use;
  const knowledge::MeasuredSet* known =
      gpu_type.valid() && app.valid() ? history_.find_alone(gpu_type, app) : nullptr;
  if (known != nullptr) {
    if (known->never) return;
    if (known->util_pct >= 0) unmeasured.gpu_util_pct = -1;
    if (known->power_w >= 0) unmeasured.gpu_power_w = -1;
    if (known->mem_bytes >= 0) unmeasured.gpu_mem_bytes = -1;
  }
  add_alone(gpu_type, app, unmeasured, kDeclaredSamples);
}

void SharingMemory::measured_alone(knowledge::GpuTypeId gpu_type, AppId app,
                                   const model::AloneUse& use) {
  add_alone(gpu_type, app, use, 1);
}

void SharingMemory::undone(JobId job, std::span<const JobId> partners, TimeNs now) {
  Tried& tried = tried_[job];
  tried.last_ns = now;
  if (rejected(job, partners)) return;
  std::vector<JobId> set(partners.begin(), partners.end());
  std::ranges::sort(set);
  tried.sets.push_back(std::move(set));
}

bool SharingMemory::rejected(JobId job, std::span<const JobId> partners) const {
  const auto found = tried_.find(job);
  if (found == tried_.end()) return false;
  return std::ranges::any_of(found->second.sets, [&](const std::vector<JobId>& set) {
    return set.size() == partners.size() && std::ranges::all_of(partners, [&](JobId partner) {
             return std::ranges::binary_search(set, partner);
           });
  });
}

TimeNs SharingMemory::last_undo_ns(JobId job) const {
  const auto found = tried_.find(job);
  return found == tried_.end() ? -1 : found->second.last_ns;
}

void SharingMemory::broke(AppId app, std::span<const AppId> beside, bool out_of_memory) {
  if (!app.valid()) return;
  for (size_t i = 0; i < beside.size(); ++i) {
    const std::span<const AppId> before = beside.first(i);
    const bool counted = std::ranges::find(before, beside[i]) != before.end();
    if (!beside[i].valid() || counted) continue;
    broken_[pair_of(app, beside[i])] += out_of_memory ? kCertain : 1;
  }
}

uint32_t SharingMemory::times_broken(AppId one, AppId other) const {
  const auto found = broken_.find(pair_of(one, other));
  return found == broken_.end() ? 0 : found->second;
}

bool SharingMemory::stays_alone(JobId job) const {
  const auto found = tried_.find(job);
  return found != tried_.end() && found->second.alone;
}

void SharingMemory::forget(JobId job) { tried_.erase(job); }

}  // namespace goban::core::policy
