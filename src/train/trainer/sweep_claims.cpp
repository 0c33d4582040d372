#include "train/trainer/sweep_claims.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>

namespace goban::train::trainer {
namespace {

// The criteria. The experiment gives curves and statements; these thresholds are our reading.
constexpr double kConverged = 0.005;  // S1: maximum distance to the run's best accuracy
constexpr double kEpochShare =
    0.1;  // S1: maximum difference of epochs to convergence, as a share of all epochs
constexpr double kFirstGap = 0.03;                       // S2
constexpr double kLastGap = 0.01;                        // S3: "about 0.005": at most twice that
constexpr double kTurned = 1.2;                          // S5: last / minimum test loss
constexpr int kTurnFirst = 3, kTurnLast = 8;             // S5: "after epoch 5 or so"
constexpr size_t kTurnEpochs = 8;                        // S5: minimum number of epochs
constexpr size_t kAllEpochs = 20;                        // S3, S6
constexpr double kTwiceLow = 1.5, kTwiceHigh = 2.5;      // S6
constexpr double kOthersLow = 0.03, kOthersHigh = 0.07;  // S6: "about 0.05"
constexpr double kScaling = 0.8;                         // S7: share of proportional growth
constexpr double kBand = 1;  // L1: allowed distance to the seeds' range, in widths of that range

using Curves = std::map<int64_t, Curve>;

/// First epoch whose accuracy is within kConverged of the best.
double converged_at(const Curve& curve) {
  const double best = *std::max_element(curve.accuracy.begin(), curve.accuracy.end());
  for (size_t i = 0; i < curve.accuracy.size(); ++i) {
    if (curve.accuracy[i] >= best - kConverged) return curve.epoch[i];
  }
  return curve.epoch.back();
}

size_t least_loss_at(const Curve& curve) {
  return static_cast<size_t>(std::min_element(curve.loss.begin(), curve.loss.end()) -
                             curve.loss.begin());
}

double turned(const Curve& curve) { return curve.loss.back() / curve.loss[least_loss_at(curve)]; }

Verdict verdict(bool holds) { return holds ? Verdict::Holds : Verdict::Fails; }

Claim convergence(const Curves& curves, size_t epochs) {
  Claim claim{"S1", "Epochs to convergence do not depend on the batch size", {}, {}, {}};
  const double allowed = std::max(1.0, kEpochShare * static_cast<double>(epochs));
  claim.rule = fmt::format(
      "first epoch within {} of the run's best accuracy: batch sizes differ by at most {:g}",
      kConverged, allowed);
  double low = std::numeric_limits<double>::max(), high = 0;
  for (const auto& [batch, curve] : curves) {
    const double at = converged_at(curve);
    low = std::min(low, at);
    high = std::max(high, at);
    claim.measured += fmt::format("{}{}: {:.0f}", claim.measured.empty() ? "" : ", ", batch, at);
  }
  claim.measured = fmt::format("difference {:.0f} ({})", high - low, claim.measured);
  claim.verdict = epochs < 5 ? Verdict::NotMeasured : verdict(high - low <= allowed);
  if (epochs < 5) claim.measured += "; at least 5 epochs are required";
  return claim;
}

Claim first_accuracy(const Curve& small, const Curve& large) {
  const double gap = small.accuracy.front() - large.accuracy.front();
  return {"S2", "A smaller batch has a higher initial accuracy",
          fmt::format("after the first epoch, smallest minus largest batch > {}", kFirstGap),
          fmt::format("{:.4f} - {:.4f} = {:+.4f}, margin {:+.4f}", small.accuracy.front(),
                      large.accuracy.front(), gap, gap - kFirstGap),
          verdict(gap > kFirstGap)};
}

Claim last_accuracy(const Curve& small, const Curve& large, size_t epochs) {
  const double gap = std::abs(small.accuracy.back() - large.accuracy.back());
  Claim claim{"S3", "After enough epochs the gap is about 0.005",
              fmt::format("after epoch {}: |smallest - largest| <= {}", epochs, kLastGap),
              fmt::format("{:.4f}, margin {:+.4f}", gap, kLastGap - gap), verdict(gap <= kLastGap)};
  if (epochs < kAllEpochs) {
    claim.measured += fmt::format("; {} epochs, not {}", epochs, kAllEpochs);
    if (gap > kLastGap) claim.verdict = Verdict::NotMeasured;
  }
  return claim;
}

Claim first_loss(const Curve& small, const Curve& large) {
  const double gap = large.loss.front() - small.loss.front();
  return {"S4", "A smaller batch has a lower initial loss",
          "test loss after the first epoch: smallest < largest batch",
          fmt::format("{:.4f} against {:.4f}, margin {:+.4f}", small.loss.front(),
                      large.loss.front(), gap),
          verdict(gap > 0)};
}

Claim overfitting(const Curves& curves, size_t epochs) {
  Claim claim{
      "S5",
      "Only the smallest batch overfits: its loss rises after about epoch 5",
      fmt::format("last test loss >= {} times the minimum for the smallest batch only, whose "
                  "minimum is in epochs {} to {}",
                  kTurned, kTurnFirst, kTurnLast),
      {},
      {}};
  bool others = false;
  for (const auto& [batch, curve] : curves) {
    others = others || (batch != curves.begin()->first && turned(curve) >= kTurned);
    claim.measured += fmt::format("{}{}: {:.2f} times, minimum in epoch {:.0f}",
                                  claim.measured.empty() ? "" : ", ", batch, turned(curve),
                                  curve.epoch[least_loss_at(curve)]);
  }
  const Curve& small = curves.begin()->second;
  const double at = small.epoch[least_loss_at(small)];
  claim.verdict =
      verdict(!others && turned(small) >= kTurned && at >= kTurnFirst && at <= kTurnLast);
  if (epochs < kTurnEpochs) {
    claim.verdict = Verdict::NotMeasured;
    claim.measured += fmt::format("; {} epochs, {} are required", epochs, kTurnEpochs);
  }
  return claim;
}

Claim last_loss(const Curves& curves, size_t epochs) {
  double others = 0;
  for (const auto& [batch, curve] : curves) others += curve.loss.back();
  const double small = curves.begin()->second.loss.back();
  others = (others - small) / static_cast<double>(curves.size() - 1);
  const double ratio = small / others;
  Claim claim{"S6", "At epoch 20 the others' loss is about 0.05, the smallest batch's twice that",
              fmt::format("ratio {} to {}, the others {} to {}", kTwiceLow, kTwiceHigh, kOthersLow,
                          kOthersHigh),
              fmt::format("{:.4f} / {:.4f} = {:.2f} at epoch {}", small, others, ratio, epochs),
              verdict(ratio >= kTwiceLow && ratio <= kTwiceHigh && others >= kOthersLow &&
                      others <= kOthersHigh)};
  if (epochs < kAllEpochs) claim.verdict = Verdict::NotMeasured;
  return claim;
}

Claim usable_batch(const SweepResult& result) {
  Claim claim{"S7",
              "The number of devices scales the usable batch",
              fmt::format("largest batch within the memory limit on n devices >= {} n times that "
                          "of one",
                          kScaling),
              {},
              {}};
  if (result.largest.empty() || result.largest.front().ranks != 1) {
    claim.measured = result.largest.empty() ? "not searched" : "not searched on one rank";
    return claim;
  }
  if (result.largest.front().found == 0) {
    claim.measured = "1 rank: none fits";
    return claim;
  }
  const Largest& one = result.largest.front();
  bool holds = true;
  for (const Largest& each : result.largest) {
    const double times = static_cast<double>(each.found) / static_cast<double>(one.found);
    const double wanted = static_cast<double>(each.ranks) / one.ranks;
    holds = holds && times >= kScaling * wanted;
    claim.measured +=
        fmt::format("{}{} rank{}: {} ({:.2f} times)", claim.measured.empty() ? "" : ", ",
                    each.ranks, each.ranks == 1 ? "" : "s", each.found, times);
  }
  claim.verdict = result.largest.size() > 1 ? verdict(holds) : Verdict::NotMeasured;
  return claim;
}

/// The distance of `value` to the range [low, high], in widths of the range.
double widths_outside(double value, double low, double high) {
  const double outside = std::max({low - value, value - high, 0.0});
  if (outside == 0) return 0;
  return high > low ? outside / (high - low) : std::numeric_limits<double>::infinity();
}

/// L1. Rounding grows with the steps, so that curves of one seed under two layouts separate like
/// those of two seeds: the measure is the range of the first layout's seeds.
std::optional<Claim> equal_layouts(const std::vector<SweepRun>& runs,
                                   const std::vector<Selection>& selections) {
  if (selections.size() < 2) return {};
  const Curves first = curves_of(runs, selections.front());
  double worst = 0;
  std::string where = "-";
  int compared = 0, seeds = std::numeric_limits<int>::max();
  for (size_t i = 1; i < selections.size(); ++i) {
    Selection same = selections[i];
    same.layout = selections.front().layout;
    if (!(same == selections.front())) continue;
    for (const auto& [batch, curve] : curves_of(runs, selections[i])) {
      const auto with = first.find(batch);
      if (with == first.end()) continue;
      const Curve& band = with->second;
      seeds = std::min(seeds, band.seeds);
      ++compared;
      for (size_t at = 0; at < std::min(curve.epoch.size(), band.epoch.size()); ++at) {
        const double apart = std::max(
            widths_outside(curve.accuracy[at], band.accuracy_low[at], band.accuracy_high[at]),
            widths_outside(curve.loss[at], band.loss_low[at], band.loss_high[at]));
        if (apart <= worst) continue;
        worst = apart;
        where = fmt::format("layout {} batch {} epoch {:.0f}", selections[i].layout, batch,
                            curve.epoch[at]);
      }
    }
  }
  if (compared == 0) return {};
  Claim claim{"L1", "Every layout has the curves of the first",
              fmt::format("test accuracy and loss of each epoch within the range of the first "
                          "layout's seeds, widened by {} times its width on both sides",
                          kBand),
              fmt::format("{} curves, at most {:.2f} widths outside ({})", compared, worst, where),
              verdict(worst <= kBand)};
  if (seeds < 3) {
    claim.verdict = Verdict::NotMeasured;
    claim.measured += fmt::format("; {} seeds of the first layout, 3 are required", seeds);
  }
  return claim;
}

bool matches(const SweepPoint& point, const Selection& wanted) {
  return point.control == wanted.control && point.hidden == wanted.hidden &&
         point.layout == wanted.layout && point.learning_rate == wanted.learning_rate;
}

void add(Curve& curve, const std::vector<EpochResult>& rows) {
  const size_t n = curve.seeds == 0 ? rows.size() : std::min(rows.size(), curve.epoch.size());
  for (std::vector<double>* each :
       {&curve.epoch, &curve.step, &curve.accuracy, &curve.loss, &curve.train_loss}) {
    each->resize(n, 0);
  }
  constexpr double kMost = std::numeric_limits<double>::max();
  for (std::vector<double>* each : {&curve.accuracy_low, &curve.loss_low}) each->resize(n, kMost);
  for (std::vector<double>* each : {&curve.accuracy_high, &curve.loss_high}) each->resize(n, 0);
  for (size_t i = 0; i < n; ++i) {
    curve.epoch[i] = static_cast<double>(rows[i].epoch);
    curve.step[i] = static_cast<double>(rows[i].step);
    curve.accuracy[i] += rows[i].test_accuracy;
    curve.loss[i] += rows[i].test_loss;
    curve.train_loss[i] += rows[i].train_loss;
    curve.accuracy_low[i] = std::min(curve.accuracy_low[i], rows[i].test_accuracy);
    curve.accuracy_high[i] = std::max(curve.accuracy_high[i], rows[i].test_accuracy);
    curve.loss_low[i] = std::min(curve.loss_low[i], rows[i].test_loss);
    curve.loss_high[i] = std::max(curve.loss_high[i], rows[i].test_loss);
  }
  ++curve.seeds;
}

}  // namespace

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::Holds:
      return "holds";
    case Verdict::Fails:
      return "fails";
    case Verdict::NotMeasured:
      return "not measured";
  }
  return "";
}

