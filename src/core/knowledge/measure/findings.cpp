#include "core/knowledge/measure/findings.hpp"

#include <algorithm>
#include <cmath>

#include "core/knowledge/median.hpp"
#include "core/knowledge/scores_file.hpp"

namespace goban::core::knowledge {
namespace {

/// The valid sessions of each GPU.
using Valid = std::vector<std::span<const GpuSession>>;

/// Scores, stragglers and changes of one kernel, into `out`.
void score_kernel(const Valid& valid, Kernel kernel, MachineScores& out,
                  const ChangeOptions& options) {
  const auto k = static_cast<size_t>(kernel);
  std::vector<double> times;
  std::vector<std::vector<double>> log_times(valid.size());
  for (size_t i = 0; i < valid.size(); ++i) {
    for (const GpuSession& session : valid[i]) {
      log_times[i].push_back(std::log(estimate_time(session.block_s[k]).time_s));
    }
    if (!valid[i].empty()) times.push_back(estimate_time(valid[i].back().block_s[k]).time_s);
  }
  out.sigma[k] = session_sigma(log_times);
  if (times.empty()) return;
  const double middle_s = median(times);
  const double alpha = kStragglerErrors / static_cast<double>(times.size() * kNumKernels);
  for (size_t i = 0; i < valid.size(); ++i) {
    if (valid[i].empty()) continue;
    KernelScore& score = out.gpus[i].kernels[k];
    const std::vector<double>& blocks = valid[i].back().block_s[k];
    const TimeEstimate estimate = estimate_time(blocks);
    score.score = std::clamp(estimate.time_s / middle_s, kScoreMin, kScoreMax);
    if (estimate.has_interval()) {
      score.low = estimate.low_s / middle_s;
      score.high = estimate.high_s / middle_s;
    }
    const auto bound = lower_bound(blocks, alpha);
    score.straggler = bound && *bound > kStragglerScore * middle_s;
    const size_t count = log_times[i].size();
    if (count > 1) score.against_last = std::exp(log_times[i][count - 1] - log_times[i][count - 2]);
    const std::vector<Change> changes = find_changes(log_times[i], out.sigma[k], options);
    if (changes.empty()) continue;
    score.change = changes.back();
    score.changed_unix_s = valid[i][changes.back().at].unix_s;
    score.change_is_new = changes.back().found + 1 == count;
  }
}

}  // namespace

MachineScores scores_of(const MeasureBook& book, std::span<const GpuNow> gpus, int64_t now_unix_s,
                        const ChangeOptions& options) {
  MachineScores out;
  Valid valid;
  for (const GpuNow& gpu : gpus) {
    GpuScores& scores = out.gpus.emplace_back();
    const GpuBook* of = book.find(gpu.uuid);
    size_t count = of == nullptr ? 0 : valid_sessions(*of, gpu.condition);
    if (count > 0 && now_unix_s > 0 && now_unix_s - of->sessions.back().unix_s > kScoreAgeMax_s) {
      count = 0;
    }
    scores.expired = count == 0;
    scores.sessions = count;
    valid.emplace_back();
    if (of == nullptr) continue;
    scores.expired_sessions = of->sessions.size() - count;
    valid.back() = std::span(of->sessions).last(count);
    if (count > 0) scores.last = &valid.back().back();
  }
  for (const Kernel kernel : kKernels) score_kernel(valid, kernel, out, options);
  return out;
}

std::vector<std::vector<double>> raw_by_class(const MachineScores& scores) {
  std::vector<std::vector<double>> out(kNumKernels);
  for (size_t k = 0; k < kNumKernels; ++k) {
    for (const GpuScores& gpu : scores.gpus) out[k].push_back(gpu.kernels[k].score);
  }
  return out;
}

}  // namespace goban::core::knowledge
