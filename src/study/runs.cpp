#include "study/runs.hpp"

#include "base/check.hpp"
#include "study/lab/estimates.hpp"
#include "study/results/service_metrics.hpp"

namespace goban::study {

/// A policy of a plugin in one run, whose object is made when the run begins.
struct RunPlan::PluginRun {
  PluginRun(const lab::PluginPolicy& from, const core::model::JobHistory& of,
            simulator::Observer* observer)
      : policy(from), history(of), estimates(of, from.text.oracle, observer) {}

  const lab::PluginPolicy& policy;
  const core::model::JobHistory& history;
  lab::Estimates estimates;
  std::unique_ptr<lab::PluginMethods> methods{};
};

RunPlan::RunPlan(const StudyOptions& options, const Inputs& inputs,
                 const std::vector<core::policy::Composition>& policies,
                 const std::atomic<bool>* cancel)
    : ideal(core::knowledge::PmScores::uniform(inputs.cluster.num_gpus())),
      options_(options),
      inputs_(inputs) {
  for (const core::policy::Composition& composition : policies) {
    penalties.push_back(inputs.penalties_for(composition, options.locality_penalty));
  }
  for (size_t i = 0; i < policies.size(); ++i) {
    simulator::BatchRun& each = runs.emplace_back();
    each.composition = policies[i];
    each.composition.rules = inputs.rules;
    each.speed = {&inputs.cluster, policies[i].settings.ideal_speed ? &ideal : &inputs.scores,
                  &penalties[i]};
    each.options.settings = policies[i].settings;
    each.options.checkpoint_interval_s = options.checkpoint_interval_s;
    each.options.preemption_loses_work = options.preemption_loses_work;
    each.options.seed = options.seed;
    if (options.contention) {
      each.options.contention =
          simulator::ContentionSettings{*options.contention, options.uplink_ratio};
    }
    each.options.incidents = inputs.incidents;
    each.options.tiers = inputs.tiers;
    each.options.knowledge = inputs.knowledge;
    each.options.speeds = inputs.speeds;
    each.options.prediction_noise = options.prediction_noise_pct / 100;
    each.options.fillers = inputs.filler_source();
    each.options.cancel = cancel;
  }
}

RunPlan::~RunPlan() = default;

void RunPlan::attach_plugins() {
  auto loaded = load_plugins(options_);
  GOBAN_CHECK(loaded.has_value(), "compositions() loaded them before");
  plugins_ = std::move(*loaded);
  for (simulator::BatchRun& run : runs) {
    const lab::PluginPolicy* const policy = find_policy(plugins_, run.composition.name);
    if (policy == nullptr) continue;
    PluginRun* const own = plugin_runs_
                               .emplace_back(std::make_unique<PluginRun>(
                                   *policy, inputs_.jobs.history, run.options.observer))
                               .get();
    if (own->estimates.learns()) run.options.observer = &own->estimates;
    run.options.adapt_policy = [own, seed = run.options.seed,
                                states_steps = inputs_.speeds ? &inputs_.states_steps : nullptr](
                                   core::policy::PolicySet& set,
                                   core::policy::RunContext& context) {
      own->methods = std::make_unique<lab::PluginMethods>(own->policy, own->history, seed);
      lab::adapting(own->policy.text, *own->methods, own->estimates, states_steps)(set, context);
    };
  }
}

namespace {

/// Whether metrics of energy and sharing were requested, by any of their input files.
bool asks_for_service(const StudyOptions& options) {
  const InputFiles& files = options.files;
  return !files.energy.empty() || !files.colocation.empty() || !files.deadlines.empty();
}

}  // namespace

void FinishedRuns::watch(const StudyOptions& options, const Inputs& inputs,
                         simulator::BatchRun& run) {
  const core::model::JobHistory& history = inputs.jobs.history;
  simulator::Observer*& observer = run.options.observer;
  if (asks_for_service(options)) {
    sharing.push_back(std::make_unique<results::SharingRecorder>(history.jobs.size(), observer));
    observer = sharing.back().get();
  }
  if (options.start_forecasts) {
    const bool can_forecast =
        !run.composition.simulation_only() && run.composition.settings.round_s <= 0;
    run.options.forecasts = true;
    starts.push_back(can_forecast ? std::make_unique<simulator::StartObserver>(
                                        history,
                                        core::scheduler::AheadSite{.speed = run.speed,
                                                                   .composition = &run.composition,
                                                                   .knowledge = inputs.knowledge,
                                                                   .seed = options.seed},
                                        observer)
                                  : nullptr);
    if (can_forecast) observer = starts.back().get();
  }
  if (inputs.knowledge == nullptr || inputs.knowledge->power.empty()) return;
  const bool orders_rests = run.composition.rests_nodes();
  energy.push_back(std::make_unique<results::EnergyRecorder>(
      history, inputs.cluster, inputs.knowledge, orders_rests, observer));
  if (inputs.prices) energy.back()->record_hours(inputs.prices->zero_unix_ns);
  observer = energy.back().get();
}

results::JobColumns FinishedRuns::measure(const StudyOptions& options, const Inputs& inputs,
                                          const std::string& policy) {
  const core::model::JobHistory& history = inputs.jobs.history;
  const size_t run = metrics.size();
  const simulator::BatchResult& result = simulated[run];
  results::RunMetrics& figures = metrics.emplace_back(results::measure(
      policy, history, inputs.cluster.num_gpus(), result.simulation, options.warmup_ns));
  figures.wall_s = result.wall_s;
  figures.rejected = inputs.jobs.rejected;
  results::JobColumns columns;
  if (!sharing.empty()) {
    columns.sharing = sharing[run].get();
    figures.service =
        results::measure_service(history, result.simulation, columns.sharing,
                                 history.jobs.front().request.submit_ns + options.warmup_ns);
  }
  figures.staging = result.simulation.staging;
  if (!starts.empty() && starts[run] != nullptr) figures.starts = starts[run]->coverage();
  if (!energy.empty()) {
    columns.energy = &energy[run]->account();
    figures.energy = results::energy_metrics(*columns.energy, history.jobs.size());
  }
  return columns;
}

}  // namespace goban::study
