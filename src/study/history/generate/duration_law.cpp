#include "study/history/generate/duration_law.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "base/portable_math.hpp"

namespace goban::study::history {

using base::Random;
using base::Result;

namespace {

using Pair = std::array<double, 2>;

double second_moment(double from, double to) { return (from * from + from * to + to * to) / 3; }

}  // namespace

/// Newton's method for the two parameters of the tilt. Moments are in units of their targets.
class DurationFit {
 public:
  explicit DurationFit(const DurationFacts& facts) : facts_(facts) {
    const double square = facts.mean_s * facts.mean_s + facts.sd_s * facts.sd_s;
    double from_s = facts.min_s;
    double share = 0;
    for (const CdfPoint& point : facts.points) {
      add_segment(from_s, point.seconds, point.share - share, square);
      from_s = point.seconds;
      share = point.share;
    }
    add_segment(from_s, facts.max_s, 1 - share, square);
  }

  Result<DurationLaw> run() {
    constexpr int kSteps = 200;
    constexpr double kClose = 1e-9;
    constexpr double kRounding = 1e-13;  // of the dual's value, which is of the order of ten
    Pair tilt = {0, 0};
    State state = evaluate(tilt);
    for (int step = 0; step < kSteps; ++step) {
      if (std::abs(state.slope[0]) < kClose && std::abs(state.slope[1]) < kClose) return law(tilt);
      const double ridge = 1e-14 * (state.a + state.d);
      const double determinant = (state.a + ridge) * (state.d + ridge) - state.b * state.b;
      const Pair move = {
          (state.b * state.slope[1] - (state.d + ridge) * state.slope[0]) / determinant,
          (state.b * state.slope[0] - (state.a + ridge) * state.slope[1]) / determinant};
      const double descent = move[0] * state.slope[0] + move[1] * state.slope[1];
      double part = 1;
      State next;
      Pair moved = tilt;
      do {
        moved = {tilt[0] + part * move[0], tilt[1] + part * move[1]};
        next = evaluate(moved);
        part /= 2;
      } while (!(next.value <= state.value + 1e-4 * part * descent + kRounding) && part > 1e-9);
      tilt = moved;
      state = next;
    }
    return base::bad_data({},
                          fmt::format("no distribution from {} to {} s has mean {} and standard "
                                      "deviation {} s with these quantiles",
                                      facts_.min_s, facts_.max_s, facts_.mean_s, facts_.sd_s),
                          "check the numbers");
  }

 private:
  static constexpr size_t kCellsPerSegment = 96;
  struct Piece {
    double from_s = 0;
    double to_s = 0;
    Pair moments = {};
  };
  /// The dual at a tilt: value, gradient, and Hessian (a b; b d).
  struct State {
    double value = 0;
    Pair slope = {};
    double a = 0, b = 0, d = 0;
  };

  void add_segment(double from_s, double to_s, double mass, double square) {
    masses_.push_back(mass);
    const double ratio = base::portable_log(to_s / from_s);
    double begin_s = from_s;
    for (size_t i = 1; i <= kCellsPerSegment; ++i) {
      const double part = static_cast<double>(i) / kCellsPerSegment;
      const double end_s = i == kCellsPerSegment ? to_s : from_s * base::portable_exp(ratio * part);
      pieces_.push_back(
          {begin_s,
           end_s,
           {(begin_s + end_s) / 2 / facts_.mean_s, second_moment(begin_s, end_s) / square}});
      begin_s = end_s;
    }
  }

  /// Weights of a segment's cells, scaled so that the maximum is 1; returns the logarithm of the
  /// scale factor.
  double weigh(size_t segment, const Pair& tilt, std::array<double, kCellsPerSegment>& out) const {
    double most = -1e300;
    for (size_t i = 0; i < kCellsPerSegment; ++i) {
      const Pair& m = pieces_[segment * kCellsPerSegment + i].moments;
      out[i] = tilt[0] * m[0] + tilt[1] * m[1];
      most = std::max(most, out[i]);
    }
    for (double& weight : out) {
      const double power = weight - most;
      weight = power < -600 ? 0 : base::portable_exp(power);
    }
    return most;
  }

