#include "policy/sharing/memory.hpp"

#include <algorithm>

namespace goban::policy {
namespace {

constexpr const char* kSource = "observed";
/// What an application that found no memory counts as: more often than anybody would try.
constexpr uint32_t kCertain = 1000;

uint64_t pair_key(AppId one, AppId other) {
  const auto [low, high] = std::minmax(one, other);
  return uint64_t{low.value} << 32 | high.value;
}

bool is_slowdown(double value) {  // false for NaN, too
  return value >= profile::kSlowdownMin && value <= profile::kSlowdownMax;
}

}  // namespace

SharingMemory::SharingMemory(const profile::ColocationHistory& seed,
                             const profile::PredictorOptions& options)
    : history_(seed), predictor_(history_, options) {}

SharingMemory::Image SharingMemory::image(const profile::ColocationHistory& seed) const {
  Image image;
  for (size_t i = 0; i < history_.sets().size(); ++i) {
    // Merging always adds samples.
    const profile::MeasuredSet& set = history_.sets()[i];
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
  for (profile::MeasuredSet set : image.learned) {
    const profile::MeasuredSet* known = history_.find(set.gpu_type, set.members());
    set.source = known == nullptr ? source : known->source;
    history_.put(set);
  }
  tried_.insert(image.tried.begin(), image.tried.end());
  broken_.insert(image.broken.begin(), image.broken.end());
}

void SharingMemory::observed(profile::GpuTypeId gpu_type, std::span<const AppId> apps,
                             std::span<const double> slowdowns) {
  if (!gpu_type.valid() || apps.size() < 2 || apps.size() > profile::kSetMax) return;
  if (!std::ranges::all_of(apps, &AppId::valid)) return;
  if (slowdowns.size() != apps.size() || !std::ranges::all_of(slowdowns, is_slowdown)) return;
  profile::MeasuredSet set;
  set.gpu_type = gpu_type;
  set.size = static_cast<uint8_t>(apps.size());
  std::ranges::copy(apps, set.apps.begin());
  std::ranges::copy(slowdowns, set.slowdown.begin());
  set.source = history_.add_source(kSource);
  history_.merge(set);
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
    broken_[pair_key(app, beside[i])] += out_of_memory ? kCertain : 1;
  }
}

uint32_t SharingMemory::times_broken(AppId one, AppId other) const {
  const auto found = broken_.find(pair_key(one, other));
  return found == broken_.end() ? 0 : found->second;
}

bool SharingMemory::stays_alone(JobId job) const {
  const auto found = tried_.find(job);
  return found != tried_.end() && found->second.alone;
}

void SharingMemory::forget(JobId job) { tried_.erase(job); }

}  // namespace goban::policy
