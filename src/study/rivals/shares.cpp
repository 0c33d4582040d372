#include "study/rivals/shares.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace goban::study::rivals {
namespace {

std::vector<size_t> ids_of(const ShareProblem& problem) {
  std::vector<size_t> ids(problem.gpus.size());
  std::iota(ids.begin(), ids.end(), size_t{0});
  return ids;
}

/// The least shares with which every job does its steps within `total_s`; none if they do not fit.
std::optional<std::vector<double>> shares_within(const ShareProblem& problem, double total_s) {
  std::vector<double> shares(problem.gpus.size());
  double used = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    shares[i] = std::max(0.0, problem.left[i] / total_s / problem.rate[i]);
    if (shares[i] > 1) return std::nullopt;
    used += problem.gpus[i] * shares[i];
  }
  if (used > problem.capacity) return std::nullopt;
  return shares;
}

/// The analytic centre of 0 <= x <= 1, sum of GPUs * x <= capacity, and rate * x >= left / total_s,
/// by Newton's method. `least`: shares that keep these.
class AnalyticCentre {
 public:
  AnalyticCentre(const ShareProblem& problem, double total_s, std::vector<double> least)
      : problem_(problem), shares_(std::move(least)) {
    for (size_t i = 0; i < shares_.size(); ++i) {
      needed_.push_back(problem.left[i] / total_s / problem.rate[i]);
    }
  }

  std::vector<double> find() {
    if (!step_inside()) return shares_;
    constexpr int kNewtonSteps = 100;
    constexpr double kNear = 1e-9;
    for (int step = 0; step < kNewtonSteps; ++step) {
      if (step_towards() < kNear) break;
    }
    return shares_;
  }

 private:
  [[nodiscard]] double gpus_left() const {
    double left = problem_.capacity;
    for (size_t i = 0; i < shares_.size(); ++i) left -= problem_.gpus[i] * shares_[i];
    return left;
  }
  /// Jobs that need all of their time cannot move.
  [[nodiscard]] bool is_fixed(size_t i) const { return fixed_[i] != 0; }

  /// From the least shares to a point of the interior; false if there is none.
  bool step_inside() {
    constexpr double kLeast = 1e-9;
    double room = 0;
    for (size_t i = 0; i < shares_.size(); ++i) {
      fixed_.push_back(1 - shares_[i] < kLeast ? 1 : 0);
      if (!is_fixed(i)) room += problem_.gpus[i] * (1 - shares_[i]);
    }
    const double left = gpus_left();
    if (left < kLeast || room <= 0) return false;
    const double part = std::min(0.5, 0.5 * left / room);
    for (size_t i = 0; i < shares_.size(); ++i) {
      if (!is_fixed(i)) shares_[i] += part * (1 - shares_[i]);
    }
    return true;
  }

  /// A damped step; returns the decrement of Newton's method. The matrix is a diagonal and a
  /// product of two vectors, so it is inverted in closed form.
  double step_towards() {
    const double left = gpus_left();
    const size_t jobs = shares_.size();
    std::vector<double> slope(jobs, 0.0);
    std::vector<double> bend(jobs, 1.0);
    double gpus_bend = left * left;
    double gpus_slope = 0;
    for (size_t i = 0; i < jobs; ++i) {
      if (is_fixed(i)) continue;
      const double x = shares_[i];
      const double gpus = problem_.gpus[i];
      const double above = x - needed_[i];
      slope[i] = 1 / x + 1 / above - 1 / (1 - x) - gpus / left;
      bend[i] = 1 / (x * x) + 1 / (above * above) + 1 / ((1 - x) * (1 - x));
      gpus_bend += gpus * gpus / bend[i];
      gpus_slope += gpus * slope[i] / bend[i];
    }
    std::vector<double> step(jobs, 0.0);
    double square = 0;
    for (size_t i = 0; i < jobs; ++i) {
      if (is_fixed(i)) continue;
      step[i] = (slope[i] - problem_.gpus[i] * gpus_slope / gpus_bend) / bend[i];
      square += step[i] * slope[i];
    }
    const double decrement = std::sqrt(std::max(0.0, square));
    constexpr double kWhole = 0.25;  // such a step stays inside
    const double length = decrement > kWhole ? 1 / (1 + decrement) : 1.0;
    for (size_t i = 0; i < jobs; ++i) shares_[i] += length * step[i];
    return decrement;
  }

  const ShareProblem& problem_;
  std::vector<double> shares_;
  std::vector<double> needed_;
  std::vector<char> fixed_{};
};

/// Time that an equal share would take in all.
double expected_s(const ShareProblem& problem, size_t i) {
  return problem.told_s[i] + problem.left[i] / problem.alone[i];
}

