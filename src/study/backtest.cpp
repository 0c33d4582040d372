#include "study/backtest.hpp"

#include <algorithm>

namespace goban::study {

using base::Result;

Result<results::Comparison> compare_runs(const StudyOptions& options, const Inputs& inputs,
                                         const FinishedRuns& runs) {
  results::Comparison out;
  out.runs = runs.metrics;
  const core::model::JobHistory& history = inputs.jobs.history;
  if (!out.runs.empty() && out.runs.front().jobs == 0) {
    return base::usage_error("--warmup leaves no job to count", "give a shorter warm-up");
  }
  // The bound is of jobs that run on what they request.
  const bool any_elastic =
      inputs.speeds != nullptr &&
      std::ranges::any_of(history.training, [](const core::model::TrainingFacts& facts) {
        return facts.gpus_max > 0;
      });
  if (out.runs.size() > 1 && !any_elastic) {
    out.bounds =
        results::jct_bounds(history, inputs.cluster.num_gpus(), inputs.scores, options.warmup_ns);
  }
  if (!options.backtest) return out;
  if (!options.backtest->empty()) {
    const auto site =
        std::ranges::find(options.policies, *options.backtest) - options.policies.begin();
    out.reference = static_cast<size_t>(site);
  }
  out.backtest = results::backtest(
      out.runs[out.reference].policy, history, runs.simulated[out.reference].simulation,
      {.warmup_ns = options.warmup_ns, .seed = options.seed, .resamples = 1000});
  if (out.backtest->jobs == 0) {
    return base::bad_data({options.files.jobs, 0, 0, ""}, "no counted job has a recorded start",
                          "--backtest requires recorded start times, such as the column "
                          "start_time of format generic");
  }
  return out;
}

}  // namespace goban::study
