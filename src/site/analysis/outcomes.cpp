// How jobs ended, and the GPU-hours of those that did not complete.
#include <algorithm>
#include <array>
#include <map>

#include "site/analysis/job_end.hpp"
#include "site/analysis/statistics.hpp"

namespace goban::site::analysis {
namespace {

constexpr std::string_view kOutcomesSection = "outcomes";

struct Outcome {
  int64_t jobs = 0;
  int64_t selected = 0;
  double gpu_hours = 0;
  std::vector<double> hours;
};

void add_states(const Context& context) {
  const Population& population = context.population;
  std::array<Outcome, records::kNumJobStates> outcomes;
  double all_hours = 0;
  for (const Job& job : population.jobs) {
    Outcome& outcome = outcomes[static_cast<size_t>(population.row(job).state)];
    ++outcome.jobs;
    outcome.selected += job.selected ? 1 : 0;
    outcome.gpu_hours += job.gpu_hours();
    outcome.hours.push_back(job.run_h());
    all_hours += job.gpu_hours();
  }
  const auto all = static_cast<int64_t>(population.jobs.size());
  const int64_t unknown = outcomes[static_cast<size_t>(records::RecordedState::Unknown)].jobs;
  if (unknown == all) {
    add_absent(context, "outcomes", kOutcomesSection, {}, "reason.no_states");
    return;
  }
  Table table = make_table(context, "outcomes", kOutcomesSection);
  table.columns = columns(context, {"state", "ran"});
  table.columns.push_back(column(context, "share", "%"));
  table.columns.push_back(column(context, "jobs"));
  table.columns.push_back(column(context, "gpu_hours", "GPU h"));
  table.columns.push_back(column(context, "share_gpu_hours", "%"));
  table.columns.push_back(column(context, "median", "h"));
  Figure figure = make_figure(context, FigureKind::Bar, "outcomes", kOutcomesSection);
  figure.x = axis(context, "state");
  figure.y = axis(context, "share", "%");
  Series jobs{.key = "ran", .label = context.labels("word.of_jobs")};
  Series hours{.key = "gpu_hours", .label = context.labels("word.of_gpu_hours")};
  for (size_t i = 0; i < outcomes.size(); ++i) {
    Outcome& outcome = outcomes[i];
    if (outcome.jobs == 0) continue;
    const std::string state(records::job_state_name(static_cast<records::RecordedState>(i)));
    std::ranges::sort(outcome.hours);
    const double job_share = 100 * static_cast<double>(outcome.jobs) / static_cast<double>(all);
    table.rows.push_back({state, outcome.jobs, job_share, outcome.selected, outcome.gpu_hours,
                          percent(outcome.gpu_hours, all_hours),
                          *base::statistics::quantile(outcome.hours, 0.5)});
    figure.categories.push_back(state);
    jobs.y.push_back(job_share);
    hours.y.push_back(all_hours > 0 ? 100 * outcome.gpu_hours / all_hours : 0);
  }
  figure.series = {std::move(jobs), std::move(hours)};
  figure.quality = table.quality = {all - unknown, all, {}};
  context.report.tables.push_back(std::move(table));
  context.report.figures.push_back(std::move(figure));
}

/// Share of failed jobs by class.
void add_failures_by_class(const Context& context) {
  const Population& population = context.population;
  const JobClasses classes(population.site);
  struct Counts {
    int64_t jobs = 0, failed = 0, node = 0, memory = 0, cancelled = 0, known = 0;
    double hours = 0;
  };
  std::vector<Counts> counts(classes.all().size());
  using records::RecordedState;
  bool any = false;
  for (const Job& job : population.jobs) {
    Counts& count = counts[classes.of(job)];
    const RecordedState state = population.row(job).state;
    ++count.jobs;
    if (state == RecordedState::Unknown) continue;
    any = true;
    ++count.known;
    count.failed += state == RecordedState::Failed ? 1 : 0;
    count.node += state == RecordedState::NodeFailed || state == RecordedState::BootFailed ? 1 : 0;
    count.memory += state == RecordedState::OutOfMemory ? 1 : 0;
    count.cancelled += state == RecordedState::Cancelled ? 1 : 0;
    if (state != RecordedState::Completed) count.hours += job.gpu_hours();
  }
  if (!any) return;
  Table table = make_table(context, "failures_by_kind", kOutcomesSection);
  table.columns = columns(context, {"kind", "nodes", "ran"});
  for (const std::string_view key :
       {"failed_share", "node_failed_share", "memory_share", "cancelled_share"}) {
    table.columns.push_back(column(context, key, "%"));
  }
  table.columns.push_back(column(context, "unfinished_gpu_hours", "GPU h"));
  for (size_t i = 0; i < counts.size(); ++i) {
    const Counts& count = counts[i];
    if (count.jobs == 0) continue;
    const auto share = [&count](int64_t part) {
      return percent(static_cast<double>(part), static_cast<double>(count.known));
    };
    table.rows.push_back({classes.all()[i].kind, classes.all()[i].nodes, count.jobs,
                          share(count.failed), share(count.node), share(count.memory),
                          share(count.cancelled), count.hours});
    table.quality.used += count.known;
    table.quality.of += count.jobs;
  }
  context.report.tables.push_back(std::move(table));
}

void add_exit_codes(const Context& context) {
  std::map<int32_t, int64_t> codes;
  int64_t known = 0;
  for (const Job& job : context.population.jobs) {
    const int32_t code = shown_exit_code(context.population.row(job));
    if (code < 0) continue;
    ++known;
    ++codes[code];
  }
  if (known == 0) {
    add_absent(context, "exit_codes", kOutcomesSection, {}, "reason.no_exit_codes");
    return;
  }
  std::vector<std::pair<int32_t, int64_t>> order(codes.begin(), codes.end());
  std::ranges::stable_sort(order, std::ranges::greater{}, &std::pair<int32_t, int64_t>::second);
  constexpr size_t kRowsMost = 20;
  Table table = make_table(context, "exit_codes", kOutcomesSection);
  table.columns = columns(context, {"exit_code", "ran"});
  table.columns.push_back(column(context, "share", "%"));
  for (size_t i = 0; i < std::min(order.size(), kRowsMost); ++i) {
    table.rows.push_back(
        {int64_t{order[i].first}, order[i].second,
         percent(static_cast<double>(order[i].second), static_cast<double>(known))});
  }
  table.quality = {known, static_cast<int64_t>(context.population.jobs.size()), {}};
  context.report.tables.push_back(std::move(table));
}

}  // namespace

void add_outcomes(const Context& context) {
  if (context.population.jobs.empty()) {
    add_absent(context, "outcomes", kOutcomesSection, {}, "reason.no_jobs");
    return;
  }
  add_states(context);
  add_failures_by_class(context);
  add_exit_codes(context);
}

}  // namespace goban::site::analysis
