#include "cli/study/simulate_backtest.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/units.hpp"

namespace goban::cli {

using base::Result;

void add_backtest_options(Command& command, SimulateOptions& options) {
  command
      .add_option_function(
          "--backtest",
          [&options](const std::vector<std::string>& values) {
            options.backtest = values.empty() ? std::string() : values.front();
          },
          "Compare the run of the site's own policy (the first one, if none is named) with the "
          "recorded starts; its error stands beside every gain")
      ->expected(0, 1)
      ->type_name("POLICY");
  command
      .add_option_function(
          "--warmup",
          [&options](const std::vector<std::string>& values) {
            const auto span = base::parse_duration(values.front());
            if (!span) refuse_value("--warmup", span.error().message);
            options.warmup_ns = *span;
          },
          "Simulate, but do not count, the jobs submitted so long after the first one")
      ->type_name("DURATION");
}

void add_site_policy(SimulateOptions& options) {
  if (!options.backtest || options.backtest->empty()) return;
  if (std::ranges::find(options.policies, *options.backtest) != options.policies.end()) return;
  options.policies.insert(options.policies.begin(), *options.backtest);
}

Result<study::results::Comparison> compare_runs(const SimulateOptions& options,
                                                const SimulateInputs& inputs,
                                                const FinishedRuns& runs) {
  study::results::Comparison out;
  out.runs = runs.metrics;
  const core::model::JobHistory& history = inputs.jobs.history;
  if (!out.runs.empty() && out.runs.front().jobs == 0) {
    return base::usage_error("--warmup leaves no job to count", "give a shorter one");
  }
  if (!options.backtest) return out;
  if (!options.backtest->empty()) {
    const auto site =
        std::ranges::find(options.policies, *options.backtest) - options.policies.begin();
    out.reference = static_cast<size_t>(site);
  }
  out.backtest = study::results::backtest(
      out.runs[out.reference].policy, history, runs.results[out.reference].simulation,
      {.warmup_ns = options.warmup_ns, .seed = options.seed, .resamples = 1000});
  if (out.backtest->jobs == 0) {
    return base::bad_data({options.files.jobs, 0, 0, ""},
                          "no counted job has a recorded start to compare with",
                          "--backtest needs a history that says when the site started its jobs, "
                          "such as the column start_time of format generic");
  }
  return out;
}

}  // namespace goban::cli