std::map<int64_t, Curve> curves_of(const std::vector<SweepRun>& runs, const Selection& selection) {
  std::map<int64_t, Curve> curves;
  Selection plain = selection;
  plain.control = Control::Plain;
  int64_t largest = 0;
  for (const SweepRun& run : runs) largest = std::max(largest, run.point.batch);
  for (const SweepRun& run : runs) {
    if (!run.complete || run.rows.empty()) continue;
    const bool own_control = run.point.batch == largest && matches(run.point, plain);
    if (matches(run.point, selection) || own_control) add(curves[run.point.batch], run.rows);
  }
  for (auto& [batch, curve] : curves) {
    for (std::vector<double>* each : {&curve.accuracy, &curve.loss, &curve.train_loss}) {
      for (double& value : *each) value /= curve.seeds;
    }
  }
  return curves;
}

std::vector<Selection> selections_of(const std::vector<SweepRun>& runs, Control control) {
  std::vector<Selection> out;
  for (const SweepRun& run : runs) {
    const SweepPoint& p = run.point;
    if (!run.complete || p.control != control) continue;
    const bool known = std::any_of(out.begin(), out.end(),
                                   [&](const Selection& each) { return matches(p, each); });
    if (!known) out.push_back({p.control, p.hidden, p.layout, p.learning_rate});
  }
  return out;
}