/// The least shares that keep every job's ratio at most `ratio`. `used`: GPUs that they take; more
/// than the capacity if a job cannot keep it.
std::vector<double> shares_at_ratio(const ShareProblem& problem, double ratio, double& used) {
  std::vector<double> shares(problem.gpus.size(), 0.0);
  used = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    if (problem.left[i] <= 0) continue;
    const double time_s = ratio * expected_s(problem, i) - problem.waited_s[i];
    const double share = time_s > 0 ? problem.left[i] / problem.rate[i] / time_s : 2;
    // Rounding may put a job that needs all of its time a little above it.
    constexpr double kRounding = 1e-9;
    if (share > 1 + kRounding) used = INFINITY;
    shares[i] = std::min(share, 1.0);
    used += problem.gpus[i] * shares[i];
  }
  return shares;
}

}  // namespace

std::vector<double> equal_shares(const ShareProblem& problem) {
  const size_t jobs = problem.gpus.size();
  const double each = problem.capacity / static_cast<double>(jobs);
  return std::vector<double>(jobs, each / std::max(each, 1.0));
}

std::vector<double> max_min_shares(const ShareProblem& problem) {
  std::vector<double> shares;
  if (problem.gpus.empty()) return shares;
  const double level = std::min(problem.capacity / static_cast<double>(problem.gpus.size()),
                                *std::ranges::min_element(problem.gpus));
  for (const double gpus : problem.gpus) shares.push_back(std::min(1.0, level / gpus));
  return shares;
}

std::vector<double> max_throughput_shares(const ShareProblem& problem) {
  std::vector<size_t> order = ids_of(problem);
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return problem.rate[a] / problem.gpus[a] > problem.rate[b] / problem.gpus[b];
  });
  std::vector<double> shares(order.size(), 0.0);
  double left = problem.capacity;
  for (const size_t i : order) {
    shares[i] = std::min(1.0, left / problem.gpus[i]);
    left = std::max(0.0, left - shares[i] * problem.gpus[i]);
  }
  return shares;
}

std::vector<double> min_duration_shares(const ShareProblem& problem) {
  double low = 100;
  double high = 1e6;
  std::optional<std::vector<double>> best;
  while (!best) {
    const double first_high = high;
    while (1.05 * low < high) {
      const double total_s = (low + high) / 2;
      if (auto shares = shares_within(problem, total_s)) {
        best = std::move(shares);
        high = total_s;
      } else {
        low = total_s;
      }
    }
    if (best || !std::isfinite(first_high)) break;
    low = first_high;
    high = 10 * first_high;
  }
  if (!best) return std::vector<double>(problem.gpus.size(), 0.0);
  return AnalyticCentre(problem, high, std::move(*best)).find();
}

FairRatio fair_ratio_shares(const ShareProblem& problem) {
  FairRatio best;
  double low = 0;
  for (size_t i = 0; i < problem.gpus.size(); ++i) {
    if (problem.left[i] <= 0) continue;
    const double alone = problem.waited_s[i] + problem.left[i] / problem.rate[i];
    low = std::max(low, alone / expected_s(problem, i));
  }
  double used = 0;
  best.ratio = low;
  best.shares = shares_at_ratio(problem, low, used);
  if (used <= problem.capacity) return best;
  double high = std::max(1.0, 2 * low);
  constexpr int kSteps = 200;  // doubles are exhausted earlier
  for (int step = 0; step < kSteps; ++step) {
    best.shares = shares_at_ratio(problem, high, used);
    if (used <= problem.capacity) break;
    low = high;
    high *= 2;
  }
  for (int step = 0; step < kSteps; ++step) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    auto shares = shares_at_ratio(problem, middle, used);
    if (used <= problem.capacity) {
      high = middle;
      best.shares = std::move(shares);
    } else {
      low = middle;
    }
  }
  best.ratio = high;
  return best;
}

std::vector<double> allox_shares(const ShareProblem& problem, std::span<const double> before) {
  std::vector<double> shares(before.begin(), before.end());
  std::vector<size_t> waiting;
  auto machines = static_cast<int64_t>(problem.capacity);
  for (size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] == 1) {
      --machines;
    } else {
      waiting.push_back(i);
    }
  }
  if (machines <= 0) return shares;
  const auto n = static_cast<size_t>(machines);
  const auto fifth = static_cast<size_t>(0.2 * static_cast<double>(waiting.size()));
  waiting.resize(std::min(waiting.size(), std::max(fifth, n)));
  std::ranges::stable_sort(waiting, [&](size_t a, size_t b) {
    return problem.left[a] / problem.rate[a] < problem.left[b] / problem.rate[b];
  });
  // The shortest of an incomplete level are first on their machines; on the machines without one of
  // them the longest jobs of the next level.
  const size_t extra = waiting.size() % n;
  for (size_t k = 0; k < waiting.size(); ++k) {
    const bool first = k < extra || (k >= 2 * extra && k < extra + n);
    if (first) shares[waiting[k]] = 1 / problem.gpus[waiting[k]];
  }
  return shares;
}

}  // namespace goban::study::rivals
