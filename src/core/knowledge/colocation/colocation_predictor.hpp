// How much jobs that share a GPU slow each other, before anyone has tried (EaCO spec 3): the
// measured set, else the product of measured pairs, else a prior by joint utilisation, else a
// pessimistic factor. Each answer says which of them it comes from.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/knowledge/colocation/colocation_history.hpp"
#include "core/knowledge/energy/power_model.hpp"

namespace goban::core::knowledge {

/// Where a prediction comes from, the best first. Never: a set, or a pair in it, is known as not to
/// be packed.
enum class PredictionLevel : uint8_t { Alone, Measured, Pairs, Utilisation, Pessimistic, Never };
[[nodiscard]] std::string_view level_name(PredictionLevel level);

/// The relative standard deviations of levels are ours: no data set measures sets, their pairs and
/// utilisations together. A policy studies its sensitivity to them.
struct PredictorOptions {
  double upper_z = 1.645;          ///< upper = mean x (1 + z x std): the 95 % quantile of a normal
  double rel_std_measured = 0.03;  ///< or what the row says, if that is more
  double rel_std_pairs = 0.10;     ///< beside that of the pairs
  double rel_std_utilisation = 0.25;
  double pessimistic_upper = 1.3;  ///< x the time of taking turns (sum of rates 0.77: spec 3)
};

/// Slowdowns of the members of a set, in the order asked.
struct SetPrediction {
  PredictionLevel level = PredictionLevel::Never;
  uint8_t size = 0;
  std::array<double, kSetMax> mean{};
  std::array<double, kSetMax> upper{};
  [[nodiscard]] bool packable() const { return level != PredictionLevel::Never; }
  /// Work done a second, in units of one job alone.
  [[nodiscard]] double sum_of_rates() const;
  /// One speed for the set: number of jobs / sum of slowdowns (v of the spec).
  [[nodiscard]] double speed() const;
};

/// Mean speed of a job where utilisations add up to `joint_pct`: 1,388 pairs on an RTX 3090 (Hu et
/// al., Lucid, ASPLOS 2023; spec 3). Beyond pairs and 100 % not above 100 / joint_pct: ours.
[[nodiscard]] double prior_speed(double joint_pct, size_t num_jobs);

/// Answers from a history, which must outlive it. An invalid AppId is an application that nobody
/// knows. Cost: a hash for the set, and one for each pair and member if it was not measured;
/// nothing is allocated.
class ColocationPredictor {
 public:
  explicit ColocationPredictor(const ColocationHistory& history, PredictorOptions options = {})
      : history_(&history), options_(options) {}

  /// At least one member; more than kSetMax are never packed.
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

/// Where the watts of a set come from, the best first.
enum class PowerLevel : uint8_t { Measured, Composed, Utilisation, Unknown };
[[nodiscard]] std::string_view level_name(PowerLevel level);

/// Watts of one GPU with a set on it, the host's idle power not among them.
struct SetPower {
  double gpu_w = 0;
  PowerLevel level = PowerLevel::Unknown;
};

/// The measured watts of the set; else composed of its members' at the predicted speed; else by
/// their joint utilisation; else those of a full GPU. Allocates nothing.
[[nodiscard]] SetPower set_power(const PowerModel& model, const ColocationHistory& history,
                                 GpuTypeId gpu_type, std::span<const AppId> apps,
                                 const SetPrediction& prediction);

/// Joules for what one job does in a second alone, on a GPU of a full node: what packing has to
/// lower to be worth it.
[[nodiscard]] inline double joules_per_work(const PowerModel& model, const SetPower& power,
                                            const SetPrediction& prediction) {
  return (power.gpu_w + model.host_share_w()) / prediction.sum_of_rates();
}

}  // namespace goban::core::knowledge
