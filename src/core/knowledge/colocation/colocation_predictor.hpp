// Predicts the slowdowns of jobs that share a GPU (EaCO: prediction, docs/papers.md), from the
// first of these that is available: the measured set, the product of measured pairs, a prior by
// joint utilisation, a pessimistic factor. A prediction states its source.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/knowledge/colocation/colocation_history.hpp"
#include "core/knowledge/energy/power_model.hpp"

namespace goban::core::knowledge {

/// Source of a prediction, the best first. Never: the set, or a pair in it, must not be co-located.
enum class PredictionLevel : uint8_t { Alone, Measured, Pairs, Utilisation, Pessimistic, Never };
[[nodiscard]] std::string_view level_name(PredictionLevel level);

/// The relative standard deviations by level are our assumptions: no data set measures sets
/// together with their pairs and utilisations.
struct PredictorOptions {
  double upper_z = 1.645;          ///< upper = mean x (1 + z x std); default: 95 % of a normal
  double rel_std_measured = 0.03;  ///< or that of the set, if larger
  double rel_std_pairs = 0.10;     ///< in addition to those of the pairs
  double rel_std_utilisation = 0.25;
  double pessimistic_upper = 1.3;  ///< x time of taking turns (Gavel: 1 / 0.77, ResNet-50 twice)
};

/// Slowdowns of the members of a set, in the order of the query.
struct SetPrediction {
  PredictionLevel level = PredictionLevel::Never;
  uint8_t size = 0;
  std::array<double, kSetMax> mean{};
  std::array<double, kSetMax> upper{};
  [[nodiscard]] bool packable() const { return level != PredictionLevel::Never; }
  /// Work per second, in units of one job alone.
  [[nodiscard]] double sum_of_rates() const;
  /// Speed of the set: number of jobs / sum of slowdowns (v in EaCO: power model, docs/papers.md).
  [[nodiscard]] double speed() const;
};

/// Mean speed of a job where utilisations add up to `joint_pct`: 1,388 pairs on an RTX 3090 (Hu et
/// al., Lucid, ASPLOS 2023). Our extension: for more than two jobs above 100 %, at most
/// 100 / joint_pct.
[[nodiscard]] double prior_speed(double joint_pct, size_t num_jobs);

/// Predicts from a history, which must outlive it. An invalid AppId is an unknown application.
/// Cost: one hash for the set; if it was not measured, one per pair and member. Does not allocate.
class ColocationPredictor {
 public:
  explicit ColocationPredictor(const ColocationHistory& history, PredictorOptions options = {})
      : history_(&history), options_(options) {}

  /// At least one member; more than kSetMax are never co-located.
  [[nodiscard]] SetPrediction predict(GpuTypeId gpu_type, std::span<const AppId> apps) const;
  [[nodiscard]] const ColocationHistory& history() const { return *history_; }

 private:
  struct Sorted;
  bool from_set(GpuTypeId gpu_type, const Sorted& sorted, SetPrediction& out) const;
  bool from_pairs(GpuTypeId gpu_type, const Sorted& sorted, SetPrediction& out) const;
  bool from_utilisation(GpuTypeId gpu_type, const Sorted& sorted, SetPrediction& out) const;

  const ColocationHistory* history_;
  PredictorOptions options_;
};

/// Source of the power of a set, the best first.
enum class PowerLevel : uint8_t { Measured, Composed, Utilisation, Unknown };
[[nodiscard]] std::string_view level_name(PowerLevel level);

/// Power of one GPU that runs a set, without the host's idle power.
struct SetPower {
  double gpu_w = 0;
  PowerLevel level = PowerLevel::Unknown;
};

/// The measured power of the set; otherwise composed of its members' at the predicted speed;
/// otherwise by joint utilisation; otherwise that of a fully used GPU. Does not allocate.
[[nodiscard]] SetPower set_power(const PowerModel& model, const ColocationHistory& history,
                                 GpuTypeId gpu_type, std::span<const AppId> apps,
                                 const SetPrediction& prediction);

/// Joules for the work of one second of one job alone, on a GPU of a full node. Sharing saves
/// energy if it lowers this value.
[[nodiscard]] inline double joules_per_work(const PowerModel& model, const SetPower& power,
                                            const SetPrediction& prediction) {
  return (power.gpu_w + model.host_share_w()) / prediction.sum_of_rates();
}

}  // namespace goban::core::knowledge
