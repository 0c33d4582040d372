#include "base/statistics/sampling.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/random.hpp"

namespace goban::base::statistics {

std::vector<StratumDraw> stratified_sample(std::span<const uint32_t> strata, size_t per_stratum,
                                           uint64_t seed) {
  std::map<uint32_t, std::vector<size_t>> members;
  for (size_t i = 0; i < strata.size(); ++i) members[strata[i]].push_back(i);
  std::vector<StratumDraw> draws;
  for (auto& [stratum, indices] : members) {
    // One stream per stratum: an additional stratum does not change the others.
    base::Random random(base::Random(seed)() + stratum);
    const size_t wanted = std::min(per_stratum, indices.size());
    for (size_t i = 0; i < wanted; ++i) {
      std::swap(indices[i], indices[i + random.below(indices.size() - i)]);
    }
    StratumDraw draw{stratum, indices.size(), {}};
    draw.chosen.assign(indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(wanted));
    std::ranges::sort(draw.chosen);
    draws.push_back(std::move(draw));
  }
  return draws;
}

}  // namespace goban::base::statistics
