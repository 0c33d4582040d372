// goban simulate: replays a job history under several policies and compares them.
#include <fmt/format.h>

#include "cli/shell/command.hpp"
#include "cli/study/run_record.hpp"
#include "cli/study/simulate_backtest.hpp"
#include "cli/study/simulate_html.hpp"
#include "cli/study/simulate_inputs.hpp"
#include "cli/study/simulate_notes.hpp"
#include "cli/study/simulate_options.hpp"
#include "cli/study/simulate_runs.hpp"
#include "site/page/html_report.hpp"
#include "study/results/simulate_report.hpp"

namespace goban::cli {
namespace {

int simulate(SimulateOptions options) {
  catch_interrupts();
  if (options.decisions && options.out.empty()) {
    return report_error(
        base::usage_error("--decisions has no place to write to", "give --out DIR").value());
  }
  if (const base::Status status = site::page::html_available(); !options.html.empty() && !status) {
    return report_error(status.error());
  }
  add_site_policy(options);
  const auto policies = compositions(options);
  if (!policies) return report_error(policies.error());
  const auto inputs = load_inputs(options.files, options.out, options.seed);
  if (!inputs) return report_error(inputs.error());
  const std::vector<study::results::Note> notes = simulate_notes(options.files, *inputs, *policies);
  print_notes(notes);
  SimulateHtml html(options, *inputs, notes);
  const auto runs = run_policies(options, *inputs, *policies, html);
  if (!runs) return report_error(runs.error());

  const auto comparison = compare_runs(options, *inputs, *runs);
  if (!comparison) return report_error(comparison.error());
  if (const base::Status status = html.write(*comparison, *runs); !status) {
    return report_error(status.error());
  }

  if (options.json) {
    fmt::print("{}", study::results::simulate_json(*comparison));
    return 0;
  }
  fmt::print("{} on {} ({} GPUs)\n\n{}", options.files.jobs, inputs->cluster.name(),
             inputs->cluster.num_gpus(), study::results::comparison_table(*comparison));
  fmt::print("{}{}{}", study::results::energy_table(*comparison),
             study::results::service_table(runs->metrics),
             study::results::worst_account_lines(runs->metrics));
  if (comparison->backtest)
    fmt::print("\n{}", study::results::backtest_text(*comparison->backtest));
  if (!options.out.empty()) fmt::print("Per-job results: {}/<policy>/jobs.csv\n", options.out);
  if (!options.html.empty()) fmt::print("Report for a browser: {}\n", options.html);
  return 0;
}

}  // namespace

void add_simulate(Command& app, Action& action) {
  auto options = std::make_shared<SimulateOptions>();
  Command* c = app.add_subcommand("simulate",
                                  "Replay a job history under several policies and compare them");
  add_simulate_options(*c, *options);
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
  c->callback([options, c, &action] {
    options->arguments = deciding_arguments(*c);
    action = [options] { return simulate(*options); };
  });
}

}  // namespace goban::cli
