// goban simulate: replays a job history under several policies and compares them.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "cli/shell/notes.hpp"
#include "cli/shell/progress.hpp"
#include "cli/shell/terminal_style.hpp"
#include "cli/shell/text_table.hpp"
#include "cli/study/commands.hpp"
#include "cli/study/painted_gains.hpp"
#include "cli/study/simulate_options.hpp"
#include "site/records/reject_limit.hpp"
#include "study/results/worth_report.hpp"
#include "study/rivals/presets.hpp"
#include "study/study.hpp"

namespace goban::cli {
namespace {

struct SimulateArguments {
  study::StudyOptions study;
  study::rivals::RivalOptions rivals;  ///< only batch sizes and shares are options of its own
  bool json = false;
};

/// Options that apply to the formats of rivals, too.
constexpr std::array<std::string_view, 12> kRivalOptions = {
    "cluster", "jobs", "format", "rates",     "batch-sizes", "shares",
    "policy",  "out",  "json",   "decisions", "quiet",       "restart-cost"};
constexpr std::array<std::string_view, 2> kOnlyRivalOptions = {"batch-sizes", "shares"};

/// Refuses options that do not go with the format.
void check_format_options(const Command& command, const std::string& format) {
  const bool rival = study::rivals::is_rival_format(format);
  for (const auto& [name, value] : command.given()) {
    if (rival && std::ranges::find(kRivalOptions, name) == kRivalOptions.end()) {
      refuse_value("--" + name, "does not apply to format " + format);
    }
    if (!rival && std::ranges::find(kOnlyRivalOptions, name) != kOnlyRivalOptions.end()) {
      refuse_value("--" + name, "applies to the formats shockwave and elasticflow only");
    }
  }
}

int simulate_rivals(const SimulateArguments& arguments) {
  study::rivals::RivalOptions options = arguments.rivals;
  const study::StudyOptions& study = arguments.study;
  options.cluster = study.files.cluster;
  options.rates = study.files.rates;
  options.jobs = study.files.jobs;
  options.format = study.files.reading.format;
  options.policies = study.policies;
  options.out = study.out;
  options.decisions = study.decisions;
  options.restart_cost_s = study.restart_cost_s;
  const auto summaries = study::rivals::run_rivals(options);
  if (!summaries) return report_error(summaries.error());
  if (arguments.json) {
    fmt::print("{}", study::rivals::rivals_json(*summaries));
    return 0;
  }
  fmt::print("{} on {}\n\n{}", options.jobs, options.cluster,
             study::rivals::rivals_table(*summaries));
  if (!options.out.empty()) fmt::print("Per-job results: {}/<policy>/jobs.csv\n", options.out);
  return 0;
}

/// Files of published traces (docs/studies/rivals.md).
void add_rival_options(Command& c, study::rivals::RivalOptions& options) {
  c.add_option("--batch-sizes", options.batch_sizes,
               "Format shockwave: how batch sizes grow in mode gns (CSV: "
               "model,batch_size,num_gpus,from_epoch,factor)")
      ->type_name("FILE");
  c.add_option("--shares", options.shares,
               "Formats shockwave, elasticflow: recorded shares of time (default: our own exact "
               "solver)")
      ->type_name("FILE");
}

void print_results(const study::Study& study, const study::results::Comparison& comparison) {
  const study::StudyOptions& options = study.options();
  const core::model::Cluster& cluster = study.inputs().cluster;
  const TerminalStyle style = output_style();
  // Colours take no room, so lines are broken before they are painted.
  std::string table =
      wrapped(study::results::comparison_table(comparison, style.width), style.width);
  if (style.coloured) table = painted_gains(table);
  std::string text = study::results::energy_table(comparison, style.width);
  text += study::results::service_table(comparison.runs, style.width);
  text += study::results::worst_account_lines(comparison.runs);
  text += study::results::elastic_lines(comparison.runs);
  text += study::results::staging_table(comparison.runs, style.width);
  text += study::results::starts_lines(comparison.runs);
  text += study::results::promises_lines(comparison.runs);
  if (comparison.backtest) text += '\n' + study::results::backtest_text(*comparison.backtest);
  if (comparison.worth) text += study::results::worth_table(*comparison.worth, style.width);
  fmt::print("{} on {} ({})\n\n{}{}", options.files.jobs, cluster.name(),
             base::counted(cluster.num_gpus(), "GPU"), table, wrapped(text, style.width));
  if (!options.out.empty()) fmt::print("Per-job results: {}/<policy>/jobs.csv\n", options.out);
  if (!options.html.empty()) fmt::print("HTML report: {}\n", options.html);
}

int simulate(const SimulateArguments& arguments) {
  catch_interrupts();
  interrupt_reads();
  ProgressBar progress;
  const auto study = study::Study::load(arguments.study, progress);
  if (!study) return report_error(study.error());
  print_notes(study->notes());
  const auto comparison = study->run(progress);
  if (!comparison) return report_error(comparison.error());
  if (arguments.json) {
    fmt::print("{}", study::results::simulate_json(*comparison));
  } else {
    print_results(*study, *comparison);
  }
  const study::InputFiles& files = study->options().files;
  const auto status =
      site::records::check_rejects(study->inputs().jobs, files.jobs, files.max_rejects_pct);
  return status ? 0 : report_error(status.error());
}

}  // namespace

void add_simulate(Command& app, Action& action) {
  auto arguments = std::make_shared<SimulateArguments>();
  Command* c = app.add_subcommand("simulate",
                                  "Replay a job history under several policies and compare them");
  add_simulate_options(*c, arguments->study, arguments->json);
  add_rival_options(*c, arguments->rivals);
  c->footer(
      "Examples:\n"
      "  goban simulate --cluster 32x8 --jobs jobs.csv --policy fifo+packed,las+pal\n"
      "  goban simulate --cluster abci --jobs jobs.csv --policy fifo+packed,las+pal \\\n"
      "    --html report.html\n"
      "  goban simulate --cluster sia-64 --jobs workload-1.csv --scores scores.csv \\\n"
      "    --policy packed-sticky-artifact,pal-artifact --filler-interarrivals gaps.csv\n"
      "  zcat jobs.csv.gz | goban simulate --cluster abci --jobs - --format generic \\\n"
      "    --policy easy-backfill+packed --json\n"
      "  goban simulate --cluster mine.toml --jobs recorded.csv --policy las+pal,easy-backfill+pal "
      "\\\n"
      "    --backtest easy-backfill+packed --warmup 7d\n"
      "  goban trace generate --like gavel --cluster 64x8 --load 0.6 --jobs 3000 --out gavel.csv\n"
      "  goban simulate --cluster 64x8:V100 --jobs gavel.csv --policy fifo+packed \\\n"
      "    --energy v100 --colocation simulation_throughputs.json --html energy.html\n"
      "  goban simulate --cluster 32x1 --jobs trace.csv --format shockwave --rates rates.csv \\\n"
      "    --batch-sizes gns.csv --policy gavel-gandiva-fair --out run --decisions");
  c->callback([arguments, c, &action] {
    check_format_options(*c, arguments->study.files.reading.format);
    if (study::rivals::is_rival_format(arguments->study.files.reading.format)) {
      action = [arguments] { return simulate_rivals(*arguments); };
      return;
    }
    arguments->study.arguments = deciding_arguments(*c);
    action = [arguments] { return simulate(*arguments); };
  });
}

}  // namespace goban::cli
