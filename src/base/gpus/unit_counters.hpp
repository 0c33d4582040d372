// Utilisation of a GPU's memory bandwidth and functional units, in percent of peak, from the
// driver's performance counters (NVML's GPM; Hopper and later, no MIG instances).
#pragma once

#include <array>
#include <memory>
#include <string>

#include "base/gpus/nvml.hpp"

namespace goban::base::gpus {

/// Means over time and GPUs, in percent of peak.
class UnitUse {
 public:
  static constexpr size_t kUnits = 5;  ///< tensor cores, FP64, FP32, FP16, integers

  /// `units_pct`: as read by UnitCounters.
  void add(double span_s, double dram_pct, const std::array<double, kUnits>& units_pct);

  /// Of the memory bandwidth; negative = unknown.
  [[nodiscard]] double dram_pct() const;
  /// Of the most used kind of unit; negative = unknown.
  [[nodiscard]] double fu_pct() const;

 private:
  double span_s_ = 0;
  double dram_ = 0;
  std::array<double, kUnits> units_{};
};

/// The counters of one GPU. Reads nothing if the driver has no counters.
class UnitCounters {
 public:
  UnitCounters(std::shared_ptr<const NvmlLibrary> nvml, const std::string& uuid);

  /// Adds the utilisation since the last call, `span_s` ago; the first call only starts counting.
  void look(double span_s, UnitUse& out);

 private:
  std::shared_ptr<const NvmlLibrary> nvml_;
  NvmlDevice gpu_ = nullptr;
  std::shared_ptr<void> last_;  ///< samples of the counters; null: no counters
  std::shared_ptr<void> next_;
  bool has_last_ = false;
};

}  // namespace goban::base::gpus
