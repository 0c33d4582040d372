// One run of the laboratory: a history, a cluster, and a policy whose parts are methods or names.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "core/model/cluster.hpp"
#include "core/model/job_history.hpp"
#include "core/policy/compose.hpp"
#include "study/lab/fitted.hpp"
#include "study/lab/methods.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::lab {

/// A policy that is not one of the core's.
struct PolicyText {
  std::string name;
  /// The parts that are not methods, joined by '+', as for core::policy::compose().
  std::string parts = "fifo";
  MethodSet methods{};
  KeyTime when = KeyTime::Event;
  double every_s = 0;  ///< KeyTime::Every; > 0
  /// The method `place` succeeds whenever enough GPUs are free, so that reservations only count.
  bool places_anywhere = false;
  bool oracle = false;  ///< it may see true run times; the results say so
};

struct RunOptions {
  uint64_t seed = 1;
  std::optional<double> restart_cost_s{};
  std::optional<double> round_s{};
  std::optional<double> locality_penalty{};
  const Fitted* fitted = nullptr;  ///< whose history is run; null: all jobs are rigid
  simulator::Observer* observer = nullptr;
  const std::atomic<bool>* cancel = nullptr;
};

/// Runs a policy by name. Errors: those of compose() and simulate().
[[nodiscard]] base::Result<simulator::SimulationResult> run(const core::model::JobHistory& history,
                                                            const core::model::Cluster& cluster,
                                                            const std::string& policy,
                                                            const RunOptions& options);

/// Runs a policy with methods. Errors: Usage if the parts do not fit together; those of simulate().
/// Throws Fault, and what a method throws; no state outlives the call.
[[nodiscard]] base::Result<simulator::SimulationResult> run(const core::model::JobHistory& history,
                                                            const core::model::Cluster& cluster,
                                                            const PolicyText& policy,
                                                            Methods& methods,
                                                            const RunOptions& options);

/// What replaces the parts of a policy by its methods (SimulationOptions::adapt_policy). All must
/// outlive the run. The methods are only called in it. `states_steps`: Fitted::states_steps; null:
/// all jobs are rigid.
[[nodiscard]] std::function<void(core::policy::PolicySet&, core::policy::RunContext&)> adapting(
    const PolicyText& policy, Methods& methods, Estimates& estimates,
    const std::vector<bool>* states_steps);

/// Runs the parts of a policy, some of which `adapt` replaces (SimulationOptions::adapt_policy).
/// Errors: those of compose() and simulate(). What the parts throw passes through.
[[nodiscard]] base::Result<simulator::SimulationResult> run_adapted(
    const core::model::JobHistory& history, const core::model::Cluster& cluster,
    const std::string& parts,
    const std::function<void(core::policy::PolicySet&, core::policy::RunContext&)>& adapt,
    const RunOptions& options);

/// The policy decides by true run times: where jobs have no walltime limit, or, of `elastic` jobs,
/// where they state no steps.
[[nodiscard]] bool uses_durations(const core::policy::Composition& policy,
                                  const core::model::JobHistory& history, bool elastic = false);

}  // namespace goban::study::lab
