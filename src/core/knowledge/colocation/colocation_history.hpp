// Co-location history: measured slowdowns of sets of applications that shared a GPU (EaCO:
// prediction, docs/papers.md).
//
// A set is a multiset of applications (a model at an input or batch size) on one GPU type. A set of
// one holds the power and resource use of the application alone. Policies use dense ids; a look-up
// hashes at most kSetMax numbers and does not allocate.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.hpp"
#include "base/name_table.hpp"
#include "core/model/ids.hpp"

namespace goban::core::knowledge {

using model::AppId;
using GpuTypeId = base::Id<struct ColocationGpuTag>;  ///< such as V100

/// Maximum number of jobs on one GPU.
inline constexpr size_t kSetMax = 8;
/// Slowdowns outside this range are invalid.
inline constexpr double kSlowdownMin = 0.1;
inline constexpr double kSlowdownMax = 1e6;
/// Two measurements of one set that differ by more than this factor contradict each other.
inline constexpr double kContradiction = 1.25;

/// A measured set. Negative optional values are unknown.
struct MeasuredSet {
  GpuTypeId gpu_type;
  uint8_t size = 0;
  /// Never co-located: the set does not fit, or could not be measured.
  bool never = false;
  std::array<AppId, kSetMax> apps{};       ///< ascending
  std::array<double, kSetMax> slowdown{};  ///< time / time alone, by position in `apps`
  double samples = 1;                      ///< number of measurements
  double rel_std = -1;                     ///< relative standard deviation of one measured slowdown
  double util_pct = -1;                    ///< of the GPU
  double power_w = -1;     ///< of a node whose GPUs all run the set / its number of GPUs
  int64_t mem_bytes = -1;  ///< peak per GPU
  uint32_t source = 0;     ///< see ColocationHistory::sources
  [[nodiscard]] std::span<const AppId> members() const { return {apps.data(), size}; }
};

/// The input name for a batch size: "batch 64"; empty for 0.
[[nodiscard]] std::string batch_input(int64_t batch_size);

/// Sets by key, and the names of their applications and GPU types.
class ColocationHistory {
 public:
  AppId add_app(std::string_view model, std::string_view input);
  GpuTypeId add_gpu_type(std::string_view name) { return GpuTypeId(gpu_types_.intern(name)); }
  uint32_t add_source(std::string_view name) { return sources_.intern(name); }

  /// The application model@input; if there is none, model alone; otherwise invalid.
  [[nodiscard]] AppId find_app(std::string_view model, std::string_view input) const;
  /// The longest GPU type that is a prefix of the name ("V100" for "V100-SXM2-16GB"), or invalid.
  [[nodiscard]] GpuTypeId find_gpu_type(std::string_view name) const;

  [[nodiscard]] const std::string& app_name(AppId app) const { return apps_[app.index()]; }
  [[nodiscard]] const std::string& gpu_type_name(GpuTypeId id) const {
    return gpu_types_[id.index()];
  }
  [[nodiscard]] const std::string& source(uint32_t number) const { return sources_[number]; }
  [[nodiscard]] size_t num_apps() const { return apps_.size(); }
  [[nodiscard]] size_t num_gpu_types() const { return gpu_types_.size(); }
  [[nodiscard]] std::span<const MeasuredSet> sets() const { return sets_; }

  /// How `given` contradicts the stored set; empty if it does not.
  [[nodiscard]] std::string contradiction(const MeasuredSet& given) const;
  /// Adds a set, or merges it into the stored one: means and variances weighted by samples; `never`
  /// prevails. Members need not be sorted. Observations of running jobs are added with it.
  void merge(MeasuredSet set);

  /// Replaces the stored set of these members, or adds it.
  void put(const MeasuredSet& set);

  /// The set of exactly these members, ascending; null if it was not measured. Cost: one hash.
  [[nodiscard]] const MeasuredSet* find(GpuTypeId gpu_type, std::span<const AppId> sorted) const;
  /// The measurement of an application alone; null if there is none.
  [[nodiscard]] const MeasuredSet* find_alone(GpuTypeId gpu_type, AppId app) const {
    return find(gpu_type, {&app, 1});
  }

 private:
  [[nodiscard]] size_t slot_of(GpuTypeId gpu_type, std::span<const AppId> sorted) const;
  void grow();

  base::NameTable apps_;  ///< "model@input", or "model"
  base::NameTable gpu_types_;
  base::NameTable sources_;
  std::vector<MeasuredSet> sets_;
  std::vector<uint32_t> slots_;  ///< open addressing: index into sets_ + 1, 0 = free
};

}  // namespace goban::core::knowledge
