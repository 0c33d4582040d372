// Decisions as lines of the journal: `{"decided":{"at":..,"actions":[..]}}`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/scheduler/core.hpp"

namespace goban::live::controller {

using base::TimeNs;

/// The line of the decision that `core` made last.
[[nodiscard]] std::string decision_text(const core::scheduler::Decision& decision,
                                        const core::scheduler::Core& core);

/// A parsed line. The journal does not store the reasons of placements.
struct RecordedDecision {
  TimeNs at_ns = 0;
  std::vector<core::model::Action> actions{};
  std::vector<core::model::Allocation> allocations{};  ///< one for each Start, in their order
};
/// Errors: BadData naming what is missing or wrong.
[[nodiscard]] base::Result<RecordedDecision> parse_decision(std::string_view text);

}  // namespace goban::live::controller
