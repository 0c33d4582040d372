// The search of EaCO for a group that a job can join: by rank, each kind judged once for what its
// traits say, its groups for who is in them.
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
  /// Of joules, predicted, at least; and rates of a set that add up to one at least. None: whatever
  /// it costs.
  std::optional<double> min_saving{};
  double delay_price_w = 0;  ///< as in PriceOptions
  double crowded_rates = 0;
  double joiner_extra_s = 0;  ///< that the joiner may lose; its promise has to stand it
};

/// The first place that everybody can keep his promises in. `buffer` is work space.
[[nodiscard]] std::optional<SharedPlace> find_place(const SharingView& view, const JobState& job,
                                                    const PlaceRules& rules,
                                                    std::vector<RankedKind>& buffer);

}  // namespace goban::core::policy
