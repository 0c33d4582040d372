// How much of a GPU's peak its memory and its functional units are used, by the driver's
// performance counters (NVML's GPM; Hopper and later, whole GPUs).
#pragma once

#include <array>
#include <memory>
#include <string>

#include "base/gpus/nvml.hpp"

namespace goban::base::gpus {

/// Means over time and GPUs, percent of peak.
class UnitUse {
 public:
  static constexpr size_t kUnits = 5;  ///< tensor cores, FP64, FP32, FP16, integers

  /// `units_pct`: as UnitCounters reads them.
  void add(double span_s, double dram_pct, const std::array<double, kUnits>& units_pct);

  /// Of the memory's bandwidth; negative = not known.
  [[nodiscard]] double dram_pct() const;
  /// Of the units that were used most; negative = not known.
  [[nodiscard]] double fu_pct() const;

 private:
  double span_s_ = 0;
  double dram_ = 0;
  std::array<double, kUnits> units_{};
};

/// The counters of one GPU. Where the driver has none, it reads nothing.
class UnitCounters {
 public:
  UnitCounters(std::shared_ptr<const NvmlLibrary> nvml, const std::string& uuid);

  /// Adds what the GPU did since the last call, `span_s` ago; the first call only begins.
  void look(double span_s, UnitUse& out);

 private:
  std::shared_ptr<const NvmlLibrary> nvml_;
  NvmlDevice gpu_ = nullptr;
  std::shared_ptr<void> last_;  ///< samples of the counters; null: there are none
  std::shared_ptr<void> next_;
  bool has_last_ = false;
};

}  // namespace goban::base::gpus
