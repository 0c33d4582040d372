// A prediction of a job's run time, and what it rests on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/knowledge/durations/duration_scale.hpp"
#include "core/model/ids.hpp"
#include "core/model/job.hpp"

namespace goban::core::knowledge {

/// What is known of a job when it is submitted. Invalid ids are unknown.
struct DurationTraits {
  model::UserId user{};
  model::AccountId account{};
  model::PartitionId partition{};
  model::ModelId name{};  ///< application or job name without counters
  int32_t num_gpus = 0;
  double limit_s = 0;   ///< walltime limit; 0 = none
  uint32_t script = 0;  ///< hash of its script as submitted; 0 = unknown
  friend bool operator==(const DurationTraits&, const DurationTraits&) = default;
};

/// The most special group of earlier runs on which a forecast rests, from general to special.
enum class DurationBasis : uint8_t {
  Unknown,         ///< too few runs: no quantile is known
  LimitOnly,       ///< too few runs: the walltime limit stands for all quantiles
  AllRuns,         ///< of the site
  Size,            ///< with about as many GPUs, in the partition
  Limit,           ///< with the same limit
  Account,         ///< of the account
  AccountSize,     ///< of the account, with about as many GPUs
  User,            ///< of the user
  UserSize,        ///< of the user, with about as many GPUs, in the partition
  UserLimit,       ///< of the user, with about as many GPUs and the same limit
  UserName,        ///< of the user, with the same name
  UserNameSize,    ///< of the user, with the same name, limit, and about as many GPUs
  UserScript,      ///< of the user, with the same script
  UserScriptSize,  ///< of the user, with the same script, limit, and about as many GPUs
};
inline constexpr size_t kDurationBases = 14;
/// Such as "runs of this user with as many GPUs".
[[nodiscard]] std::string_view text_of(DurationBasis basis);
/// In files and the API, such as "user_size"; and the basis of a name, Unknown if there is none.
[[nodiscard]] std::string_view name_of(DurationBasis basis);
[[nodiscard]] DurationBasis basis_of(std::string_view name);

/// A calibrated prediction. All quantiles are seconds, ascending, and at most the limit.
struct DurationForecast {
  /// Levels of `quantiles_s`: (i + 0.5) / kQuantiles.
  static constexpr size_t kQuantiles = 21;

  DurationBasis basis = DurationBasis::Unknown;
  std::array<double, kQuantiles> quantiles_s{};
  double p10_s = 0;
  double p25_s = 0;
  double p50_s = 0;
  double p75_s = 0;
  double p90_s = 0;

  /// For DurationPredictor::learn(): the distribution before calibration, and how well the user was
  /// known.
  std::array<float, kDurationBins> distribution{};
  uint8_t familiarity = 0;
  /// The same: 0.1, 0.5 and 0.9 quantiles of the two mixtures of which the distribution consists,
  /// in seconds; 0 = unknown.
  std::array<std::array<float, 3>, 2> of_mixtures{};

  /// False if there were too few runs for an interval.
  [[nodiscard]] bool has_interval() const { return basis > DurationBasis::LimitOnly; }
  /// For the core; unknown without an interval.
  [[nodiscard]] model::RunForecast for_core() const;
};

}  // namespace goban::core::knowledge
