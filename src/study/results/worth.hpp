// What a policy is worth a year against the reference: money, carbon and GPU-hours, with intervals,
// and the length of a pilot that would show it (docs/simulate.md, what it is worth).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "study/results/account_metrics.hpp"
#include "study/results/hourly_energy.hpp"
#include "study/results/prices.hpp"

namespace goban::study::results {

inline constexpr double kYear_s = 365.25 * 86400;

/// Energy at the site's meter: that of the nodes x PUE.
struct EnergyCost {
  double kwh = 0;
  double money = 0;
  double carbon_kg = 0;
  double uncovered_kwh = 0;  ///< in hours without a value of their own: HourlyRate::covers()

  friend bool operator==(const EnergyCost&, const EnergyCost&) = default;
};
[[nodiscard]] EnergyCost energy_cost(const HourlyEnergy& energy, const Prices& prices);

/// Money for electricity in each of `days` spans of 24 hours from `first_ns` on; the energy of an
/// hour is spread evenly over it.
[[nodiscard]] std::vector<double> electricity_by_day(const HourlyEnergy& energy,
                                                     const Prices& prices, base::TimeNs first_ns,
                                                     size_t days);

/// One run over one history.
struct RunCost {
  EnergyCost energy;
  double gpu_hours = 0;  ///< held; a shared GPU counts once
  double gpu_money = 0;  ///< gpu_hours x Prices::gpu_hour_rate()
  double avg_wait_s = 0;
  double p99_jct_s = 0;

  [[nodiscard]] double money() const { return energy.money + gpu_money; }
};

/// The runs of all policies over one history: the recorded one, or a resample of its days.
struct PricedHistory {
  std::optional<uint64_t> seed;  ///< of the resample
  double span_s = 0;             ///< from the first submission to the end of the longest run
  std::vector<RunCost> runs;     ///< by policy
};

/// A value of the recorded history and half of its 95 % interval: t x the standard deviation over
/// the resamples, which stand for other histories of this length (Efron 1979). No interval with
/// fewer than two.
struct Estimate {
  double value = 0;
  std::optional<double> half_width;

  /// Whether the interval lies on one side of 0.
  [[nodiscard]] bool is_shown() const;
};
[[nodiscard]] Estimate estimate(double recorded, std::span<const double> resampled);

/// A pilot that runs both policies on days in turn, and compares the means of their days.
struct Pilot {
  double effect = 0;  ///< mean of the reference's days - mean of the policy's
  double sd_reference = 0;
  double sd_policy = 0;  ///< between days
  /// Days in all, half of them under each policy, after which a two-sided test at 5 % finds this
  /// effect with a probability of 80 %; none: no effect, or fewer than two days.
  std::optional<int64_t> days;
};

/// From the values of whole days in the simulation. n = (1.960 + 0.842)^2 (s1^2 + s2^2) / d^2 +
/// 1.960^2 / 4 days for each policy (Guenther 1981), at least 2. Assumes that days are independent,
/// about normal, and that no queue is carried over from one to the next.
[[nodiscard]] Pilot pilot(std::span<const double> reference_days,
                          std::span<const double> policy_days);

/// An account's average wait under both policies.
struct AccountChange {
  std::string name;
  int64_t jobs = 0;
  double reference_wait_s = 0;
  double wait_s = 0;
};
/// The account whose average wait grows most, or shrinks least; none without accounts and users.
[[nodiscard]] std::optional<AccountChange> worst_change(std::span<const AccountMetrics> reference,
                                                        std::span<const AccountMetrics> policy);

struct SeedSaving {
  uint64_t seed = 0;
  double saving = 0;
};

/// One policy a year. Savings are positive if the policy needs less than the reference.
struct PolicyWorth {
  std::string policy;
  RunCost year;     ///< avg_wait_s and p99_jct_s are not scaled
  Estimate saving;  ///< money in all
  Estimate electricity_saving;
  Estimate gpu_saving;
  Estimate kwh_saved;
  Estimate carbon_kg_saved;
  Estimate gpu_hours_freed;
  Estimate wait_change_s;  ///< of the average; positive: jobs wait longer
  Estimate p99_jct_change_s;
  std::optional<SeedSaving> worst_seed;  ///< the resample with the lowest saving
  std::optional<AccountChange> worst_account;
  int64_t deadline_misses = 0;  ///< in the recorded history, not scaled
  Pilot cost_pilot;             ///< by money a day
  Pilot wait_pilot;             ///< by the average wait of the jobs submitted in a day
};

struct Worth {
  std::string currency;
  double pue = 1;
  double gpu_hour_rate = 0;
  std::optional<double> gpu_price;  ///< of the hardware
  bool is_metered = false;          ///< energy is known
  bool prices_electricity = false;
  bool prices_carbon = false;
  size_t reference = 0;
  int64_t deadline_jobs = 0;  ///< in the recorded history
  int64_t history_days = 0;   ///< spans of 24 hours from the first submission, the last one in part
  int64_t pilot_days = 0;     ///< whole ones, from which Pilot is computed
  std::vector<PricedHistory> histories;  ///< the recorded one first
  std::vector<PolicyWorth> policies;

  [[nodiscard]] size_t resamples() const { return histories.size() - 1; }
  [[nodiscard]] double span_s() const { return histories.front().span_s; }
  /// GPUs that these GPU-hours fill all year.
  [[nodiscard]] static double gpus_of(double gpu_hours_year) {
    return gpu_hours_year / (kYear_s / static_cast<double>(base::kHour_s));
  }
};

/// Fills `policies` from `histories`, except names, accounts, deadlines and pilots. Every history
/// is scaled to a year by its own span.
void compare_costs(Worth& worth);

}  // namespace goban::study::results
