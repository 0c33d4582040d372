// goban simulate: replays a job history under several policies and compares them.
#include <algorithm>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/simulate_inputs.hpp"
#include "cli/simulate_options.hpp"
#include "cli/simulate_runs.hpp"
#include "report/simulate_report.hpp"

namespace goban::cli {
namespace {

void warn_about(const history::ReadResult& read, const SimulateFiles& files) {
  if (read.unsorted) fmt::print(stderr, "goban: note: {} was not in submit order\n", files.jobs);
  for (const std::string& column : read.ignored_columns) {
    fmt::print(stderr, "goban: note: column {} of {} is not used\n", column, files.jobs);
  }
  if (read.rejected == 0) return;
  fmt::print(stderr, "goban: warning: {} of {} records were rejected, see {}\n", read.rejected,
             read.records, files.rejects);
  constexpr size_t kShown = 3;
  for (size_t i = 0; i < std::min(kShown, read.first_rejections.size()); ++i) {
    const history::Rejection& rejection = read.first_rejections[i];
    fmt::print(stderr, "  {}:{}: {}\n", files.jobs, rejection.line, rejection.reason);
  }
}

/// Says which policies were told more than a live scheduler would know.
void warn_about_true_durations(const std::vector<policy::Composition>& policies,
                               const model::JobHistory& history) {
  for (const policy::Composition& c : policies) {
    const bool backfills = c.select.ends_with("backfill");
    if (!c.simulation_only() && (!backfills || history.has_walltime_limits)) continue;
    fmt::print(stderr, "goban: note: {} uses true durations, which only a simulation knows{}\n",
               c.name, c.simulation_only() ? "" : ": the jobs have no walltime limits");
  }
}

int simulate(SimulateOptions options) {
  catch_interrupts();
  if (options.decisions && options.out.empty()) {
    return report_error(
        base::usage_error("--decisions has no place to write to", "give --out DIR").value());
  }
  const auto policies = compositions(options);
  if (!policies) return report_error(policies.error());
  const auto inputs = load_inputs(options.files, options.out);
  if (!inputs) return report_error(inputs.error());
  warn_about(inputs->jobs, options.files);
  warn_about_true_durations(*policies, inputs->jobs.history);
  const auto runs = run_policies(options, *inputs, *policies);
  if (!runs) return report_error(runs.error());

  if (options.json) {
    fmt::print("{}", report::simulate_json(runs->metrics));
    return 0;
  }
  fmt::print("{} on {} ({} GPUs)\n\n{}", options.files.jobs, inputs->cluster.name(),
             inputs->cluster.num_gpus(), report::comparison_table(runs->metrics));
  fmt::print("{}", report::worst_account_lines(runs->metrics));
  if (!options.out.empty()) fmt::print("Per-job results: {}/<policy>/jobs.csv\n", options.out);
  return 0;
}

}  // namespace

void add_simulate(CLI::App& app, Action& action) {
  auto options = std::make_shared<SimulateOptions>();
  CLI::App* c = app.add_subcommand("simulate",
                                   "Replay a job history under several policies and compare them");
  add_simulate_options(*c, *options);
  c->footer(
      "Examples:\n"
      "  goban simulate --cluster 32x8 --jobs jobs.csv --policy fifo+packed,las+pal\n"
      "  goban simulate --cluster sia-64 --jobs workload-1.csv --scores scores.csv \\\n"
      "    --policy packed-sticky-artifact,pal-artifact --filler-interarrivals gaps.csv\n"
      "  zcat jobs.csv.gz | goban simulate --cluster abci --jobs - --format generic \\\n"
      "    --policy easy-backfill+packed --json");
  c->callback([options, &action] { action = [options] { return simulate(*options); }; });
}

}  // namespace goban::cli
