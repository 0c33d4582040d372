#include "study/pilot_trials.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/statistics/signed_rank.hpp"
#include "base/statistics/summary.hpp"
#include "study/history/resample.hpp"

namespace goban::study {
namespace {

using base::Result;
using base::TimeNs;
using core::pilot::Arm;
using core::pilot::Outcome;
using core::pilot::Outcomes;
using core::pilot::Plan;
using core::pilot::Verdict;

/// Before the pilot: queues form.
constexpr TimeNs kLeadIn = base::kDay;

/// As the job stands at `until_ns`. What runs then is taken to run on without a break.
Outcome outcome_of(const core::model::JobRequest& request, const simulator::JobOutcome& job,
                   TimeNs until_ns) {
  const TimeNs left_ns = std::max<TimeNs>(job.finish_ns - until_ns, 0);
  const bool has_begun = job.start_ns < until_ns;
  const TimeNs held_ns = has_begun ? std::max<TimeNs>(job.held_ns - left_ns, 0) : 0;
  return {.wait_s = base::to_seconds(job.finish_ns - left_ns - request.submit_ns - held_ns),
          .held_s = base::to_seconds(held_ns),
          .gpus = static_cast<double>(request.num_gpus),
          .expected_s = left_ns > 0 ? base::to_seconds(job.held_ns) : 0,
          .missed = left_ns == 0 && job.end == simulator::JobEnd::TimedOut};
}

/// The times at which policies change, with the policy from then on.
std::vector<simulator::PolicySwitch> switches_of(
    const Plan& plan, TimeNs start_ns, const std::vector<core::policy::Composition>& policies) {
  std::vector<simulator::PolicySwitch> out;
  for (int32_t period = 0; period < plan.num_periods(); ++period) {
    out.push_back(
        {start_ns + period * plan.period_ns, &policies[plan.arm(period) == Arm::B ? 1 : 0]});
  }
  out.push_back({start_ns + plan.length_ns(), policies.data()});
  return out;
}

}  // namespace

PilotTally tally(const std::vector<PilotTrial>& trials) {
  PilotTally out;
  std::vector<double> ratios;
  for (const PilotTrial& trial : trials) {
    ++out.pilots;
    const Verdict verdict = trial.comparison.verdict;
    out.gains += verdict == Verdict::Gain ? 1 : 0;
    out.losses += verdict == Verdict::Loss ? 1 : 0;
    out.no_gains += verdict == Verdict::NoGain ? 1 : 0;
    out.not_enough += verdict == Verdict::NotEnoughData ? 1 : 0;
    out.fell_back += trial.fell_back ? 1 : 0;
    if (trial.comparison.wait) ratios.push_back(trial.comparison.wait->value);
  }
  out.gain_upper = base::statistics::rate_upper_95(out.gains, out.pilots);
  std::ranges::sort(ratios);
  out.ratio = base::statistics::quantile(ratios, 0.5);
  return out;
}

PilotTrial judge_run(const Plan& plan, TimeNs start_ns, const core::model::JobHistory& history,
                     const simulator::SimulationResult& run) {
  struct End {
    TimeNs at_ns;
    size_t job;
    int32_t period;
  };
  std::vector<End> ends;
  std::vector<Outcomes> periods(static_cast<size_t>(plan.num_periods()));
  const TimeNs until_ns = start_ns + plan.length_ns();
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    const core::model::JobRequest request = history.jobs[i].request;
    const TimeNs since_ns = request.submit_ns - start_ns;
    if (since_ns < 0 || since_ns >= plan.length_ns()) continue;
    const int32_t period = plan.period_at(since_ns);
    ends.push_back({run.outcomes[i].finish_ns, i, period});
    periods[static_cast<size_t>(period)].add(outcome_of(request, run.outcomes[i], until_ns),
                                             plan.judges(since_ns));
  }
  std::ranges::sort(ends, {}, [](const End& end) { return std::pair(end.at_ns, end.job); });
  PilotTrial trial;
  std::array<Outcomes, 2> arms;
  int32_t complete = plan.num_periods();
  for (const End& end : ends) {
    if (end.at_ns >= until_ns) break;
    const core::model::JobRequest request = history.jobs[end.job].request;
    arms[plan.arm(end.period) == Arm::B ? 1 : 0].add(
        outcome_of(request, run.outcomes[end.job], until_ns),
        plan.judges(request.submit_ns - start_ns));
    if (!core::pilot::find_harm(plan.stop, arms[0], arms[1])) continue;
    trial.fell_back = true;
    complete = plan.period_at(end.at_ns - start_ns);
    break;
  }
  trial.comparison = core::pilot::compare(
      plan, std::span(periods).first(static_cast<size_t>(complete)), !trial.fell_back);
  return trial;
}

Result<PilotTrials> try_pilots(const Plan& plan, const StudyOptions& options, const Inputs& inputs,
                               size_t count, base::Progress& progress) {
  auto policies = compositions(options);
  if (!policies) return base::failure(policies.error());
  for (core::policy::Composition& policy : *policies) policy.rules = inputs.rules;
  const core::model::JobHistory& history = inputs.jobs.history;
  const TimeNs needed_ns = kLeadIn + plan.length_ns();
  const int64_t days = history::days_of(history);
  if (days * base::kDay < needed_ns) {
    return base::bad_data(
        {options.files.jobs, 0, 0, ""},
        fmt::format("the history has {}; this pilot takes {}, and one more before it",
                    base::counted(days, "day"),
                    base::counted((plan.length_ns() + base::kDay - 1) / base::kDay, "day")),
        "give a longer history, fewer --pairs or a shorter --period");
  }
  std::vector<PilotTrial> without;
  std::vector<PilotTrial> with;
  const base::Phase phase(progress, "pilots", static_cast<int64_t>(count));
  Inputs again = inputs;
  StudyOptions each = options;
  for (size_t i = 0; i < count; ++i) {
    each.seed = options.seed + i;
    again.jobs.history = history::resampled_days(history, each.seed);
    ++progress.done;
    if (again.jobs.history.jobs.empty()) continue;
    Plan drawn = plan;
    drawn.seed = each.seed;
    const TimeNs start_ns = again.jobs.history.jobs.front().request.submit_ns + kLeadIn;
    RunPlan runs(each, again, {policies->front(), policies->front()}, progress.cancel());
    const auto switches = switches_of(drawn, start_ns, *policies);
    for (simulator::BatchRun& run : runs.runs) run.options.forecasts = true;
    runs.runs[1].options.switches = switches;
    const auto simulated = simulator::simulate_all(again.jobs.history, runs.runs, options.threads);
    if (!simulated) return base::failure(simulated.error());
    without.push_back(
        judge_run(drawn, start_ns, again.jobs.history, simulated->front().simulation));
    with.push_back(judge_run(drawn, start_ns, again.jobs.history, simulated->back().simulation));
  }
  return PilotTrials{tally(without), tally(with)};
}

}  // namespace goban::study
