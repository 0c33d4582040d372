#include "core/pilot/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/statistics/signed_rank.hpp"

namespace goban::core::pilot {
namespace {

double mean(double sum, const Outcomes& of) { return sum / static_cast<double>(of.judged); }

std::optional<Ratio> ratio_of(const std::vector<double>& logarithms) {
  const auto interval = base::statistics::signed_rank_interval_95(logarithms);
  if (!interval) return std::nullopt;
  return Ratio{std::exp(interval->middle), std::exp(interval->low), std::exp(interval->high)};
}

Verdict verdict_of(const Ratio& wait, double effect) {
  if (wait.high < 1) return Verdict::Gain;
  if (wait.low > 1) return Verdict::Loss;
  return wait.low > 1 - effect ? Verdict::NoGain : Verdict::NotEnoughData;
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::NotEnoughData:
      return "not-enough-data";
    case Verdict::Gain:
      return "gain";
    case Verdict::Loss:
      return "loss";
    case Verdict::NoGain:
      return "no-gain";
  }
  return "";
}

Comparison compare(const Plan& plan, std::span<const Outcomes> periods, bool is_over) {
  std::vector<double> waits;
  std::vector<double> slowdowns;
  Outcomes all_a;
  Outcomes all_b;
  for (size_t first = 0; first + 1 < periods.size(); first += 2) {
    const bool b_first = plan.arm(static_cast<int32_t>(first)) == Arm::B;
    const Outcomes& a = periods[first + (b_first ? 1 : 0)];
    const Outcomes& b = periods[first + (b_first ? 0 : 1)];
    if (std::min(a.judged, b.judged) < kJudgedLeast) continue;
    all_a.add(a);
    all_b.add(b);
    waits.push_back(
        std::log((mean(b.wait_s, b) + kShortWait_s) / (mean(a.wait_s, a) + kShortWait_s)));
    slowdowns.push_back(std::log(mean(b.slowdown, b) / mean(a.slowdown, a)));
  }
  Comparison out;
  out.pairs = static_cast<int32_t>(waits.size());
  out.wait = ratio_of(waits);
  out.slowdown = ratio_of(slowdowns);
  if (waits.empty()) return out;
  const double of_a = mean(all_a.wait_s, all_a);
  const double of_b = mean(all_b.wait_s, all_b);
  if (of_a > 0) out.overall_wait = of_b / of_a;
  if (!out.wait || !is_over) return out;
  const Verdict shown = verdict_of(*out.wait, plan.effect);
  out.contradicts =
      (shown == Verdict::Gain && of_b > of_a) || (shown == Verdict::Loss && of_b < of_a);
  if (!out.contradicts) out.verdict = shown;
  return out;
}

}  // namespace goban::core::pilot
