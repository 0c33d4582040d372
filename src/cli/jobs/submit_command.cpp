// goban submit: submits a job.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "base/date_time.hpp"
#include "cli/jobs/commands.hpp"
#include "cli/jobs/field_words.hpp"
#include "cli/jobs/job_forecast.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/jobs/slurm_commands.hpp"
#include "cli/jobs/submit_payload.hpp"
#include "cli/jobs/wait_command.hpp"

namespace goban::cli {
namespace {

using base::Result;
using nlohmann::json;

struct SubmitArguments {
  std::string server;
  std::string wrap;
  std::vector<std::string> words;  ///< script and its arguments
  bool json_out = false;
  bool dry_run = false;
  bool as_slurm = false;
  live::job::SubmitManner manner{};  ///< adds to that of the script
};

Result<SubmitPayload> payload_of(const SubmitArguments& arguments) {
  const auto& words = arguments.words;
  if (!words.empty() && words.front().starts_with('-') && words.front() != "-") {
    return base::failure(unknown_option(words.front(),
                                        {"--wrap", "--parsable", "--quiet", "--wait", "--test-only",
                                         "--json", "--dry-run", "--server"},
                                        "see goban submit --help"));
  }
  if (!arguments.wrap.empty()) {
    if (!words.empty()) {
      return base::usage_error("--wrap and a script are mutually exclusive", "remove one of them");
    }
    return SubmitPayload{.script = "#!/bin/sh\n" + arguments.wrap + "\n",
                         .script_name = "--wrap",
                         .job_name = "wrap"};
  }
  auto payload = read_script(words.empty() ? "-" : words.front());
  if (payload && arguments.as_slurm && payload->job_name == "stdin") payload->job_name = "sbatch";
  if (payload && words.size() > 1) payload->arguments.assign(words.begin() + 1, words.end());
  return payload;
}

/// Prints the specification only, without the script and the environment, and what the daemon
/// expects of the job, if there is one.
int print_plan(const std::string& server, json body) {
  auto client = connect(server);
  const json asked = json::array({body});
  const auto answer = client ? ask_for_forecast(*client, asked) : base::failure(client.error());
  if (answer && !list_of(*answer, "jobs").empty()) {
    body["forecast"] = list_of(*answer, "jobs").front();
  } else if (!answer && answer.error().code != base::ErrorCode::Failed) {
    body["forecast"] = {{"error", answer.error().text()}};  // it would be refused
  }
  const size_t variables = body["env"].size();
  body.erase("env");
  body.erase("script");
  body["env_variables"] = variables;
  fmt::print("{}\n", body.dump(2));
  const std::string refused = text_of(part_of(body, "forecast"), "error");
  if (refused.empty()) return 0;
  return report_error({.code = base::ErrorCode::BadData,
                       .message = in_words_of_options(refused),
                       .place = {},
                       .remedy = {}});
}

/// Says when and where the job would start: on stdout, or on stderr as sbatch does.
int print_test(const SubmitArguments& arguments, const json& body) {
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  const auto answer = ask_for_forecast(*client, json::array({body}));
  const auto never = [](const std::string& why) {
    return report_error(
        base::failed("the job would not start: " + in_words_of_options(why)).value());
  };
  if (!answer && answer.error().code != base::ErrorCode::Failed)
    return never(answer.error().text());
  if (!answer) return report_error(answer.error());
  const auto nodes = get_json(*client, "/v1/nodes");
  if (!nodes) return report_error(nodes.error());
  const json jobs = list_of(*answer, "jobs");
  const json job = jobs.empty() ? json::object() : jobs.front();
  if (const std::string refused = text_of(job, "error"); !refused.empty()) {
    return never(refused);
  }
  const json all = list_of(*nodes, "nodes");
  // Of several nodes, the policy chooses when the job starts.
  const std::string where = all.size() == 1 ? " on node " + text_of(all.front(), "node") : "";
  const double now_s = number_of(*answer, "now_s");
  const double start_s = number_of(part_of(job, "start"), "p50_s", -1);
  const std::string when =
      start_s < 0 ? "later than can be forecast"
                  : fmt::format("at {}", base::date_time_text(base::unix_to_local(
                                             base::from_seconds(std::max(start_s, now_s)))));
  const std::string text =
      fmt::format("the job would start {} with {}{}", when,
                  base::counted(static_cast<size_t>(number_of(job, "num_gpus")), "GPU"), where);
  fmt::print(arguments.as_slurm ? stderr : stdout, "{}{}\n", arguments.as_slurm ? "sbatch: " : "",
             text);
  return 0;
}

int print_slurm(const SubmitArguments& arguments, const std::string& number) {
  if (arguments.json_out) {
    fmt::print("{}\n", json{{"engine_id", number}}.dump());
  } else if (arguments.manner.parsable) {
    fmt::print("{}\n", number);
  } else if (!arguments.manner.quiet) {
    fmt::print("submitted job @{} by sbatch\n", number);
  }
  return 0;
}

live::job::SubmitManner both(live::job::SubmitManner one, const live::job::SubmitManner& other) {
  one.wait |= other.wait;
  one.quiet |= other.quiet;
  one.parsable |= other.parsable;
  one.test_only |= other.test_only;
  return one;
}

void print_jobs(const SubmitArguments& arguments, const live::job::SubmitManner& manner,
                const std::vector<uint32_t>& jobs) {
  if (arguments.json_out) {
    fmt::print("{}\n", json{{"job", jobs.front()}, {"jobs", jobs}}.dump());
  } else if (manner.parsable) {
    fmt::print("{}\n", jobs.front());
  } else if (manner.quiet) {
    return;
  } else if (arguments.as_slurm) {
    fmt::print("Submitted batch job {}\n", jobs.front());
  } else if (jobs.size() > 1) {
    fmt::print("submitted array {} of {} tasks\n", jobs.front(), jobs.size());
  } else {
    fmt::print("submitted job {}\n", jobs.front());
  }
}

int run(const SubmitArguments& arguments, const SubmitChoices& choices) {
  auto payload = payload_of(arguments);
  if (!payload) return report_error(payload.error());
  payload->options = choices;
  payload->as_slurm = arguments.as_slurm;
  payload->is_here = is_local(arguments.server);
  live::job::SubmitManner of_script;
  std::vector<std::string> warnings;
  const auto body = submission_json(*payload, &of_script, &warnings);
  if (!body) return report_error(body.error());
  const live::job::SubmitManner manner = both(arguments.manner, of_script);
  if (arguments.dry_run || manner.test_only) {
    print_warnings(warnings);
    return arguments.dry_run ? print_plan(arguments.server, *body) : print_test(arguments, *body);
  }
  const auto jobs = submit(arguments.server, *body);
  const bool by_sbatch = !jobs && is_for_sbatch(jobs.error());
  if (!by_sbatch) print_warnings(warnings);  // sbatch says itself what it does not take
  if (by_sbatch) {
    if (manner.wait) {
      return report_error(base::usage_error("--wait: the daemon decides for a cluster of Slurm",
                                            "use sbatch --wait")
                              .value());
    }
    const auto number = submit_by_sbatch(*payload, arguments.server);
    return number ? print_slurm(arguments, *number) : report_error(number.error());
  }
  if (!jobs) return report_error(jobs.error());
  print_jobs(arguments, manner, *jobs);
  if (!manner.wait) return 0;
  std::fflush(stdout);
  return wait_for_job(arguments.server, jobs->front());
}

}  // namespace

void add_submit(Command& app, Action& action) {
  auto arguments = std::make_shared<SubmitArguments>();
  auto choices = std::make_shared<SubmitChoices>();
  Command* c = app.add_subcommand("submit", "Submit a job script, or standard input");
  c->prefix_command("[SCRIPT [ARGUMENT ...]]");
  add_submit_options(*c, choices);
  c->add_option("--wrap", arguments->wrap, "Submit this shell command instead of a script")
      ->type_name("COMMAND");
  c->add_flag("--parsable", arguments->manner.parsable, "Print the job number only");
  c->add_flag("-Q,--quiet", arguments->manner.quiet, "Print errors only");
  c->add_flag("-W,--wait", arguments->manner.wait,
              "Wait until the job has ended, and return its exit code");
  c->add_flag("--test-only", arguments->manner.test_only,
              "Show when and where the job would start, without submitting it");
  c->add_flag("--json", arguments->json_out, "Print JSON only");
  c->add_flag("--dry-run", arguments->dry_run,
              "Print the job's specification and its forecast without submitting it");
  c->add_flag("--as-slurm", arguments->as_slurm, "Interpret options as sbatch does")->group("");
  add_server_option(*c, arguments->server);
  c->footer(
      "Options can also be given as #GOBAN lines at the head of the script; #SBATCH, #$ and #PBS\n"
      "lines are read as well, and the options of sbatch. The command line takes precedence; a "
      "bare\n"
      "--time there is in minutes. Directives without effect are reported on stderr.\n\n"
      "If the daemon decides for a cluster of Slurm, sbatch is called with these options, and its "
      "number is\n"
      "printed; see docs/slurm.md.\n\n"
      "Examples:\n"
      "  goban submit train.sh --epochs 90\n"
      "  goban submit --gpus 4 --time 12h --name bert train.sh\n"
      "  goban submit --array 0-9%2 --wrap 'python train.py --seed $GOBAN_ARRAY_TASK_ID'\n"
      "  goban submit --wait train.sh && goban submit evaluate.sh\n"
      "  goban submit --test-only --gpus 4 --time 12h train.sh\n"
      "  id=$(goban submit --parsable prepare.sh); goban submit -d afterok:$id train.sh\n"
      "Exit codes: 0 job accepted, 1 failure or no daemon, 2 usage error, 3 invalid directive or\n"
      "value, or job rejected; with --dry-run, 3 if the daemon would reject it;\n"
      "with --test-only, 1 if it would never start; with --wait, those of goban wait.");
  c->callback([c, arguments, choices, &action] {
    arguments->words = words_behind_options(*c);
    action = [arguments, choices] { return run(*arguments, *choices); };
  });
}

}  // namespace goban::cli
