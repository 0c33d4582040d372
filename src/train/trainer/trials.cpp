#include "train/trainer/trials.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/check.hpp"
#include "train/trainer/stopping.hpp"
#include "train/trainer/trainer.hpp"

namespace goban::train::trainer {

base::Result<std::vector<EpochResult>> train_on_threads(const RankOptions& start,
                                                        const TrainOptions& options,
                                                        const std::string& device) {
  std::vector<EpochResult> out;
  const auto status = on_each_thread(start, device, [&](comm::Communicator& end) -> base::Status {
    const auto result = train(options, end);
    if (!result) return base::failure(result.error());
    if (end.rank() == 0) out = *result;
    return {};
  });
  if (!status) return base::failure(status.error());
  return out;
}

std::optional<int64_t> Trial::steps_to_accuracy(double wanted) const {
  for (const EpochResult& row : rows) {
    if (row.test_accuracy >= wanted) return row.step;
  }
  return std::nullopt;
}

std::optional<double> Trial::seconds_to_loss(double wanted) const {
  double seconds = 0;
  for (const EpochResult& row : rows) {
    seconds += row.train_s;
    if (row.test_loss <= wanted) return seconds;
  }
  return std::nullopt;
}

double Trial::accuracy_at_loss(double wanted) const {
  for (const EpochResult& row : rows) {
    if (row.test_loss <= wanted) return row.test_accuracy;
  }
  return accuracy;
}

Trial trial_of(std::vector<EpochResult> rows) {
  GOBAN_CHECK(!rows.empty());
  Trial out;
  double samples = 0;
  for (const EpochResult& row : rows) {
    out.train_s += row.train_s;
    samples += row.samples_per_s * row.train_s;
  }
  out.samples_per_s = samples / std::max(out.train_s, 1e-9);
  out.accuracy = rows.back().test_accuracy;
  out.test_loss = rows.back().test_loss;
  out.steps = rows.back().step;
  out.rows = std::move(rows);
  return out;
}

base::statistics::MeanInterval accuracy_of(const std::vector<Trial>& trials) {
  std::vector<double> values;
  for (const Trial& each : trials) values.push_back(each.accuracy);
  return base::statistics::mean_interval_95(values).value_or(base::statistics::MeanInterval{});
}

base::statistics::MeanInterval accuracy_difference(const std::vector<Trial>& trials,
                                                   const std::vector<Trial>& base) {
  GOBAN_CHECK(trials.size() == base.size());
  std::vector<double> values;
  for (size_t i = 0; i < trials.size(); ++i) {
    values.push_back(trials[i].accuracy - base[i].accuracy);
  }
  return base::statistics::mean_interval_95(values).value_or(base::statistics::MeanInterval{});
}

std::string points_text(const base::statistics::MeanInterval& difference) {
  constexpr double kPoints = 100;
  const std::string width = std::isfinite(difference.half_width)
                                ? fmt::format("{:.2f}", kPoints * difference.half_width)
                                : "?";
  return fmt::format("{:+.2f} +- {}", kPoints * difference.mean, width);
}

double samples_per_s_of(const std::vector<Trial>& trials) {
  double sum = 0;
  for (const Trial& each : trials) sum += each.samples_per_s;
  return sum / static_cast<double>(std::max<size_t>(trials.size(), 1));
}

base::Status warm_up(const TrialRunner& run, TrainOptions options, int ranks) {
  constexpr int64_t kSteps = 20;
  options.most_steps = kSteps;
  options.evaluate_every = 0;
  const auto rows = run(options, ranks);
  return rows ? base::Status{} : base::Status(base::failure(rows.error()));
}

base::Result<std::vector<Trial>> run_seeds(const TrialRunner& run, TrainOptions options, int ranks,
                                           int seeds) {
  std::vector<Trial> out;
  for (int i = 0; i < seeds; ++i) {
    auto rows = run(options, ranks);
    if (!rows) return base::failure(rows.error());
    if (stop_requested || rows->empty()) return base::failed("stopped before the end of a run");
    out.push_back(trial_of(std::move(*rows)));
    ++options.seed;
  }
  return out;
}

}  // namespace goban::train::trainer
