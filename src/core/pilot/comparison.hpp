// What a pilot shows: B against A in pairs of periods, with intervals that hold by the plan's draw.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/pilot/outcomes.hpp"

namespace goban::core::pilot {

enum class Verdict : uint8_t {
  NotEnoughData,  ///< neither a difference nor its absence is shown
  Gain,           ///< jobs wait less under B
  Loss,           ///< jobs wait longer under B
  NoGain,         ///< a gain as large as Plan::effect can be excluded
};
/// "not-enough-data", "gain", "loss", "no-gain".
[[nodiscard]] std::string_view verdict_name(Verdict verdict);

/// A mean of B / that of A, with its 95 % interval.
struct Ratio {
  double value = 1;
  double low = 0;
  double high = 0;
};

struct Comparison {
  int32_t pairs = 0;            ///< pairs of complete periods with enough judged jobs
  std::optional<Ratio> wait{};  ///< in the typical pair: of mean wait + kShortWait_s
  /// Mean wait of all judged jobs of B in these pairs / that of A; nullopt: none waits under A.
  std::optional<double> overall_wait{};
  /// The interval shows a difference, but the overall means differ the other way: no verdict.
  bool contradicts = false;
  std::optional<Ratio> slowdown{};  ///< beside it: the wait alone decides
  Verdict verdict = Verdict::NotEnoughData;
};

/// Pairs with fewer judged jobs in one of their periods say nothing.
inline constexpr int64_t kJudgedLeast = 5;
/// Added to mean waits before their ratio is taken, so that waits near 0 weigh little.
inline constexpr double kShortWait_s = 60;

/// Compares the means of the two periods of each pair, as logarithms of their ratios, by signed
/// ranks. The plan drew which policy came first in each pair, so that without an effect a gain is
/// found in at most 2.5 % of all pilots, whatever the load does. `periods` are complete. `is_over`:
/// the pilot went on to the planned end; before it, and after a stop, there is no verdict: whoever
/// may choose the end can choose the result, and what a stop rule ends lacks the pair that broke
/// it. Nor is there one where the overall means point the other way.
[[nodiscard]] Comparison compare(const Plan& plan, std::span<const Outcomes> periods, bool is_over);

}  // namespace goban::core::pilot
