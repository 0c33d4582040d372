#include "study/explain.hpp"

#include <fmt/format.h>
#include <utility>

#include "study/results/explain_text.hpp"
#include "study/runs.hpp"
#include "study/simulator/explainer.hpp"

namespace goban::study {

using base::Result;

namespace {

Result<core::model::JobId> find_job(const core::model::JobHistory& history,
                                    const std::string& name) {
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    if (history.job_names[i] == name) return core::model::JobId(i);
  }
  return base::failed(
      fmt::format("no job is named {}", name),
      fmt::format("give a name from the job history, such as {}", history.job_names[0]));
}

}  // namespace

Result<std::string> explain(StudyOptions options, const std::string& job_name, ExplainFormat format,
                            base::Progress& progress) {
  if (!options.plugins.empty()) {
    return base::usage_error("policies of plugins cannot be explained",
                             "explain a run of a policy that goban policies lists");
  }
  const auto policies = compositions(options);
  if (!policies) return base::failure(policies.error());
  const auto inputs = load_inputs(options.files, "", options.seed, progress);
  if (!inputs) return base::failure(inputs.error());
  const core::model::JobHistory& history = inputs->jobs.history;
  const auto job = find_job(history, job_name);
  if (!job) return base::failure(job.error());

  RunPlan plan(options, *inputs, *policies, progress.cancel());
  simulator::BatchRun& run = plan.runs.front();
  simulator::Explainer explainer(
      history, run.speed, *job, options.seed,
      core::policy::pal_options(run.composition.part(core::policy::PartKind::Placement)));
  explainer.attach(run.options);
  const auto result = simulator::simulate(history, run.speed, run.composition, run.options);
  if (!result && !explainer.done()) return base::failure(result.error());
  const results::ExplainContext context{&history, &inputs->cluster, &run.composition, *job};
  return format == ExplainFormat::Json ? results::explain_json(context, explainer.story())
                                       : results::explain_text(context, explainer.story());
}

}  // namespace goban::study
