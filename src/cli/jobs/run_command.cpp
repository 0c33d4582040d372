// goban run: runs a command as a job, copies its output and returns its exit code.
#include <cstdio>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <unistd.h>
#include <utility>

#include "base/printable.hpp"
#include "cli/jobs/commands.hpp"
#include "cli/jobs/daemon_absence.hpp"
#include "cli/jobs/hangup.hpp"
#include "cli/jobs/job_end.hpp"
#include "cli/jobs/job_row.hpp"
#include "cli/jobs/kubectl_words.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/jobs/log_output.hpp"
#include "cli/jobs/slurm_allocation.hpp"
#include "cli/jobs/slurm_commands.hpp"
#include "cli/jobs/submit_payload.hpp"
#include "cli/jobs/terminal_visit.hpp"

namespace goban::cli {
namespace {

using base::Result;
using nlohmann::json;

constexpr double kLook_s = 2;

struct RunArguments {
  std::string server;
  std::vector<std::string> words;
  bool has_terminal = false;
  bool as_slurm = false;
};

Result<json> job_now(serve::api::ApiClient& client, uint32_t job) {
  return get_json(client, fmt::format("/v1/jobs/{}", job));
}

/// Prints to standard error and ignores failures: the terminal may be closed.
void note(const std::string& text) { std::fputs(("goban: " + text + "\n").c_str(), stderr); }

/// Reads the job at every change until `is_enough` or Ctrl-C. Returns the job as it was last read.
Result<json> look_until(const std::string& server, uint32_t job,
                        const std::function<bool(const json&)>& is_enough) {
  json last;
  const auto watched =
      watch_jobs(server, kLook_s, [&](serve::api::ApiClient& client) -> Result<bool> {
        auto now = job_now(client, job);
        if (!now) return base::failure(std::move(now.error()));
        last = std::move(*now);
        return !is_enough(last);
      });
  if (!watched) return base::failure(watched.error());
  return last;
}

/// Waits until the job runs or has finished, or until Ctrl-C.
Result<json> wait_for_start(const std::string& server, uint32_t job) {
  bool told = false;
  return look_until(server, job, [&](const json& now) {
    const std::string state = text_of(now, "state");
    const bool waits =
        state != "running" && state != "suspended" && state != "stopping" && state != "done";
    if (waits && !std::exchange(told, true)) note(fmt::format("job {} is waiting for GPUs", job));
    return !waits;
  });
}

Result<json> wait_for_end(const std::string& server, uint32_t job) {
  return look_until(server, job, [](const json& now) { return text_of(now, "state") == "done"; });
}

/// Reports that the job continues without this client; returns the exit code.
int leave(const RunArguments& arguments, uint32_t job, const base::Error& why) {
  note("error: " + why.text());
  note(fmt::format(
      "job {0} keeps running; reconnect with goban {1} {0}, cancel it with goban cancel {0}", job,
      arguments.has_terminal ? "attach" : "logs -f"));
  return 1;
}

int give_up(const RunArguments& arguments, serve::api::ApiClient& client, uint32_t job) {
  note(fmt::format("cancelling job {}", job));
  const auto cancelled = client.remove(fmt::format("/v1/jobs/{}", job));
  constexpr int kConflict = 409;  // it has already finished
  if (!cancelled && client.last_status() != kConflict) leave(arguments, job, cancelled.error());
  return kExitInterrupted;
}

/// Prints why the job ended, unless its exit code is enough.
void explain_end(const json& job, uint32_t number) {
  const std::string detail = text_of(job, "detail");
  const std::string result = text_of(job, "result");
  const bool has_code = number_of(job, "exit_code", -1) >= 0;
  if (detail.empty() && (has_code || result == "completed")) return;
  std::string text = fmt::format("job {}: {}", number, result);
  if (const double signal = number_of(job, "signal"); signal > 0) {
    text += fmt::format(", terminated by signal {:.0f}", signal);
  }
  note(detail.empty() ? text : text + ": " + base::printable(detail));
}

int finish_run(const RunArguments& arguments, serve::api::ApiClient& client, uint32_t job) {
  const auto end = wait_for_end(arguments.server, job);
  const bool is_over = end && text_of(*end, "state") == "done";
  if (interrupted() && !is_over) return give_up(arguments, client, job);
  if (!end) return leave(arguments, job, end.error());
  explain_end(*end, job);
  return exit_code_of(*end);
}

int run_at_terminal(const RunArguments& arguments, serve::api::ApiClient& client,
                    const json& started) {
  const auto job = static_cast<uint32_t>(number_of(started, "job"));
  if (text_of(started, "state") != "running") return finish_run(arguments, client, job);
  const auto end = visit_terminal(started);
  if (!end) return leave(arguments, job, end.error());
  switch (end->kind) {
    case TerminalEnd::Kind::Exited:
      break;
    case TerminalEnd::Kind::Detached:
      fmt::print(stderr, "\r\ngoban: job {0} keeps running; reconnect with goban attach {0}\n",
                 job);
      return 0;
    case TerminalEnd::Kind::Interrupted:
      return give_up(arguments, client, job);
  }
  return finish_run(arguments, client, job);
}

int run(const RunArguments& arguments, const SubmitChoices& choices) {
  const char* const usage = "goban run [OPTIONS] COMMAND [ARGUMENTS...]";
  if (arguments.words.empty()) {
    return report_error({base::ErrorCode::Usage, "no command is given", {}, usage});
  }
  if (arguments.words.front().starts_with('-')) {
    return report_error(unknown_option(arguments.words.front(), {"--pty", "--server"}, usage));
  }
  const SubmitPayload payload{
      .script = "#!/bin/sh\nexec \"$@\"\n",
      .script_name = "goban run",
      .job_name = arguments.words.front().substr(arguments.words.front().rfind('/') + 1),
      .arguments = arguments.words,
      .interactive = arguments.has_terminal,
      .options = choices,
      .as_slurm = arguments.as_slurm,
      .is_here = is_local(arguments.server)};
  const auto body = submission_json(payload);
  if (!body) return report_error(body.error());
  catch_interrupts();
  // A job with its own terminal waits for a reconnection by goban attach.
  if (!arguments.has_terminal) catch_hangups();
  const auto jobs = submit(arguments.server, *body);
  if (!jobs && is_for_sbatch(jobs.error())) {
    return report_error(run_by_salloc(payload, arguments.server));
  }
  if (!jobs && is_for_kubectl(jobs.error())) {
    const auto num_gpus = static_cast<int64_t>(number_of(*body, "num_gpus"));
    return report_error(with_kubectl(jobs.error(), payload, num_gpus));
  }
  if (!jobs) return report_error(jobs.error());
  const uint32_t job = jobs->front();
  auto client = connect(arguments.server);
  if (!client) return leave(arguments, job, client.error());
  const auto started = wait_for_start(arguments.server, job);
  if (interrupted()) return give_up(arguments, *client, job);
  if (!started) return leave(arguments, job, started.error());
  if (arguments.has_terminal) return run_at_terminal(arguments, *client, *started);
  const auto printed = print_log(*client, fmt::format("{}", job),
                                 {.follow = true, .daemon_was_there = true}, STDOUT_FILENO);
  if (interrupted()) return give_up(arguments, *client, job);
  if (!printed) {
    if (!job_now(*client, job) && is_away(*client)) return leave(arguments, job, printed.error());
    note("warning: cannot show the output: " + printed.error().text());
    note(fmt::format("waiting for job {} to finish", job));
  }
  return finish_run(arguments, *client, job);
}

}  // namespace

void add_run(Command& app, Action& action) {
  auto arguments = std::make_shared<RunArguments>();
  auto choices = std::make_shared<SubmitChoices>();
  // A command that a user waits for is not started again without a request.
  choices->emplace_back("--no-requeue", "");
  Command* c = app.add_subcommand("run", "Run a command as a job and wait for it");
  c->prefix_command("COMMAND [ARGUMENT ...]");
  add_submit_options(*c, choices, {"--array", "--hold"});
  c->add_flag("--pty", arguments->has_terminal,
              "Run the command in a terminal that receives the keyboard input, Ctrl-C included");
  c->add_flag("--as-slurm", arguments->as_slurm, "Interpret options as srun does")->group("");
  add_server_option(*c, arguments->server);
  c->footer(
      "The command runs in the current folder on the GPUs that the scheduler assigns. Its output\n"
      "is written to the output file and copied from there to standard output. Ctrl-C or closing\n"
      "the terminal cancels the job.\n"
      "With --pty the command has its own terminal, of the size of this one. Ctrl-] d detaches\n"
      "and leaves it running (reconnect with goban attach); Ctrl-] Ctrl-] sends Ctrl-].\n\n"
      "Examples:\n"
      "  goban run --gpus 1 nvidia-smi\n"
      "  goban run --gpus 4 --time 1h -- python train.py --epochs 3\n"
      "  goban run --gpus 1 --pty bash\n"
      "Exit codes: that of the command, 128 + the signal that ended it, 1 failure or no daemon,\n"
      "2 usage error, 3 job rejected, 130 interrupted.");
  c->callback([c, arguments, choices, &action] {
    arguments->words = words_behind_options(*c);
    action = [arguments, choices] { return run(*arguments, *choices); };
  });
}

}  // namespace goban::cli
