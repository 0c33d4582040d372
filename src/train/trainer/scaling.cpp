#include "train/trainer/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace goban::train::trainer {
namespace {

constexpr double kPoints = 100;

double rate_factor(LrScale rule, double ratio) {
  switch (rule) {
    case LrScale::None:
      return 1;
    case LrScale::Linear:
      return ratio;
    case LrScale::Sqrt:
      return std::sqrt(ratio);
  }
  return 1;
}

TrainOptions options_for(const ScalingOptions& o, int ranks, int64_t batch) {
  TrainOptions out = o.train;
  out.batch_size = batch;
  out.mesh = fmt::format("ranks:{}", ranks);
  out.layout = "batch:ranks";
  out.lr_scale = LrScale::None;
  out.last_batch = LastBatch::Drop;
  const double ratio = static_cast<double>(batch) / static_cast<double>(o.device_batch);
  out.optimizer.scale *= rate_factor(o.rule, ratio);
  out.optimizer.warmup_steps = batch > o.device_batch ? o.warmup_steps : 0;
  return out;
}

/// Mean over the seeds that reached the accuracy, and their number.
struct StepsTo {
  double steps = 0;
  size_t reached = 0;
};

StepsTo steps_to(const ScalingRow& row, double accuracy) {
  StepsTo out;
  for (const Trial& each : row.trials) {
    const auto steps = each.steps_to_accuracy(accuracy);
    if (!steps) continue;
    out.steps += static_cast<double>(*steps);
    ++out.reached;
  }
  out.steps /= static_cast<double>(std::max<size_t>(out.reached, 1));
  return out;
}

std::string steps_text(const StepsTo& to, size_t seeds) {
  if (to.reached == 0) return "not reached";
  if (to.reached == seeds) return fmt::format("{:.0f}", to.steps);
  return fmt::format("{:.0f} ({} of {} seeds)", to.steps, to.reached, seeds);
}

void judge(ScalingResult& out, const ScalingOptions& options) {
  const auto accuracy = [&](size_t row) { return accuracy_of(out.rows[row].trials).mean; };
  for (size_t i = 1; i < out.rows.size(); ++i) {
    if (accuracy(i) > accuracy(out.best)) out.best = i;
  }
  out.largest = out.best;
  for (size_t i = 0; i < out.rows.size(); ++i) {
    const bool near = accuracy(i) >= accuracy(out.best) - options.tolerance;
    if (near && out.rows[i].batch > out.rows[out.largest].batch) out.largest = i;
  }
  out.target_accuracy = options.target_accuracy > 0 ? options.target_accuracy
                                                    : accuracy(out.best) - options.tolerance;
}

}  // namespace

base::Result<ScalingResult> measure_scaling(const TrialRunner& run, const ScalingOptions& options) {
  ScalingResult out;
  std::vector<int> ranks = options.ranks;
  std::ranges::sort(ranks);
  const auto same = std::ranges::unique(ranks);
  ranks.erase(same.begin(), same.end());
  if (ranks.empty()) return out;
  const int least = ranks.front();
  if (auto s = warm_up(run, options_for(options, least, options.device_batch * least), least); !s) {
    return base::failure(s.error());
  }
  for (const bool weak : {true, false}) {
    for (const int each : ranks) {
      const int64_t batch = weak ? options.device_batch * each : options.device_batch;
      if (batch % each != 0) {
        return base::usage_error(
            fmt::format("a batch of {} is not divisible by {} ranks", batch, each),
            "give a --device-batch that all --ranks divide");
      }
      const auto same_run = std::ranges::find_if(
          out.rows, [&](const ScalingRow& row) { return row.ranks == each && row.batch == batch; });
      if (same_run != out.rows.end()) {  // one rank: weak and strong are one run
        ScalingRow copy = *same_run;
        copy.weak = weak;
        out.rows.push_back(std::move(copy));
        continue;
      }
      auto trials = run_seeds(run, options_for(options, each, batch), each, options.seeds);
      if (!trials) return base::failure(trials.error());
      out.rows.push_back({each, batch, weak, std::move(*trials)});
    }
  }
  judge(out, options);
  return out;
}

double efficiency_of(const ScalingResult& result, const ScalingRow& row) {
  const auto first = std::ranges::find(result.rows, row.weak, &ScalingRow::weak);
  const double per_rank = samples_per_s_of(first->trials) / first->ranks;
  return samples_per_s_of(row.trials) / (per_rank * row.ranks);
}

std::string scaling_text(const ScalingResult& result, const ScalingOptions& options) {
  std::string out = fmt::format("{:<8}{:>6}{:>8}{:>12}{:>12}{:>20}{:>22}\n", "batch", "ranks",
                                "global", "samples/s", "efficiency", "accuracy, %",
                                fmt::format("steps to {:.2f} %", kPoints * result.target_accuracy));
  for (const ScalingRow& row : result.rows) {
    const auto accuracy = accuracy_of(row.trials);
    const StepsTo steps = steps_to(row, result.target_accuracy);
    const std::string width = std::isfinite(accuracy.half_width)
                                  ? fmt::format("{:.2f}", kPoints * accuracy.half_width)
                                  : "?";
    out +=
        fmt::format("{:<8}{:>6}{:>8}{:>12.0f}{:>12.2f}{:>20}{:>22}\n", row.weak ? "grows" : "fixed",
                    row.ranks, row.batch, samples_per_s_of(row.trials), efficiency_of(result, row),
                    fmt::format("{:.2f} +- {}", kPoints * accuracy.mean, width),
                    steps_text(steps, row.trials.size()));
  }
  const ScalingRow& largest = result.rows[result.largest];
  const ScalingRow& best = result.rows[result.best];
  out += fmt::format(
      "largest batch within {:g} points of the best accuracy ({:.2f} %, batch {}) after equal "
      "epochs: {} ({} points)\n",
      kPoints * options.tolerance, kPoints * accuracy_of(best.trials).mean, best.batch,
      largest.batch, points_text(accuracy_difference(largest.trials, best.trials)));
  const char* rule = options.rule == LrScale::Linear ? "linear"
                     : options.rule == LrScale::Sqrt ? "square root"
                                                     : "none";
  return out + fmt::format(
                   "learning rate: {} in the batch, warm-up {} steps; {} seeds; +- is the "
                   "95 % interval\n",
                   rule, options.warmup_steps, options.seeds);
}

std::string scaling_json(const ScalingResult& result, const ScalingOptions& options) {
  nlohmann::json rows = nlohmann::json::array();
  for (const ScalingRow& row : result.rows) {
    const auto accuracy = accuracy_of(row.trials);
    nlohmann::json out = {{"ranks", row.ranks},
                          {"batch", row.batch},
                          {"scaling", row.weak ? "weak" : "strong"},
                          {"samples_per_s", samples_per_s_of(row.trials)},
                          {"efficiency", efficiency_of(result, row)},
                          {"accuracy", accuracy.mean}};
    if (std::isfinite(accuracy.half_width)) out["accuracy_half_width"] = accuracy.half_width;
    const StepsTo steps = steps_to(row, result.target_accuracy);
    out["seeds_at_target"] = steps.reached;
    if (steps.reached > 0) out["steps_to_target"] = steps.steps;
    rows.push_back(std::move(out));
  }
  const nlohmann::json out = {{"version", 1},
                              {"rows", std::move(rows)},
                              {"target_accuracy", result.target_accuracy},
                              {"tolerance", options.tolerance},
                              {"best_batch", result.rows[result.best].batch},
                              {"largest_batch", result.rows[result.largest].batch}};
  return out.dump(2) + "\n";
}

}  // namespace goban::train::trainer
