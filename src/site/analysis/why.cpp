#include "site/analysis/why.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"
#include "base/date_time.hpp"
#include "base/units.hpp"
#include "site/analysis/labels.hpp"

namespace goban::site::analysis {
namespace {

using records::RecordRow;

std::string time_text(base::TimeNs time_ns) {
  if (time_ns < 0) return "unknown";
  if (time_ns < base::kUnixTimesFrom) return fmt::format("{} s", base::to_seconds(time_ns));
  return base::date_time_text(time_ns);
}

std::string software_text(const records::RecordTable& table, const RecordRow& row) {
  if (row.software == records::kNoList) return "no software recorded";
  std::vector<std::string_view> names;
  for (const uint32_t name : table.software_of(row)) names.push_back(table.software_names()[name]);
  return names.empty() ? "used no software" : fmt::format("{}", fmt::join(names, ", "));
}

std::string use_text(const GpuUse* use, size_t job, const Rules& rules) {
  if (use == nullptr) return "no GPU series given";
  const auto values = use->of(job);
  if (values.empty()) return "GPUs unknown, or excluded by an earlier rule";
  std::string text;
  for (const GpuValue& value : values) {
    text += fmt::format("{}{} {}", text.empty() ? "U = " : ", ",
                        value.top_pct < 0 ? "-" : fmt::format("{:.1f} %", value.top_pct),
                        series::name(value.activity));
  }
  return text + fmt::format(" (threshold {} %)", rules.use.busy_at_pct);
}

std::string event_text(const records::RecordTable& table, const RecordRow& row) {
  const auto name = [](std::string_view text) { return text.empty() ? "-" : text; };
  return fmt::format("reservation {}, partition {}, user {}, account {}",
                     name(table.reservations()[row.reservation]),
                     name(table.partitions()[row.partition]), name(table.users()[row.user]),
                     name(table.accounts()[row.account]));
}

std::string value_text(const Population& population, const Rules& rules, size_t index, Rule rule,
                       const GpuUse* use) {
  const Job& job = population.jobs[index];
  const RecordRow& row = population.row(job);
  switch (rule) {
    case Rule::Ended:
      return fmt::format("ran {}, {}", base::human_seconds(job.run_s),
                         records::job_state_name(row.state));
    case Rule::Period:
      return fmt::format("submitted {}, started {}, ended {}", time_text(row.submit_ns),
                         time_text(row.start_ns), time_text(row.end_ns));
    case Rule::Event:
      return event_text(*population.table, row);
    case Rule::Gpus:
      return fmt::format(
          "{} on {}, kind {}",
          job.gpus < 0 ? "an unknown number of GPUs" : base::counted(job.gpus, "GPU"),
          base::counted(job.nodes, "node"), population.kind(job).name);
    case Rule::Batch:
      return std::string(records::job_kind_name(row.kind));
    case Rule::Software:
      return software_text(*population.table, row);
    case Rule::RunTime:
      return fmt::format("{} s, minimum {} s", job.run_s, base::to_seconds(rules.run_min_ns));
    case Rule::GpuUse:
      break;
  }
  return use_text(use, index, rules);
}

void append_job(std::string& out, const Population& population, const Rules& rules, size_t index,
                const GpuUse* use) {
  const Labels english(Language::English);
  const Job& job = population.jobs[index];
  out += fmt::format("job {} (file {}, line {})\n", population.table->id(job.row),
                     population.row(job).file + 1, population.row(job).line);
  std::string_view stopped_by;
  for (size_t i = 0; i < kNumRules; ++i) {
    const auto rule = static_cast<Rule>(i);
    const bool applied = population.funnel[i].applied;
    const Verdict verdict = job.verdict(rule);
    const std::string_view word = !applied                   ? "-"
                                  : verdict == Verdict::Pass ? "yes"
                                  : verdict == Verdict::Fail ? "no"
                                                             : "unknown";
    out += fmt::format("  {:<12} {:<8} {:<30} {}\n", key(rule), word,
                       english(fmt::format("rule.{}", key(rule))),
                       value_text(population, rules, index, rule, use));
    if (applied && stopped_by.empty() && !passes(verdict, rule, rules)) stopped_by = key(rule);
  }
  out += job.selected ? "  => analysed\n" : fmt::format("  => excluded by {}\n", stopped_by);
}

}  // namespace

std::string explain_jobs(const Population& population, const Rules& rules, std::string_view id,
                         const GpuUse* use) {
  const records::RecordTable& table = *population.table;
  std::string out;
  std::vector<bool> wanted(table.rows().size());
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = table.id(i) == id;
  for (size_t i = 0; i < population.jobs.size(); ++i) {
    const uint32_t row = population.jobs[i].row;
    if (!wanted[row]) continue;
    append_job(out, population, rules, i, use);
    wanted[row] = false;
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i]) continue;
    out += fmt::format("job {} (file {}, line {})\n  => excluded by ended: {}, run time {}\n", id,
                       table.rows()[i].file + 1, table.rows()[i].line,
                       records::job_state_name(table.rows()[i].state),
                       table.rows()[i].run_ns < 0 ? "unknown" : "known");
  }
  return out;
}

}  // namespace goban::site::analysis
