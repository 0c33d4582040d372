// A pilot: a live site runs two policies in turn, by a plan that is fixed before it begins
// (docs/pilot.md). Pure: the plan says what runs at any time.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace goban::core::pilot {

/// A is what the site runs today, B what is tried.
enum class Arm : uint8_t { A, B };

/// The pilot falls back to A at once if B is worse than this. Rules apply from `jobs` jobs of each
/// policy on.
struct StopRules {
  double slowdown = 3;   ///< mean slowdown of B / that of A
  double misses = 0.05;  ///< share of killed and late jobs of B - that of A
  double errors = 0.10;  ///< share of failed jobs of B - that of A
  int64_t jobs = 50;
  friend bool operator==(const StopRules&, const StopRules&) = default;
};

/// Periods come in pairs, one of each policy; the seed draws which one goes first in each pair.
struct Plan {
  std::string policy_a{};
  std::string policy_b{};
  base::TimeNs period_ns = base::kDay;
  /// Jobs submitted in this time after the start of a period do not count for the comparison: what
  /// waits then was left by the other policy.
  base::TimeNs settle_ns = 2 * base::kHour;
  int32_t pairs = 14;
  uint64_t seed = 1;
  /// The smallest gain that matters: a share of the wait.
  double effect = 0.10;
  StopRules stop{};
  /// B decides on these nodes and about the jobs of these users and accounts only; all empty: about
  /// everything.
  std::vector<std::string> nodes{};
  std::vector<std::string> users{};
  std::vector<std::string> accounts{};
  friend bool operator==(const Plan&, const Plan&) = default;

  [[nodiscard]] bool is_limited() const { return !nodes.empty(); }
  [[nodiscard]] int32_t num_periods() const { return 2 * pairs; }
  [[nodiscard]] base::TimeNs length_ns() const { return num_periods() * period_ns; }
  /// `period` from 0 to num_periods() - 1.
  [[nodiscard]] Arm arm(int32_t period) const;
  /// The period at this time after the start; num_periods() from the end on.
  [[nodiscard]] int32_t period_at(base::TimeNs since_start_ns) const;
  /// Whether a job submitted at this time after the start counts for the comparison.
  [[nodiscard]] bool judges(base::TimeNs since_start_ns) const;
};

/// Errors: BadData naming the field that is out of range, and a remedy.
[[nodiscard]] base::Status check(const Plan& plan);

[[nodiscard]] nlohmann::json to_json(const Plan& plan);
/// Reads the fields of a plan; check() it afterwards.
void read_fields(base::FieldReader& in, Plan& plan);
/// The plan in a JSON document. Errors: BadData with file, place and field; unknown fields are
/// refused.
[[nodiscard]] base::Result<Plan> parse_plan(std::string_view text, const std::string& file);

}  // namespace goban::core::pilot
