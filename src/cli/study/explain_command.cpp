// goban explain: why a job waits or waited, and why it got its GPUs. A simulated run is replayed
// with an observer, a live job's daemon is asked: everything said comes from the core that decided.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/http/http_client.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/shell/command.hpp"
#include "cli/study/run_record.hpp"
#include "cli/study/simulate_runs.hpp"
#include "study/results/explain_text.hpp"
#include "study/simulator/explainer.hpp"

namespace goban::cli {
namespace {

using base::Result;

struct ExplainArguments {
  std::string run;
  std::string job;
  std::string server;
  bool json = false;
};

/// The daemon says it of a job in its book.
Result<std::string> explain_live(const ExplainArguments& arguments) {
  auto client = connect(arguments.server);
  if (!client) {
    return base::failure(std::move(client.error()));
  }
  const auto answer =
      get_json(*client, fmt::format("/v1/jobs/{}/explain", base::http::url_part(arguments.job)));
  if (!answer) {
    base::Error error = answer.error();
    if (client->last_status() == 0) {
      error.remedy += error.remedy.empty() ? "" : "; ";
      error.remedy += "of a simulated run: --run DIR/<policy>";
    }
    return base::failure(std::move(error));
  }
  if (arguments.json) return answer->dump(2) + "\n";
  std::string text = fmt::format("job {} ({}): {}\n", arguments.job, text_of(*answer, "state"),
                                 text_of(*answer, "text"));
  const nlohmann::json& waiting = part_of(*answer, "waiting");
  if (waiting.is_object()) {
    text += fmt::format("{:.0f} jobs are before it; {:.0f} GPUs are free\n",
                        number_of(waiting, "before"), number_of(waiting, "free_gpus"));
  }
  return text;
}

Result<core::model::JobId> find_job(const core::model::JobHistory& history,
                                    const std::string& name) {
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    if (history.job_names[i] == name) return core::model::JobId(i);
  }
  return base::usage_error(
      fmt::format("no job is named {}", name),
      fmt::format("names are those of the job history, such as {}", history.job_names[0]));
}

std::optional<core::policy::PalOptions> pal_options(const core::policy::Composition& composition) {
  if (composition.placement == "pal") return core::policy::PalOptions{};
  if (composition.placement == "pal-paper") return core::policy::PalOptions{.two_levels = true};
  return {};
}

Result<std::string> explain(const ExplainArguments& arguments) {
  const auto record = read_run_record(arguments.run);
  if (!record) return base::failure(record.error());
  auto options = restore_options(*record, arguments.run);
  if (!options) return base::failure(options.error());
  const auto policies = compositions(*options);
  if (!policies) return base::failure(policies.error());
  const auto inputs = load_inputs(options->files, "", options->seed);
  if (!inputs) return base::failure(inputs.error());
  const core::model::JobHistory& history = inputs->jobs.history;
  const auto job = find_job(history, arguments.job);
  if (!job) return base::failure(job.error());

  RunPlan plan(*options, *inputs, *policies);
  study::simulator::BatchRun& run = plan.runs.front();
  study::simulator::Explainer explainer(history, run.speed, *job, options->seed,
                                        pal_options(run.composition));
  explainer.attach(run.options);
  const auto result = study::simulator::simulate(history, run.speed, run.composition, run.options);
  if (!result && !explainer.done()) return base::failure(result.error());
  const study::results::ExplainContext context{&history, &inputs->cluster, &run.composition, *job};
  return arguments.json ? study::results::explain_json(context, explainer.story())
                        : study::results::explain_text(context, explainer.story());
}

}  // namespace

void add_explain(Command& app, Action& action) {
  auto arguments = std::make_shared<ExplainArguments>();
  Command* c = app.add_subcommand("explain", "Say why a job waited and why it got its GPUs");
  c->add_option(
      "--run", arguments->run,
      "Folder DIR/<policy> that goban simulate --out DIR wrote (without: the daemon's job)");
  c->add_option("--job", arguments->job, "The job, as the history names it, or its number")
      ->required();
  add_server_option(*c, arguments->server);
  c->add_flag("--json", arguments->json, "Print JSON alone");
  c->footer(
      "Examples:\n"
      "  goban explain --job 17\n"
      "  goban simulate --cluster 4x4 --jobs jobs.csv --policy las+pal --out results\n"
      "  goban explain --run results/las+pal --job 17\n"
      "Exit codes: 0 fine, 1 failed or no daemon, 2 no such job, 3 bad input.");
  c->callback([arguments, &action] {
    action = [arguments] {
      const auto text = arguments->run.empty() ? explain_live(*arguments) : explain(*arguments);
      if (!text) return report_error(text.error());
      fmt::print("{}", *text);
      return 0;
    };
  });
}

}  // namespace goban::cli
