// goban run: a command as a job, its output here, its exit code ours.
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/command.hpp"
#include "cli/job_row.hpp"
#include "cli/live_client.hpp"
#include "cli/log_output.hpp"
#include "cli/submit_payload.hpp"
#include "cli/terminal_visit.hpp"

namespace goban::cli {
namespace {

using base::Result;
using nlohmann::json;

constexpr double kLook_s = 2;

struct RunArguments {
  std::string server;
  std::vector<std::string> words;
  bool has_terminal = false;
};

Result<json> job_now(service::ApiClient& client, uint32_t job) {
  return get_json(client, fmt::format("/v1/jobs/{}", job));
}

/// Waits until the job runs, is over, or Ctrl-C. Returns what the daemon says of it then.
Result<json> wait_for_start(const std::string& server, uint32_t job) {
  json last;
  bool told = false;
  const auto waited =
      redraw_on_change(server, kLook_s, [&](service::ApiClient& client) -> Result<bool> {
        auto now = job_now(client, job);
        if (!now) return base::failure(std::move(now.error()));
        last = std::move(*now);
        const std::string state = text_of(last, "state");
        const bool waits = state != "running" && state != "stopping" && state != "done";
        if (waits && !told) fmt::print(stderr, "goban: job {} waits for its GPUs\n", job);
        told = true;
        return waits;
      });
  if (!waited) return base::failure(waited.error());
  return last;
}

Result<json> wait_for_end(const std::string& server, uint32_t job) {
  json last;
  const auto waited =
      redraw_on_change(server, kLook_s, [&](service::ApiClient& client) -> Result<bool> {
        auto now = job_now(client, job);
        if (!now) return base::failure(std::move(now.error()));
        last = std::move(*now);
        return text_of(last, "state") != "done";
      });
  if (!waited) return base::failure(waited.error());
  return last;
}

/// As a shell gives it: 128 + the signal that ended it.
int exit_code_of(const json& job) {
  if (const double code = number_of(job, "exit_code", -1); code >= 0) return static_cast<int>(code);
  if (const double signal = number_of(job, "signal"); signal > 0) {
    return 128 + static_cast<int>(signal);
  }
  return text_of(job, "result") == "completed" ? 0 : 1;
}

int give_up(service::ApiClient& client, uint32_t job) {
  fmt::print(stderr, "goban: cancelling job {}\n", job);
  const auto cancelled = client.remove(fmt::format("/v1/jobs/{}", job));
  if (!cancelled) report_error(cancelled.error());
  return kExitInterrupted;
}

int finish_run(const RunArguments& arguments, uint32_t job) {
  const auto end = wait_for_end(arguments.server, job);
  if (!end) return report_error(end.error());
  const std::string result = text_of(*end, "result");
  if (result != "completed" && result != "failed") {
    fmt::print(stderr, "goban: job {}: {}{}{}\n", job, result,
               text_of(*end, "detail").empty() ? "" : ": ", text_of(*end, "detail"));
  }
  return exit_code_of(*end);
}

int run_at_terminal(const RunArguments& arguments, service::ApiClient& client,
                    const json& started) {
  const auto job = static_cast<uint32_t>(number_of(started, "job"));
  if (text_of(started, "state") != "running") return finish_run(arguments, job);
  const auto end = visit_terminal(started);
  if (!end) return report_error(end.error());
  switch (end->kind) {
    case TerminalEnd::Kind::Exited:
      break;
    case TerminalEnd::Kind::Detached:
      fmt::print(stderr, "\r\ngoban: job {0} runs on; goban attach {0} comes back to it\n", job);
      return 0;
    case TerminalEnd::Kind::Interrupted:
      return give_up(client, job);
  }
  return finish_run(arguments, job);
}

int run(const RunArguments& arguments, const SubmitChoices& choices) {
  if (arguments.words.empty() || arguments.words.front().starts_with('-')) {
    return report_error({.code = base::ErrorCode::Usage,
                         .message = arguments.words.empty()
                                        ? "no command is given"
                                        : fmt::format("there is no option {}", arguments.words[0]),
                         .place = {},
                         .remedy = "goban run [OPTIONS] COMMAND [ARGUMENTS...]"});
  }
  const SubmitPayload payload{
      .script = "#!/bin/sh\nexec \"$@\"\n",
      .script_name = "goban run",
      .job_name = arguments.words.front().substr(arguments.words.front().rfind('/') + 1),
      .arguments = arguments.words,
      .interactive = arguments.has_terminal};
  const auto body = submission_json(payload, choices);
  if (!body) return report_error(body.error());
  catch_interrupts();
  const auto jobs = submit(arguments.server, *body);
  if (!jobs) return report_error(jobs.error());
  const uint32_t job = jobs->front();
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  const auto started = wait_for_start(arguments.server, job);
  if (interrupted()) return give_up(*client, job);
  if (!started) return report_error(started.error());
  if (arguments.has_terminal) return run_at_terminal(arguments, *client, *started);
  const auto printed = print_log(*client, fmt::format("{}", job), {.follow = true}, STDOUT_FILENO);
  if (interrupted()) return give_up(*client, job);
  if (!printed) return report_error(printed.error());
  return finish_run(arguments, job);
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<RunArguments>();
  auto choices = std::make_shared<SubmitChoices>();
  // A command somebody waits for is not started a second time unasked.
  choices->options.emplace_back("--no-requeue", "");
  CLI::App* c = app.add_subcommand("run", "Run a command as a job and wait for it");
  c->prefix_command();
  add_submit_options(*c, choices, {"--array", "--hold"});
  c->add_flag("--pty", arguments->has_terminal,
              "Give it a terminal: what is typed here goes to it, Ctrl-C too");
  add_server_option(*c, arguments->server);
  c->footer(
      "The command runs in the current folder on the GPUs that the scheduler gives it. What it\n"
      "writes goes to the output file and from there to standard output. Ctrl-C cancels the "
      "job.\n"
      "With --pty the command has a terminal of its own, of the size of this one. Ctrl-] d leaves "
      "it\nrunning (goban attach comes back), Ctrl-] Ctrl-] types Ctrl-].\n\n"
      "Examples:\n"
      "  goban run --gpus 1 nvidia-smi\n"
      "  goban run --gpus 4 --time 1h -- python train.py --epochs 3\n"
      "  goban run --gpus 1 --pty bash\n"
      "Exit codes: those of the command, 128 + the signal that ended it, 1 failed or no daemon,\n"
      "2 wrong usage, 3 refused, 130 interrupted.");
  c->callback([c, arguments, choices, &action] {
    arguments->words = words_behind_options(*c);
    action = [arguments, choices] { return run(*arguments, *choices); };
  });
}

}  // namespace goban::cli
