#include "train/trainer/accuracy.hpp"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "train/mesh/device.hpp"
#include "train/trainer/stopping.hpp"

namespace goban::train::trainer {
namespace {

constexpr double kPoints = 100;

std::string verdict_of(const base::statistics::MeanInterval& difference) {
  if (!std::isfinite(difference.half_width)) return "one seed: no interval";
  if (std::abs(difference.mean) <= difference.half_width) return "no difference shown";
  return difference.mean < 0 ? "worse" : "better";
}

}  // namespace

base::Result<std::vector<PrecisionRow>> compare_precisions(
    const TrialRunner& run, const TrainOptions& options, int ranks,
    const std::vector<PrecisionChoice>& precisions, int seeds) {
  std::vector<PrecisionRow> out;
  TrainOptions plain = options;
  plain.precision = mesh::DType::F32;
  plain.tf32 = false;
  plain.layer_precision.clear();
  mesh::allow_tf32(false);
  if (auto s = warm_up(run, plain, ranks); !s) return base::failure(s.error());
  for (const PrecisionChoice& each : precisions) {
    TrainOptions with = out.empty() ? plain : options;
    with.precision = each.activation;
    with.tf32 = each.tf32;
    with.layer_precision.insert(with.layer_precision.begin(), each.layers.begin(),
                                each.layers.end());
    mesh::allow_tf32(each.tf32);
    auto trials = run_seeds(run, with, ranks, seeds);
    if (!trials && (out.empty() || stop_requested)) return base::failure(trials.error());
    PrecisionRow row{each, {}, {}};
    if (trials) {
      row.trials = std::move(*trials);
    } else {
      row.refused = trials.error().text();
    }
    out.push_back(std::move(row));
  }
  return out;
}

std::string precision_text(const std::vector<PrecisionRow>& rows) {
  std::string out = fmt::format("{:<12}{:>10}{:>20}  {:<22}{:>12}{:>8}\n", "precision", "accuracy",
                                "difference, points", "", "samples/s", "speed");
  if (rows.empty()) return out;
  const double base_rate = samples_per_s_of(rows.front().trials);
  for (const PrecisionRow& row : rows) {
    if (row.trials.empty()) {
      out += fmt::format("{:<12}failed: {}\n", row.precision.name, row.refused);
      continue;
    }
    const bool first = &row == &rows.front();
    const auto difference = accuracy_difference(row.trials, rows.front().trials);
    const double rate = samples_per_s_of(row.trials);
    out += fmt::format("{:<12}{:>10.4f}{:>20}  {:<22}{:>12.0f}{:>7.2f}x\n", row.precision.name,
                       accuracy_of(row.trials).mean, first ? "" : points_text(difference),
                       first ? "" : verdict_of(difference), rate, rate / base_rate);
  }
  return out + fmt::format("{} seeds; +- is the 95 % interval of the difference, paired by seed\n",
                           rows.front().trials.size());
}

std::string precision_json(const std::vector<PrecisionRow>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const PrecisionRow& row : rows) {
    nlohmann::json accuracies = nlohmann::json::array();
    for (const Trial& each : row.trials) accuracies.push_back(each.accuracy);
    nlohmann::json out = {{"precision", row.precision.name}, {"accuracies", accuracies}};
    if (row.trials.empty()) {
      out["failed"] = row.refused;
    } else {
      const auto difference = accuracy_difference(row.trials, rows.front().trials);
      out["samples_per_s"] = samples_per_s_of(row.trials);
      out["difference_points"] = kPoints * difference.mean;
      if (std::isfinite(difference.half_width)) {
        out["half_width_points"] = kPoints * difference.half_width;
      }
    }
    list.push_back(std::move(out));
  }
  const nlohmann::json out = {{"version", 1}, {"rows", std::move(list)}};
  return out.dump(2) + "\n";
}

}  // namespace goban::train::trainer
