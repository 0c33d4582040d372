// goban explain: why a job waits or waited, and why it got its GPUs. A simulated run is replayed
// with an observer; for a live job the daemon is queried. Both reports come from the deciding core.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "base/http/http_client.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/shell/moment.hpp"
#include "cli/shell/progress.hpp"
#include "cli/study/commands.hpp"
#include "cli/study/simulate_options.hpp"
#include "study/explain.hpp"

namespace goban::cli {
namespace {

using base::Result;

struct ExplainArguments {
  std::string run;
  std::string job;
  std::string server;
  bool json = false;
};

/// The explanation of a job of the daemon.
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
      error.remedy += "for a simulated run, give --run DIR/<policy>";
    }
    return base::failure(std::move(error));
  }
  if (arguments.json) return answer->dump(2) + "\n";
  std::string text = fmt::format("job {} ({}): {}\n", arguments.job, text_of(*answer, "state"),
                                 with_local_times(text_of(*answer, "text")));
  const nlohmann::json& waiting = part_of(*answer, "waiting");
  if (waiting.is_object()) {
    text += fmt::format("{} ahead of it; {} free\n",
                        base::counted(number_of(waiting, "before"), "job is", "jobs are"),
                        base::counted(number_of(waiting, "free_gpus"), "GPU is", "GPUs are"));
  }
  return text;
}

Result<std::string> explain(const ExplainArguments& arguments) {
  const auto record = study::read_run_record(arguments.run);
  if (!record) return base::failure(record.error());
  if (auto status = study::check_unchanged(*record, arguments.run); !status) {
    return base::failure(status.error());
  }
  auto options = restore_options(*record, arguments.run);
  if (!options) return base::failure(options.error());
  ProgressBar progress;
  return study::explain(std::move(*options), arguments.job,
                        arguments.json ? study::ExplainFormat::Json : study::ExplainFormat::Text,
                        progress);
}

}  // namespace

void add_explain(Command& app, Action& action) {
  auto arguments = std::make_shared<ExplainArguments>();
  Command* c = app.add_subcommand("explain", "Explain why a job waited and why it got its GPUs");
  c->add_option(
      "--run", arguments->run,
      "Folder DIR/<policy> written by goban simulate --out DIR (default: a job of the daemon)");
  auto* const job =
      c->add_option("JOB", arguments->job, "Job: its number, or its id in the history");
  c->add_option("--job", arguments->job, "The same as JOB")->excludes(job);
  add_server_option(*c, arguments->server);
  c->add_flag("--json", arguments->json, "Print JSON only");
  c->footer(
      "Examples:\n"
      "  goban explain 17\n"
      "  goban simulate --cluster 4x4 --jobs jobs.csv --policy las+pal --out results\n"
      "  goban explain --run results/las+pal 17\n"
      "Exit codes: 0 success, 1 failure, unknown job or no daemon, 2 usage error, 3 invalid "
      "input.");
  c->callback([arguments, job, &action] {
    if (arguments->job.empty()) refuse_missing(job->name());
    action = [arguments] {
      const auto text = arguments->run.empty() ? explain_live(*arguments) : explain(*arguments);
      if (!text) return report_error(text.error());
      fmt::print("{}", *text);
      return 0;
    };
  });
}

}  // namespace goban::cli
