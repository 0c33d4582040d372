#include "base/statistics/rank_correlation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/check.hpp"
#include "base/random.hpp"
#include "base/statistics/summary.hpp"

namespace goban::base::statistics {

std::vector<double> mid_ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return values[a] != values[b] ? values[a] < values[b] : a < b;
  });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double rank = static_cast<double>(begin + 1 + end) / 2;  // mean of begin+1 .. end
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = rank;
    begin = end;
  }
  return ranks;
}

std::optional<double> pearson(std::span<const double> x, std::span<const double> y) {
  GOBAN_CHECK(x.size() == y.size());
  if (x.size() < 2) return std::nullopt;
  const double mean_x = *mean(x);
  const double mean_y = *mean(y);
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  if (xx <= 0 || yy <= 0) return std::nullopt;
  return std::clamp(xy / std::sqrt(xx * yy), -1.0, 1.0);
}

std::optional<double> spearman(std::span<const double> x, std::span<const double> y) {
  return pearson(mid_ranks(x), mid_ranks(y));
}

std::optional<Correlation> spearman_interval(std::span<const double> x, std::span<const double> y,
                                             const BootstrapOptions& options) {
  GOBAN_CHECK(options.strata.empty() || options.strata.size() == x.size());
  GOBAN_CHECK(options.level > 0 && options.level < 1);
  const auto rho = spearman(x, y);
  if (!rho) return std::nullopt;
  std::map<uint32_t, std::vector<size_t>> members;
  for (size_t i = 0; i < x.size(); ++i) {
    members[options.strata.empty() ? 0 : options.strata[i]].push_back(i);
  }
  base::Random random(options.seed);
  std::vector<double> drawn_x(x.size());
  std::vector<double> drawn_y(x.size());
  std::vector<double> found;
  for (size_t replicate = 0; replicate < options.replicates; ++replicate) {
    size_t at = 0;
    for (const auto& [stratum, pairs] : members) {
      for (size_t i = 0; i < pairs.size(); ++i, ++at) {
        const size_t pair = pairs[random.below(pairs.size())];
        drawn_x[at] = x[pair];
        drawn_y[at] = y[pair];
      }
    }
    if (const auto drawn = spearman(drawn_x, drawn_y)) found.push_back(*drawn);
  }
  if (found.empty()) found.push_back(*rho);
  std::ranges::sort(found);
  const double tail = (1 - options.level) / 2;
  return Correlation{*rho, *quantile(found, tail), *quantile(found, 1 - tail), x.size(),
                     options.replicates == 0 ? 0 : found.size()};
}

}  // namespace goban::base::statistics
