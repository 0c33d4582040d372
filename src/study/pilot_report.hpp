// The page of a pilot for whoever decides on the policy: what it shows, and what it does not
// (docs/pilot.md). In English and Japanese.
#pragma once

#include <string>
#include <vector>

#include "core/pilot/comparison.hpp"
#include "site/analysis/labels.hpp"

namespace goban::study {

/// A pilot as the daemon states it.
struct PilotFacts {
  core::pilot::Plan plan{};
  bool runs = false;
  bool is_over = false;    ///< it reached its planned end, or a stop rule ended it
  bool fell_back = false;  ///< by a stop rule
  std::string detail{};    ///< why it ended early
  std::string decides{};   ///< the policy that decides now
  base::TimeNs started_ns = 0;
  base::TimeNs until_ns = 0;  ///< the planned end, or when it ended
  int32_t period = 0;         ///< the present or last one
  std::vector<core::pilot::Outcomes> periods{};

  /// Periods that ran to their end.
  [[nodiscard]] size_t complete() const;
  /// Without a verdict after a stop rule: the pair in which B broke it is not complete.
  [[nodiscard]] core::pilot::Comparison comparison() const;
};

/// "decides on nodes n1, n2 about the jobs of ann, bob". Long lists are shortened.
[[nodiscard]] std::string pilot_limits_text(const core::pilot::Plan& plan);

[[nodiscard]] std::string pilot_text(const PilotFacts& facts, site::analysis::Language language);
/// One HTML file without scripts or further files.
[[nodiscard]] std::string pilot_html(const PilotFacts& facts, site::analysis::Language language);

}  // namespace goban::study
