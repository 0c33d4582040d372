#include "core/knowledge/colocation/colocation_history.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/check.hpp"

namespace goban::core::knowledge {
namespace {

constexpr size_t kSlotsMin = 64;
constexpr double kSamplesMax = 1e12;  // limit of a file

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
  return hash ^ (hash >> 32);
}

/// Sorts members in ascending order; equal members by slowdown.
void sort_members(MeasuredSet& set) {
  for (size_t i = 1; i < set.size; ++i) {
    for (size_t j = i; j > 0; --j) {
      const auto before = std::pair(set.apps[j - 1], set.slowdown[j - 1]);
      if (before <= std::pair(set.apps[j], set.slowdown[j])) break;
      std::swap(set.apps[j - 1], set.apps[j]);
      std::swap(set.slowdown[j - 1], set.slowdown[j]);
    }
  }
}

bool differ(double a, double b) { return std::max(a, b) > kContradiction * std::min(a, b); }

/// Weighted mean of an optional value; negative = unknown.
void blend(double& known, double known_weight, double more, double more_weight) {
  if (more < 0) return;
  known =
      known < 0 ? more : (known * known_weight + more * more_weight) / (known_weight + more_weight);
}

/// Relative variance of all samples of both: within them and between their means.
double pooled_rel_std(const MeasuredSet& a, const MeasuredSet& b) {
  const double n = a.samples + b.samples;
  const double within_a = std::max(0.0, a.rel_std) * std::max(0.0, a.rel_std);
  const double within_b = std::max(0.0, b.rel_std) * std::max(0.0, b.rel_std);
  double between = 0;  // mean over the members
  for (size_t i = 0; i < a.size; ++i) {
    const double mean = (a.slowdown[i] * a.samples + b.slowdown[i] * b.samples) / n;
    const double step = (a.slowdown[i] - b.slowdown[i]) / mean;
    between += step * step * a.samples * b.samples / (n * n) / a.size;
  }
  return std::sqrt((within_a * a.samples + within_b * b.samples) / n + between);
}

}  // namespace

std::string batch_input(int64_t batch_size) {
  return batch_size > 0 ? fmt::format("batch {}", batch_size) : std::string();
}

AppId ColocationHistory::add_app(std::string_view model, std::string_view input) {
  return AppId(
      apps_.intern(input.empty() ? std::string(model) : fmt::format("{}@{}", model, input)));
}

AppId ColocationHistory::find_app(std::string_view model, std::string_view input) const {
  AppId found;
  if (!input.empty()) found = AppId(apps_.find(fmt::format("{}@{}", model, input)));
  return found.valid() ? found : AppId(apps_.find(model));
}

GpuTypeId ColocationHistory::find_gpu_type(std::string_view name) const {
  GpuTypeId best;
  size_t best_size = 0;
  for (size_t i = 0; i < gpu_types_.size(); ++i) {
    if (!name.starts_with(gpu_types_[i]) || gpu_types_[i].size() <= best_size) continue;
    best = GpuTypeId(i);
    best_size = gpu_types_[i].size();
  }
  return best;
}

size_t ColocationHistory::slot_of(GpuTypeId gpu_type, std::span<const AppId> sorted) const {
  uint64_t hash = mix(0, gpu_type.value);
  for (const AppId app : sorted) hash = mix(hash, app.value);
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot] != 0) {
    const MeasuredSet& set = sets_[slots_[slot] - 1];
    if (set.gpu_type == gpu_type && std::ranges::equal(set.members(), sorted)) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

const MeasuredSet* ColocationHistory::find(GpuTypeId gpu_type,
                                           std::span<const AppId> sorted) const {
  if (slots_.empty()) return nullptr;
  const uint32_t index = slots_[slot_of(gpu_type, sorted)];
  return index == 0 ? nullptr : &sets_[index - 1];
}

void ColocationHistory::grow() {
  slots_.assign(std::max(kSlotsMin, slots_.size() * 2), 0);
  for (size_t i = 0; i < sets_.size(); ++i) {
    slots_[slot_of(sets_[i].gpu_type, sets_[i].members())] = static_cast<uint32_t>(i) + 1;
  }
}

std::string ColocationHistory::contradiction(const MeasuredSet& given) const {
  MeasuredSet set = given;
  sort_members(set);
  const MeasuredSet* known = find(set.gpu_type, set.members());
  if (known == nullptr) return {};
  if (known->never != set.never) {
    return known->never ? "the set was declared as never co-located"
                        : "the set was measured, and is now declared as never co-located";
  }
  for (size_t i = 0; i < set.size && !set.never; ++i) {
    if (differ(known->slowdown[i], set.slowdown[i])) {
      return fmt::format("{} is slowed {:.4g} times here, {:.4g} times in an earlier measurement",
                         app_name(set.apps[i]), set.slowdown[i], known->slowdown[i]);
    }
  }
  const auto check = [](const char* what, double before, double now) {
    const bool bad = before >= 0 && now >= 0 && differ(before, now);
    return bad ? fmt::format("{} is {:.6g} here, {:.6g} in an earlier measurement", what, now,
                             before)
               : std::string();
  };
  std::string problem = check("power_w", known->power_w, set.power_w);
  if (problem.empty()) problem = check("util_pct", known->util_pct, set.util_pct);
  if (problem.empty()) {
    problem = check("mem_bytes", static_cast<double>(known->mem_bytes),
                    static_cast<double>(set.mem_bytes));
  }
  return problem;
}

void ColocationHistory::put(const MeasuredSet& set) {
  const MeasuredSet* known = find(set.gpu_type, set.members());
  if (known == nullptr) {
    merge(set);
  } else {
    sets_[static_cast<size_t>(known - sets_.data())] = set;
  }
}

void ColocationHistory::merge(MeasuredSet set) {
  GOBAN_CHECK(set.size >= 1 && set.size <= kSetMax && set.samples > 0);
  sort_members(set);
  if (2 * (sets_.size() + 1) > slots_.size()) grow();
  const size_t slot = slot_of(set.gpu_type, set.members());
  if (slots_[slot] == 0) {
    sets_.push_back(set);
    slots_[slot] = static_cast<uint32_t>(sets_.size());
    return;
  }
  MeasuredSet& known = sets_[slots_[slot] - 1];
  known.never = known.never || set.never;
  known.rel_std = pooled_rel_std(known, set);
  for (size_t i = 0; i < set.size; ++i) {
    blend(known.slowdown[i], known.samples, set.slowdown[i], set.samples);
  }
  blend(known.util_pct, known.samples, set.util_pct, set.samples);
  blend(known.power_w, known.samples, set.power_w, set.samples);
  known.mem_bytes = std::max(known.mem_bytes, set.mem_bytes);  // a peak
  known.samples = std::min(kSamplesMax, known.samples + set.samples);
}

}  // namespace goban::core::knowledge
