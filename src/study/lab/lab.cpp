#include "study/lab/lab.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "core/policy/placement/placement.hpp"
#include "study/lab/parts.hpp"

namespace goban::study::lab {

using base::Result;
using core::model::Cluster;
using core::model::JobHistory;
using core::policy::Composition;
using core::policy::PolicySet;
using core::policy::RunContext;
using simulator::SimulationOptions;
using simulator::SimulationResult;

namespace {

void apply(const RunOptions& options, Composition& composition) {
  core::policy::RunSettings& settings = composition.settings;
  settings.restart_cost_s = options.restart_cost_s.value_or(settings.restart_cost_s);
  settings.round_s = options.round_s.value_or(settings.round_s);
  settings.locality_penalty = options.locality_penalty.value_or(settings.locality_penalty);
}

SimulationOptions simulation_options(const RunOptions& options, const Composition& composition) {
  SimulationOptions out;
  out.settings = composition.settings;
  out.seed = options.seed;
  out.observer = options.observer;
  out.cancel = options.cancel;
  if (options.fitted != nullptr) out.speeds = options.fitted->speeds;
  out.stages = false;  // its clusters have no storage
  return out;
}

Result<SimulationResult> simulate_on(const JobHistory& history, const Cluster& cluster,
                                     const Composition& composition,
                                     const SimulationOptions& options) {
  const auto scores = core::knowledge::PmScores::uniform(cluster.num_gpus());
  const core::knowledge::LocalityPenalties penalties(cluster,
                                                     composition.settings.locality_penalty);
  const core::policy::SpeedModel speed{&cluster, &scores, &penalties};
  return simulator::simulate(history, speed, composition, options);
}

}  // namespace

Result<SimulationResult> run(const JobHistory& history, const Cluster& cluster,
                             const std::string& policy, const RunOptions& options) {
  auto composition = core::policy::compose(policy);
  if (!composition) return base::failure(composition.error());
  apply(options, *composition);
  return simulate_on(history, cluster, *composition, simulation_options(options, *composition));
}

Result<SimulationResult> run(const JobHistory& history, const Cluster& cluster,
                             const PolicyText& policy, Methods& methods,
                             const RunOptions& options) {
  auto composition = core::policy::compose(policy.parts);
  if (!composition) return base::failure(composition.error());
  if (policy.methods.preempt && !policy.methods.order) {
    return base::usage_error(
        fmt::format("policy '{}' has the method preempt and no method order", policy.name),
        "give it a method order: the keys of both are compared");
  }
  composition->name = policy.name;
  apply(options, *composition);
  Estimates estimates(history, policy.oracle, options.observer);
  SimulationOptions simulation = simulation_options(options, *composition);
  if (estimates.learns()) simulation.observer = &estimates;
  simulation.adapt_policy =
      adapting(policy, methods, estimates,
               options.fitted == nullptr ? nullptr : &options.fitted->states_steps);
  return simulate_on(history, cluster, *composition, simulation);
}

std::function<void(PolicySet&, RunContext&)> adapting(const PolicyText& policy, Methods& methods,
                                                      Estimates& estimates,
                                                      const std::vector<bool>* states_steps) {
  return [&policy, &methods, &estimates, states_steps](PolicySet& set, RunContext& context) {
    estimates.stand_in_for(context.oracle);
    context.oracle = &estimates;
    const MethodSet& has = policy.methods;
    if (has.order) {
      const OrderOptions order{
          .preempts = has.preempt, .when = policy.when, .every_s = policy.every_s};
      set.order = std::make_unique<MethodOrder>(methods, estimates, order);
      if (policy.when == KeyTime::Every) set.interval_ns = base::from_seconds(policy.every_s);
    }
    if (has.select) set.select = std::make_unique<MethodSelect>(methods, estimates);
    if (has.size) {
      set.size = std::make_unique<MethodSize>(methods, estimates, states_steps);
    }
    if (has.place) {
      set.placement = std::make_unique<MethodPlacement>(methods, estimates);
      set.fungible = policy.places_anywhere;
    }
  };
}

Result<SimulationResult> run_adapted(const JobHistory& history, const Cluster& cluster,
                                     const std::string& parts,
                                     const std::function<void(PolicySet&, RunContext&)>& adapt,
                                     const RunOptions& options) {
  auto composition = core::policy::compose(parts);
  if (!composition) return base::failure(composition.error());
  apply(options, *composition);
  SimulationOptions simulation = simulation_options(options, *composition);
  simulation.adapt_policy = adapt;
  return simulate_on(history, cluster, *composition, simulation);
}

bool uses_durations(const Composition& policy, const JobHistory& history, bool elastic) {
  if (policy.simulation_only()) return true;
  const bool sizes = policy.part(core::policy::PartKind::Size).name != "fixed";
  if (elastic && sizes && lacks_steps(history)) return true;
  const bool estimates = policy.part(core::policy::PartKind::Select).needs_estimates;
  const bool forecasts = std::ranges::any_of(policy.parts, &core::policy::Part::uses_forecasts);
  return estimates && !forecasts &&
         !std::ranges::all_of(history.jobs, [](const core::model::Job& job) {
           return job.request.walltime_limit_ns > 0;
         });
}

}  // namespace goban::study::lab
