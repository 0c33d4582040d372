// The search of EaCO for a group that a job can join: by rank; each kind is evaluated once for its
// traits, its groups for their jobs.
#pragma once

#include <optional>
#include <vector>

#include "core/policy/sharing/admission.hpp"
#include "core/policy/sharing/promises.hpp"
#include "core/policy/sharing/ranking.hpp"

namespace goban::core::policy {

struct PlaceRules {
  ShareRanking ranking = ShareRanking::Highest;
  AdmissionRules admission{};
  PromiseRules promises{};
  /// Minimum predicted share of energy saved; the rates of a set must then add up to at least 1.
  /// Unset: no test.
  std::optional<double> min_saving{};
  double delay_price_w = 0;  ///< as in PriceOptions
  double crowded_rates = 0;
  double joiner_extra_s = 0;  ///< delay added in the test of the joining job's target
};

/// The first place at which all service targets are met. `buffer` is work space.
[[nodiscard]] std::optional<SharedPlace> find_place(const SharingView& view, const JobState& job,
                                                    const PlaceRules& rules,
                                                    std::vector<RankedKind>& buffer);

}  // namespace goban::core::policy
