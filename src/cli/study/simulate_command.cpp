// goban simulate: replays a job history under several policies and compares them.
#include <fmt/format.h>

#include "base/counted.hpp"
#include "cli/shell/notes.hpp"
#include "cli/shell/progress.hpp"
#include "cli/shell/terminal_style.hpp"
#include "cli/study/commands.hpp"
#include "cli/study/painted_gains.hpp"
#include "cli/study/simulate_options.hpp"
#include "site/records/reject_limit.hpp"
#include "study/results/worth_report.hpp"
#include "study/study.hpp"

namespace goban::cli {
namespace {

struct SimulateArguments {
  study::StudyOptions study;
  bool json = false;
};

void print_results(const study::Study& study, const study::results::Comparison& comparison) {
  const study::StudyOptions& options = study.options();
  const core::model::Cluster& cluster = study.inputs().cluster;
  fmt::print("{} on {} ({})\n\n{}", options.files.jobs, cluster.name(),
             base::counted(cluster.num_gpus(), "GPU"),
             output_style().coloured ? painted_gains(study::results::comparison_table(comparison))
                                     : study::results::comparison_table(comparison));
  fmt::print("{}{}{}", study::results::energy_table(comparison),
             study::results::service_table(comparison.runs),
             study::results::worst_account_lines(comparison.runs));
  fmt::print("{}", study::results::starts_lines(comparison.runs));
  if (comparison.backtest) {
    fmt::print("\n{}", study::results::backtest_text(*comparison.backtest));
  }
  if (comparison.worth) fmt::print("{}", study::results::worth_table(*comparison.worth));
  if (!options.out.empty()) fmt::print("Per-job results: {}/<policy>/jobs.csv\n", options.out);
  if (!options.html.empty()) fmt::print("HTML report: {}\n", options.html);
}

int simulate(const SimulateArguments& arguments) {
  catch_interrupts();
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
      "    --energy v100 --colocation simulation_throughputs.json --html energy.html");
  c->callback([arguments, c, &action] {
    arguments->study.arguments = deciding_arguments(*c);
    action = [arguments] { return simulate(*arguments); };
  });
}

}  // namespace goban::cli
