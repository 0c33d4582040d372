// goban profile: measures the GPUs of this machine and writes their score table. goban profile
// check: checks whether the table is still valid.
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/output_file.hpp"
#include "cli/gpus/busy_gpus.hpp"
#include "cli/gpus/commands.hpp"
#include "cli/gpus/profile_report.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/shell/progress.hpp"
#include "core/knowledge/binning.hpp"
#include "core/knowledge/scores_file.hpp"
#include "live/machine/refresh.hpp"

namespace goban::cli {
namespace {

using base::Result;
using base::Status;
using base::gpus::MachineGpus;
using core::knowledge::MeasureBook;
using live::machine::gpus_now;
using live::machine::kBlocks;
using live::machine::kRefreshSeconds;
using live::machine::SessionPlan;
using live::machine::SessionResult;
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

Status write_file(const std::string& path, std::string text) {
  auto file = base::OutputFile::create(path);
  if (!file) return base::failure(file.error());
  file->buffer() = std::move(text);
  return file->commit();
}

/// Writes the measurement log first: after a crash the table can be computed from it. Without a new
/// measurement the table is not changed. With --send the table is also sent to the daemon.
Status write_profile(const MeasureArguments& arguments, const MeasureBook& book,
                     const core::knowledge::MachineScores& scores, bool any_measured) {
  if (auto status =
          write_file(core::knowledge::book_path(arguments.out), core::knowledge::to_json(book));
      !status) {
    return status;
  }
  if (!any_measured) return {};
  const std::string table =
      core::knowledge::to_csv(core::knowledge::bin_classes(core::knowledge::raw_by_class(scores)));
  if (auto status = write_file(arguments.out, table); !status) return status;
  if (!arguments.send) return {};
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
  if (arguments.refresh) {
    const auto due = live::machine::due_gpu(
        *machine,
        {.idle = *chosen, .cost_s = arguments.seconds > 0 ? arguments.seconds : kRefreshSeconds},
        *book, std::time(nullptr));
    chosen = due ? std::vector<size_t>{*due} : std::vector<size_t>{};
  }
  const SessionPlan plan = plan_of(arguments, std::move(*chosen));
  SessionResult result;
  if (!plan.gpus.empty()) {
    catch_interrupts();
    ProgressBar bar("measuring",
                    static_cast<int64_t>(plan.gpus.size()) * static_cast<int64_t>(plan.blocks));
    result = measure_gpus(*machine, plan, busy_now, [&] { ++bar.done; }, interrupted());
  } else if (!arguments.json_out) {
    fmt::print("{}\n", arguments.refresh ? "No idle GPU is due within 0.1 % of GPU time."
                                         : "No GPU is idle; nothing was measured.");
  }
  if (interrupted()) {
    fmt::print(stderr, "goban: interrupted; {} is unchanged\n", arguments.out);
    return kExitInterrupted;
  }
  // A daemon may have measured in the meantime.
  if (auto latest = live::machine::read_book_beside(arguments.out)) *book = std::move(*latest);
  const std::vector<bool> measured =
      live::machine::keep_sessions(result, plan, *machine, *book, std::time(nullptr));
  for (const std::string& problem : result.problems) {
    if (!problem.empty()) fmt::print(stderr, "goban: error: {}\n", problem);
  }
  const auto scores = core::knowledge::scores_of(*book, gpus_now(*machine), std::time(nullptr));
  const bool any = std::ranges::count(measured, true) > 0;
  if (any || result.spent_s > 0 || arguments.refresh) {
    const auto status = write_profile(arguments, *book, scores, any);
    if (!status) return report_error(status.error());
  }
  print_report(arguments, {*machine, scores, measured, arguments.compare == "last"});
  const bool all = std::ranges::all_of(result.problems, &std::string::empty);
  return all ? 0 : static_cast<int>(base::ErrorCode::Failed);
}

int check(MeasureArguments arguments) {
  const auto machine = machine_of(arguments);
  if (!machine) return report_error(machine.error());
  const auto book = live::machine::read_book_beside(arguments.out);
  if (!book) return report_error(book.error());
  const auto scores = core::knowledge::scores_of(*book, gpus_now(*machine), std::time(nullptr));
  const std::vector<bool> none(machine->gpus.size(), false);
  print_report(arguments, {*machine, scores, none});
  return std::ranges::any_of(scores.gpus, &core::knowledge::GpuScores::expired) ? 1 : 0;
}

void add_machine_options(Command& command, MeasureArguments& arguments) {
  command
      .add_option("--out", arguments.out,
                  "Score table; the measurement log is stored next to it (default: that of "
                  "--config, otherwise scores.csv)")
      ->type_name("FILE");
  command.add_option("--config", arguments.config, "Configuration file of goban serve");
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
