// goban profile: measures the GPUs of this machine and writes their score table. goban profile
// check: checks whether the table is still valid.
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/gpus/busy_gpus.hpp"
#include "cli/gpus/commands.hpp"
#include "cli/gpus/profile_report.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/shell/progress.hpp"
#include "live/machine/profile.hpp"
#include "live/machine/refresh.hpp"

namespace goban::cli {
namespace {

using base::Result;
using base::Status;
using base::gpus::MachineGpus;
using live::machine::kBlocks;
using live::machine::kRefreshSeconds;
using live::machine::SessionPlan;
using nlohmann::json;

constexpr int kQuickBlocks = 6;

struct MeasureArguments {
  std::string config;
  std::optional<int32_t> virtual_gpus;
  std::string server;
  std::string out;
  std::vector<int32_t> gpus;
  std::string compare = "last";
  double seconds = 0;
  bool quick = false;
  bool force = false;
  bool skip_busy = false;
  bool refresh = false;
  bool send = false;
  bool json_out = false;
};

/// Also sets `out` to the configured score table if --out is not given.
Result<MachineGpus> machine_of(MeasureArguments& arguments) {
  serve::daemon::ServeConfig config;
  if (!arguments.config.empty()) {
    auto read = serve::daemon::read_serve_config(arguments.config);
    if (!read) return base::failure(read.error());
    config = std::move(*read);
  }
  if (arguments.out.empty()) arguments.out = config.scores.empty() ? "scores.csv" : config.scores;
  if (arguments.virtual_gpus) config.virtual_gpus = *arguments.virtual_gpus;
  return serve::daemon::find_gpus(config);
}

Result<std::vector<size_t>> gpus_asked_for(const MachineGpus& machine,
                                           const std::vector<int32_t>& asked) {
  std::vector<size_t> out;
  for (size_t i = 0; i < machine.gpus.size(); ++i) {
    if (asked.empty() || std::ranges::count(asked, machine.gpus[i].index) > 0) out.push_back(i);
  }
  for (const int32_t index : asked) {
    if (index >= 0 && static_cast<size_t>(index) < machine.gpus.size()) continue;
    return base::usage_error(fmt::format("--gpus: unknown GPU {}", index),
                             fmt::format("give numbers from 0 to {}", machine.gpus.size() - 1));
  }
  return out;
}

/// Skips busy GPUs with --skip-busy or --refresh. Errors: a GPU is busy, and no option allows it.
Result<std::vector<size_t>> idle_gpus(const MeasureArguments& arguments, const MachineGpus& machine,
                                      const std::vector<size_t>& asked, const BusyGpus& busy) {
  if (arguments.force) return asked;
  std::vector<size_t> out;
  for (const size_t i : asked) {
    const auto found = busy.find(machine.gpus[i].index);
    if (found == busy.end()) {
      out.push_back(i);
    } else if (arguments.skip_busy || arguments.refresh) {
      fmt::print(stderr, "goban: note: GPU {} is skipped: {}\n", found->first, found->second);
    } else {
      return base::failed(fmt::format("GPU {} is busy: {}", found->first, found->second),
                          "wait until it is idle, skip it with --skip-busy, or measure it with "
                          "--force; a score measured on a busy GPU is not reliable");
    }
  }
  return out;
}

/// Sends the table to the daemon if --send was given and there is a new one.
Status send_table(const MeasureArguments& arguments, const std::string& table) {
  if (table.empty() || !arguments.send) return {};
  auto client = connect(arguments.server);
  if (!client) return base::failure(client.error());
  const auto answer = client->post("/v1/scores", table);
  if (!answer) return base::failure(answer.error());
  return {};
}

SessionPlan plan_of(const MeasureArguments& arguments, std::vector<size_t> gpus) {
  SessionPlan plan{.gpus = std::move(gpus),
                   .blocks = arguments.quick ? kQuickBlocks : kBlocks,
                   .seconds = arguments.seconds,
                   .forced = arguments.force};
  if (arguments.refresh && plan.seconds <= 0) plan.seconds = kRefreshSeconds;
  plan.block.program = {"/proc/self/exe", "measure-block"};
  return plan;
}

int print_report(const MeasureArguments& arguments, const ProfileReport& report) {
  const std::string book = core::knowledge::book_path(arguments.out);
  if (arguments.json_out) {
    const json document = {
        {"gpus", report_json(report)}, {"scores_file", arguments.out}, {"profile_file", book}};
    fmt::print("{}\n", document.dump(2, ' ', false, json::error_handler_t::replace));
    return 0;
  }
  fmt::print("{}", report_text(report));
  if (std::ranges::count(report.measured, true) > 0) {
    fmt::print("Scores: {} (for goban serve); measurements: {}\n", arguments.out, book);
  }
  return 0;
}

/// Measures under a progress bar; Ctrl-C ends it.
Result<std::optional<live::machine::MachineProfile>> run_session(
    const MachineGpus& machine, live::machine::ProfileSession& session) {
  if (session.plan.gpus.empty()) {
    return live::machine::measure_profile(machine, session, interrupted());
  }
  catch_interrupts();
  const auto& plan = session.plan;
  ProgressBar bar("measuring",
                  static_cast<int64_t>(plan.gpus.size()) * static_cast<int64_t>(plan.blocks));
  session.step = [&bar] { ++bar.done; };
  return live::machine::measure_profile(machine, session, interrupted());
}

int measure(MeasureArguments arguments) {
  const auto machine = machine_of(arguments);
  if (!machine) return report_error(machine.error());
  const auto asked = gpus_asked_for(*machine, arguments.gpus);
  if (!asked) return report_error(asked.error());
  auto book = live::machine::read_book_beside(arguments.out);
  if (!book) return report_error(book.error());
  const BusyGpus used = live::machine::busy_by_use(*machine);
  const auto jobs = busy_by_jobs(*machine, arguments.server);
  if (!jobs && !arguments.force) return report_error(jobs.error());
  const auto busy_now = [&] {
    BusyGpus out = used;
    if (const auto held = busy_by_jobs(*machine, arguments.server)) {
      out.insert(held->begin(), held->end());
    }
    return out;
  };
  auto chosen = idle_gpus(arguments, *machine, *asked, busy_now());
  if (!chosen) return report_error(chosen.error());
  const auto cost_s = arguments.seconds > 0 ? arguments.seconds : kRefreshSeconds;
  auto due = live::machine::gpus_to_measure(
      *machine, *chosen, arguments.refresh ? std::optional(cost_s) : std::nullopt, *book);
  live::machine::ProfileSession session{.plan = plan_of(arguments, std::move(due)),
                                        .scores_path = arguments.out,
                                        .keep_log = arguments.refresh,
                                        .busy = busy_now};
  if (session.plan.gpus.empty() && !arguments.json_out) {
    fmt::print("{}\n", arguments.refresh ? "No idle GPU is due within 0.1 % of GPU time."
                                         : "No GPU is idle; nothing was measured.");
  }
  auto profile = run_session(*machine, session);
  if (!profile) return report_error(profile.error());
  if (!*profile) {
    fmt::print(stderr, "goban: interrupted; {} is unchanged\n", arguments.out);
    return kExitInterrupted;
  }
  for (const std::string& problem : (*profile)->problems) {
    if (!problem.empty()) fmt::print(stderr, "goban: error: {}\n", problem);
  }
  if (const auto sent = send_table(arguments, (*profile)->table); !sent) {
    return report_error(sent.error());
  }
  print_report(arguments,
               {*machine, (*profile)->scores, (*profile)->measured, arguments.compare == "last"});
  const bool all = std::ranges::all_of((*profile)->problems, &std::string::empty);
  return all ? 0 : static_cast<int>(base::ErrorCode::Failed);
}

int check(MeasureArguments arguments) {
  const auto machine = machine_of(arguments);
  if (!machine) return report_error(machine.error());
  const auto profile = live::machine::read_profile(*machine, arguments.out);
  if (!profile) return report_error(profile.error());
  print_report(arguments, {*machine, profile->scores, profile->measured});
  return std::ranges::any_of(profile->scores.gpus, &core::knowledge::GpuScores::expired) ? 1 : 0;
}

void add_machine_options(Command& command, MeasureArguments& arguments) {
  command
      .add_option("--out", arguments.out,
                  "Score table; the measurement log is stored next to it (default: that of "
                  "--config, otherwise scores.csv)")
      ->type_name("FILE");
  command.add_option("--config", arguments.config, "Configuration file of goban serve")
      ->type_name("FILE");
  command
      .add_option("--virtual-gpus", arguments.virtual_gpus,
                  "Number of virtual GPUs; each is an equal share of this machine's cores")
      ->range(1, 255);
  command.add_flag("--json", arguments.json_out, "Print JSON only");
}

}  // namespace

void add_profile_measure(Command& profile, Action& action) {
  auto arguments = std::make_shared<MeasureArguments>();
  add_machine_options(profile, *arguments);
  profile
      .add_option("--gpus", arguments->gpus,
                  "Measure only these GPUs, such as 0,2; the others keep their scores")
      ->delimiter(',')
      ->one_word();
  profile.add_flag("--quick", arguments->quick,
                   "Measure 6 blocks per GPU instead of 16; detects no stragglers");
  profile
      .add_option("--seconds", arguments->seconds, "Start no new block after this time, in seconds")
      ->range(0.1, 86400.0);
  profile
      .add_option("--compare", arguments->compare,
                  "last: report changes since earlier measurements; none: do not")
      ->one_of({"last", "none"})
      ->capture_default_str();
  auto* force = profile.add_flag("--force", arguments->force, "Also measure busy GPUs");
  profile.add_flag("--skip-busy", arguments->skip_busy, "Skip busy GPUs")->excludes(force);
  profile
      .add_flag("--refresh", arguments->refresh,
                "Measure the one idle GPU that is due, within a budget of 0.1 % of GPU time")
      ->excludes(force);
  profile.add_flag(
      "--send", arguments->send,
      "Send the scores to the running daemon, which applies them immediately (operators only)");
  add_server_option(profile, arguments->server);
  profile.footer(
      "Examples:\n"
      "  goban profile --virtual-gpus 4\n"
      "  goban profile --out /etc/goban/scores.csv --skip-busy\n"
      "  goban profile --refresh --send --config /etc/goban.toml\n"
      "Exit codes: 0 success, 1 a GPU is busy or could not be measured, 2 usage error,\n"
      "3 invalid input, 130 interrupted (nothing was written).");
  profile.callback([&profile, arguments, &action] {
    if (!profile.has_subcommand()) action = [arguments] { return measure(*arguments); };
  });
  Command* command =
      profile.add_subcommand("check", "Check whether this machine's PM scores are still valid");
  auto checked = std::make_shared<MeasureArguments>();
  add_machine_options(*command, *checked);
  command->footer(
      "Example:\n  goban profile check --out /etc/goban/scores.csv\n"
      "Exit codes: 0 all are valid, 1 a GPU was never measured, or its driver, firmware or cores\n"
      "changed, 2 usage error, 3 invalid input.");
  command->callback([checked, &action] { action = [checked] { return check(*checked); }; });
}

}  // namespace goban::cli
