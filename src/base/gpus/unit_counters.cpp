#include "base/gpus/unit_counters.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace goban::base::gpus {
namespace {

constexpr unsigned kDramBandwidth = 10;
/// Any tensor core, FP64, FP32, FP16, integers.
constexpr std::array<unsigned, UnitUse::kUnits> kUnitIds = {5, 11, 12, 13, 4};
constexpr std::string_view kSlice = "MIG-";

std::shared_ptr<void> new_sample(const std::shared_ptr<const NvmlLibrary>& nvml) {
  NvmlGpmSample sample = nullptr;
  if (nvml->functions().gpm_sample_alloc(&sample) != kNvmlSuccess) return nullptr;
  return {sample, [nvml](void* each) { nvml->functions().gpm_sample_free(each); }};
}

double percent_of(const NvmlGpmMetric& metric) {
  const bool known = metric.code == kNvmlSuccess && metric.value >= 0;  // false for NaN
  return known ? std::min(metric.value, 100.0) : -1;
}

}  // namespace

void UnitUse::add(double span_s, double dram_pct, const std::array<double, kUnits>& units_pct) {
  span_s_ += span_s;
  dram_ += dram_pct * span_s;
  for (size_t i = 0; i < kUnits; ++i) units_[i] += units_pct[i] * span_s;
}

double UnitUse::dram_pct() const { return span_s_ > 0 ? dram_ / span_s_ : -1; }

double UnitUse::fu_pct() const { return span_s_ > 0 ? std::ranges::max(units_) / span_s_ : -1; }

UnitCounters::UnitCounters(std::shared_ptr<const NvmlLibrary> nvml, const std::string& uuid)
    : nvml_(std::move(nvml)) {
  const NvmlFunctions& f = nvml_->functions();
  if (f.gpm_support == nullptr || f.gpm_sample_alloc == nullptr || f.gpm_sample_free == nullptr ||
      f.gpm_sample_get == nullptr || f.gpm_metrics == nullptr || uuid.starts_with(kSlice)) {
    return;
  }
  gpu_ = nvml_->device(uuid);
  NvmlGpmSupport support;
  if (gpu_ == nullptr || f.gpm_support(gpu_, &support) != kNvmlSuccess) return;
  if (support.is_supported == 0) return;
  last_ = new_sample(nvml_);
  next_ = new_sample(nvml_);
}

void UnitCounters::look(double span_s, UnitUse& out) {
  if (last_ == nullptr || next_ == nullptr) return;
  const NvmlFunctions& f = nvml_->functions();
  const bool had_last = std::exchange(has_last_, false);
  if (f.gpm_sample_get(gpu_, next_.get()) != kNvmlSuccess) return;
  std::swap(last_, next_);
  has_last_ = true;
  if (!had_last || span_s <= 0) return;
  NvmlGpmMetrics query;
  query.from = next_.get();
  query.to = last_.get();
  query.metrics[query.count++].id = kDramBandwidth;
  for (const unsigned id : kUnitIds) query.metrics[query.count++].id = id;
  if (f.gpm_metrics(&query) != kNvmlSuccess) return;
  const double dram_pct = percent_of(query.metrics[0]);
  std::array<double, UnitUse::kUnits> units_pct{};
  for (size_t i = 0; i < kUnitIds.size(); ++i) {
    units_pct[i] = std::max(0.0, percent_of(query.metrics[i + 1]));  // a GPU may lack some units
  }
  if (dram_pct >= 0) out.add(span_s, dram_pct, units_pct);
}

}  // namespace goban::base::gpus