  [[nodiscard]] State evaluate(const Pair& tilt) const {
    State state;
    state.value = -tilt[0] - tilt[1];
    state.slope = {-1, -1};
    std::array<double, kCellsPerSegment> weights{};
    for (size_t segment = 0; segment < masses_.size(); ++segment) {
      const double most = weigh(segment, tilt, weights);
      double sum = 0;
      Pair mean = {0, 0};
      double aa = 0, ab = 0, bb = 0;
      for (size_t i = 0; i < kCellsPerSegment; ++i) {
        const Pair& m = pieces_[segment * kCellsPerSegment + i].moments;
        sum += weights[i];
        mean[0] += weights[i] * m[0];
        mean[1] += weights[i] * m[1];
        aa += weights[i] * m[0] * m[0];
        ab += weights[i] * m[0] * m[1];
        bb += weights[i] * m[1] * m[1];
      }
      mean = {mean[0] / sum, mean[1] / sum};
      const double mass = masses_[segment];
      state.value += mass * (most + base::portable_log(sum));
      state.slope[0] += mass * mean[0];
      state.slope[1] += mass * mean[1];
      state.a += mass * (aa / sum - mean[0] * mean[0]);
      state.b += mass * (ab / sum - mean[0] * mean[1]);
      state.d += mass * (bb / sum - mean[1] * mean[1]);
    }
    return state;
  }

  [[nodiscard]] DurationLaw law(const Pair& tilt) const {
    DurationLaw law;
    std::array<double, kCellsPerSegment> weights{};
    double before = 0;
    for (size_t segment = 0; segment < masses_.size(); ++segment) {
      weigh(segment, tilt, weights);
      double sum = 0;
      for (const double weight : weights) sum += weight;
      for (size_t i = 0; i < kCellsPerSegment; ++i) {
        const Piece& piece = pieces_[segment * kCellsPerSegment + i];
        const double mass = masses_[segment] * weights[i] / sum;
        law.cells_.push_back({piece.from_s, piece.to_s, mass, before});
        before += mass;
      }
    }
    return law;
  }

  const DurationFacts& facts_;
  std::vector<double> masses_;  ///< by segment
  std::vector<Piece> pieces_;   ///< kCellsPerSegment per segment
};

DurationFacts without_extremes(const DurationFacts& facts, int64_t count) {
  const auto all = static_cast<double>(count);
  const auto rest = static_cast<double>(count - 2);
  const double square = facts.sd_s * facts.sd_s + facts.mean_s * facts.mean_s;
  DurationFacts left = facts;
  left.mean_s = (all * facts.mean_s - facts.min_s - facts.max_s) / rest;
  const double left_square =
      (all * square - facts.min_s * facts.min_s - facts.max_s * facts.max_s) / rest;
  left.sd_s = std::sqrt(std::max(0.0, left_square - left.mean_s * left.mean_s));
  for (CdfPoint& point : left.points) point.share = (all * point.share - 1) / rest;
  return left;
}

Result<DurationLaw> DurationLaw::fit(const DurationFacts& facts) {
  return DurationFit(facts).run();
}

double DurationLaw::within(const Cell& cell, double share) {
  const double part = cell.mass > 0 ? (share - cell.mass_before) / cell.mass : 0;
  return cell.from_s + std::clamp(part, 0.0, 1.0) * (cell.to_s - cell.from_s);
}

double DurationLaw::quantile_s(double share) const {
  const auto after = std::ranges::upper_bound(cells_, share, {}, &Cell::mass_before);
  return within(after == cells_.begin() ? *after : *(after - 1), share);
}

std::vector<double> DurationLaw::stratified_s(size_t count, Random& random) const {
  std::vector<double> out;
  out.reserve(count);
  auto cell = cells_.begin();
  for (size_t i = 0; i < count; ++i) {
    const double share = (static_cast<double>(i) + random.uniform()) / static_cast<double>(count);
    while (cell + 1 != cells_.end() && cell[1].mass_before <= share) ++cell;
    out.push_back(within(*cell, share));
  }
  return out;
}

double DurationLaw::mean_s() const {
  double sum = 0;
  for (const Cell& cell : cells_) sum += cell.mass * (cell.from_s + cell.to_s) / 2;
  return sum;
}

double DurationLaw::sd_s() const {
  double sum = 0;
  for (const Cell& cell : cells_) sum += cell.mass * second_moment(cell.from_s, cell.to_s);
  const double mean = mean_s();
  return std::sqrt(sum - mean * mean);
}

}  // namespace goban::study::history
