// What jobs got in the periods of a pilot, and whether policy B does so much harm that it stops.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/pilot/pilot_plan.hpp"

namespace goban::core::pilot {

/// Runs shorter than this count as this long in slowdowns.
inline constexpr double kShortRun_s = 600;

/// One job, as it ended, or as it stands. It counts for the period in which it was submitted.
struct Outcome {
  double wait_s = 0;  ///< from its submission to its end, without the time that it held GPUs
  double held_s = 0;
  double gpus = 0;        ///< held, on average over held_s
  double expected_s = 0;  ///< of a job that has not ended: its predicted run time; 0: unknown
  bool missed = false;    ///< killed at its limit, or ended after its deadline
  bool failed = false;    ///< ended with an error, its own or that of a node

  /// (wait + run) / run, with the time held as run, or the predicted one if that is longer.
  [[nodiscard]] double slowdown() const;
};

/// Sums over the jobs of a period, or of several.
struct Outcomes {
  int64_t jobs = 0;
  int64_t missed = 0;
  int64_t failed = 0;
  double gpu_hours = 0;  ///< held
  int64_t judged = 0;    ///< jobs that count for the comparison: Plan::judges()
  double wait_s = 0;     ///< sums over judged jobs
  double slowdown = 0;
  friend bool operator==(const Outcomes&, const Outcomes&) = default;

  void add(const Outcome& outcome, bool is_judged);
  void add(const Outcomes& other);
};

/// The sums of all periods of one policy.
[[nodiscard]] Outcomes of_arm(const Plan& plan, std::span<const Outcomes> periods, Arm arm);

/// A stop rule that is broken, with the values of both policies.
struct Harm {
  const char* rule = "";  ///< "slowdown", "misses" or "errors"
  double of_a = 0;
  double of_b = 0;
};
/// The first stop rule that B breaks. Slowdowns are compared from StopRules::jobs judged jobs of
/// each policy on, shares from as many jobs.
[[nodiscard]] std::optional<Harm> find_harm(const StopRules& rules, const Outcomes& of_a,
                                            const Outcomes& of_b);
/// "misses: 9.0 % of the jobs of B, 1.0 % of A".
[[nodiscard]] std::string harm_text(const Harm& harm);

}  // namespace goban::core::pilot
