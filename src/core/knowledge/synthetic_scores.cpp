#include "core/knowledge/synthetic_scores.hpp"

#include <boost/random/normal_distribution.hpp>
#include <cmath>

#include "base/random.hpp"

namespace goban::core::knowledge {

std::vector<std::vector<double>> synthetic_scores(const SyntheticScores& options) {
  base::Random random(options.seed);
  boost::random::normal_distribution<double> normal;
  std::vector<std::vector<double>> raw(options.sigma_by_class.size());
  for (uint32_t gpu = 0; gpu < options.num_gpus; ++gpu) {
    const double deviation = normal(random);
    const bool straggler = random.uniform() < options.straggler_share;
    for (size_t c = 0; c < raw.size(); ++c) {
      const double sigma = options.sigma_by_class[c];
      double log_score = sigma * deviation;
      if (straggler) {
        log_score += std::log(options.straggler_slowdown) * sigma / options.sigma_by_class[0];
      }
      raw[c].push_back(std::exp(log_score));
    }
  }
  return raw;
}

}  // namespace goban::core::knowledge