std::vector<Claim> claims_of(const SweepOptions& options, const SweepResult& result) {
  std::vector<Claim> claims;
  const auto selections = selections_of(result.runs, Control::Plain);
  const Curves curves = selections.empty() ? Curves{} : curves_of(result.runs, selections.front());
  if (curves.size() >= 2) {
    const Curve& small = curves.begin()->second;
    const Curve& large = curves.rbegin()->second;
    const auto epochs = static_cast<size_t>(options.train.epochs);
    claims = {convergence(curves, epochs),         first_accuracy(small, large),
              last_accuracy(small, large, epochs), first_loss(small, large),
              overfitting(curves, epochs),         last_loss(curves, epochs)};
  }
  claims.push_back(usable_batch(result));
  if (auto equal = equal_layouts(result.runs, selections)) claims.push_back(std::move(*equal));
  return claims;
}

std::vector<LayoutAgreement> layout_agreement(const std::vector<SweepRun>& runs) {
  std::vector<LayoutAgreement> out;
  const auto first = [&](const SweepPoint& p) -> const SweepRun* {
    for (const SweepRun& run : runs) {
      SweepPoint same = run.point;
      same.layout = p.layout;
      if (run.complete && same == p) return &run;
    }
    return nullptr;
  };
  for (const SweepRun& run : runs) {
    if (!run.complete) continue;
    const SweepRun* with = first(run.point);
    if (with == &run) continue;
    auto found = std::find_if(out.begin(), out.end(), [&](const LayoutAgreement& each) {
      return each.layout == run.point.layout;
    });
    if (found == out.end()) {
      out.push_back({run.point.layout, 0, 0});
      found = std::prev(out.end());
    }
    ++found->compared;
    for (size_t i = 0; i < std::min(run.rows.size(), with->rows.size()); ++i) {
      const double wanted = with->rows[i].train_loss;
      found->worst = std::max(found->worst, std::abs(run.rows[i].train_loss - wanted) / wanted);
    }
  }
  return out;
}

}  // namespace goban::train::trainer
