#include "site/analysis/population.hpp"

#include <algorithm>
#include <unordered_set>

#include "base/text.hpp"
#include "site/analysis/site_shape.hpp"

namespace goban::site::analysis {
namespace {

using records::RecordedState;
using records::RecordRow;
using records::RecordTable;

bool fits_any(const std::vector<std::string>& patterns, std::string_view name) {
  return !name.empty() && std::ranges::any_of(patterns, [name](const std::string& pattern) {
    return matches(pattern, name);
  });
}

/// For each name of a table: whether a pattern matches it.
std::vector<bool> fitting(const std::vector<std::string>& patterns,
                          const records::InternedColumn& names) {
  std::vector<bool> fits(names.size());
  for (uint32_t i = 0; i < names.size(); ++i) fits[i] = fits_any(patterns, names[i]);
  return fits;
}
bool at(const std::vector<bool>& fits, uint32_t name) {
  return name != records::kNoName && fits[name];
}

/// Grid Engine's `failed` codes: 37 = stopped at a limit; 100 = killed by a signal.
constexpr int16_t kFailedAtLimit = 37;
constexpr int16_t kFailedBySignal = 100;

bool exceeded(const RecordRow& row, Exceeded rule) {
  const bool at_limit = row.walltime_limit_ns > 0 && row.run_ns >= row.walltime_limit_ns;
  const bool by_state = row.state == RecordedState::TimedOut || row.failed_code == kFailedAtLimit ||
                        (row.failed_code == kFailedBySignal && at_limit);
  // A recorded state decides; without one, a run time beyond the limit does.
  const bool by_time =
      row.state == RecordedState::Unknown && at_limit && row.run_ns > row.walltime_limit_ns;
  switch (rule) {
    case Exceeded::State:
      return by_state;
    case Exceeded::Elapsed:
      return at_limit;
    case Exceeded::Either:
      break;
  }
  return by_state || by_time;
}

/// A requeued run counts, because it held its GPUs, if its end is known.
bool ran(const RecordRow& row) {
  if (row.run_ns < 0) return false;
  if (row.state == RecordedState::Requeued) return row.end_ns >= 0;
  return row.state == RecordedState::Unknown || records::has_ended(row.state);
}

/// Modules are named NAME/VERSION; images have a registry or a tag, or are files.
bool is_image(std::string_view name) {
  return name.find(':') != std::string_view::npos || name.ends_with(".sif") ||
         name.ends_with(".sqsh");
}

/// Applies the rules to one job after the other.
class Extractor {
 public:
  Extractor(const Population& population, const Rules& rules)
      : population_(population), table_(*population.table), rules_(rules) {
    reservations_ = fitting(rules.exclude.reservations, table_.reservations());
    partitions_ = fitting(rules.exclude.partitions, table_.partitions());
    users_ = fitting(rules.exclude.users, table_.users());
    accounts_ = fitting(rules.exclude.accounts, table_.accounts());
    software_ = fitting(rules.software_patterns, table_.software_names());
    for (const RecordRow& row : table_.rows()) {
      kinds_known_ |= row.kind != records::JobKind::Unknown;
      software_known_ |= row.software != records::kNoList;
      gpus_known_ |= row.num_gpus >= 0;
      if (row.gpus != records::kNoList && !process_known_) {
        process_known_ = std::ranges::any_of(
            table_.gpus_of(row),
            [](const records::StoredGpu& gpu) { return gpu.mem_used_bytes >= 0; });
      }
    }
  }

  void ask(Job& job) const {
    const RecordRow& row = table_.rows()[job.row];
    job.set(Rule::Ended, Verdict::Pass);
    job.set(Rule::Period, period(row));
    job.set(Rule::Event, event(row));
    job.set(Rule::Gpus, gpus(job, row));
    job.set(Rule::Batch, row.kind == records::JobKind::Unknown ? Verdict::Unknown
                         : row.kind == records::JobKind::Batch ? Verdict::Pass
                                                               : Verdict::Fail);
    job.set(Rule::Software, software(row));
    job.set(Rule::RunTime, row.run_ns >= rules_.run_min_ns ? Verdict::Pass : Verdict::Fail);
    job.set(Rule::GpuUse, Verdict::Unknown);
  }

  /// Why a rule is not applied; empty = it is applied.
  [[nodiscard]] std::string not_applied(Rule rule) const {
    switch (rule) {
      case Rule::Period:
        return rules_.period.from_ns < 0 && rules_.period.to_ns < 0 ? "reason.no_period" : "";
      case Rule::Event:
        return rules_.exclude.empty() ? "reason.no_events" : "";
      case Rule::Gpus:
        return gpus_known_ ? "" : "reason.no_gpus";
      case Rule::Batch:
        return kinds_known_ ? "" : "reason.no_kinds";
      case Rule::Software:
        if (rules_.software == SoftwareEvidence::None) return "reason.software_off";
        return software_evidence_known() ? "" : "reason.no_software";
      case Rule::GpuUse:
        return "reason.no_series";
      case Rule::Ended:
      case Rule::RunTime:
        break;
    }
    return "";
  }

 private:
  [[nodiscard]] bool software_evidence_known() const {
    switch (rules_.software) {
      case SoftwareEvidence::Process:
        return process_known_;
      case SoftwareEvidence::Any:
        return software_known_ || process_known_;
      default:
        return software_known_;
    }
  }

  [[nodiscard]] Verdict period(const RecordRow& row) const {
    const PeriodRules& period = rules_.period;
    base::TimeNs time_ns = row.submit_ns;
    if (period.by == PeriodBy::Start) time_ns = row.start_ns;
    if (period.by == PeriodBy::End) {
      time_ns = row.end_ns >= 0 ? row.end_ns : base::add_saturating(row.submit_ns, row.run_ns);
    }
    if (time_ns < 0) return Verdict::Unknown;
    const bool inside = (period.from_ns < 0 || time_ns >= period.from_ns) &&
                        (period.to_ns < 0 || time_ns < period.to_ns);
    return inside ? Verdict::Pass : Verdict::Fail;
  }

  [[nodiscard]] Verdict event(const RecordRow& row) const {
    const bool excluded = at(reservations_, row.reservation) || at(partitions_, row.partition) ||
                          at(users_, row.user) || at(accounts_, row.account);
    return excluded ? Verdict::Fail : Verdict::Pass;
  }

  [[nodiscard]] Verdict gpus(const Job& job, const RecordRow& row) const {
    if (!rules_.gpu_types.empty()) {
      return fits_any(rules_.gpu_types, population_.kind(job).name) ? Verdict::Pass : Verdict::Fail;
    }
    if (row.num_gpus < 0) {
      return population_.site.types_recorded && population_.kind(job).gpus > 0 ? Verdict::Pass
                                                                               : Verdict::Unknown;
    }
    return row.num_gpus > 0 ? Verdict::Pass : Verdict::Fail;
  }

  [[nodiscard]] Verdict software(const RecordRow& row) const {
    bool known = false;
    const bool by_process = rules_.software == SoftwareEvidence::Process;
    if (!by_process && row.software != records::kNoList) {
      known = true;
      for (const uint32_t name : table_.software_of(row)) {
        const bool image = is_image(table_.software_names()[name]);
        if (software_[name] && (rules_.software != SoftwareEvidence::Container || image)) {
          return Verdict::Pass;
        }
      }
    }
    if (by_process || rules_.software == SoftwareEvidence::Any) {
      for (const records::StoredGpu& gpu : table_.gpus_of(row)) {
        if (gpu.mem_used_bytes > 0) return Verdict::Pass;
        known |= gpu.mem_used_bytes == 0;
      }
    }
    return known ? Verdict::Fail : Verdict::Unknown;
  }

  const Population& population_;
  const RecordTable& table_;
  const Rules& rules_;
  std::vector<bool> reservations_, partitions_, users_, accounts_, software_;
  bool kinds_known_ = false;
  bool software_known_ = false;
  bool process_known_ = false;
  bool gpus_known_ = false;
};

/// Whether a rule keeps jobs without the required data.
bool keeps_unknown(Rule rule, const Rules& rules) {
  switch (rule) {
    case Rule::Batch:
      return rules.kind_unknown == Unknowns::Keep;
    case Rule::Software:
      return rules.software_unknown == Unknowns::Keep;
    case Rule::GpuUse:
      return rules.use.unknown == Unknowns::Keep;
    default:
      return false;
  }
}

/// Fills the counts of the funnel and Job::selected.
void count_funnel(Population& population, const Rules& rules) {
  for (RuleCount& count : population.funnel) {
    count.before = count.passed = count.failed = count.unknown = count.kept = 0;
  }
  RuleCount& ended = population.funnel[static_cast<size_t>(Rule::Ended)];
  for (Job& job : population.jobs) {
    job.selected = true;
    for (size_t i = 0; i < kNumRules && job.selected; ++i) {
      const auto rule = static_cast<Rule>(i);
      RuleCount& count = population.funnel[i];
      ++count.before;
      const Verdict verdict = job.verdict(rule);
      if (count.applied) {
        ++(verdict == Verdict::Pass   ? count.passed
           : verdict == Verdict::Fail ? count.failed
                                      : count.unknown);
        job.selected = passes(verdict, rule, rules);
      }
      if (job.selected) ++count.kept;
    }
  }
  ended.before = population.records;
  ended.failed = population.records - ended.passed;
}

}  // namespace

std::string_view key(Rule rule) {
  constexpr std::array<std::string_view, kNumRules> kKeys = {
      "ended",    "period",      "event",       "c1_gpus",
      "c2_batch", "c3_software", "c4_run_time", "c5_gpu_use"};
  return kKeys[static_cast<size_t>(rule)];
}

bool passes(Verdict verdict, Rule rule, const Rules& rules) {
  return verdict == Verdict::Pass || (verdict == Verdict::Unknown && keeps_unknown(rule, rules));
}

bool matches(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() &&
        (pattern[p] == '?' || base::lowered(pattern[p]) == base::lowered(text[t])) &&
        pattern[p] != '*') {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

int64_t Population::num_selected() const {
  return std::ranges::count_if(jobs, [](const Job& job) { return job.selected; });
}

Population make_population(const RecordTable& table, const Rules& rules,
                           const core::model::Cluster* cluster) {
  Population population;
  population.table = &table;
  ShapedSite shaped = shape_site(table, rules, cluster);
  population.site = std::move(shaped.site);
  const std::span<const RecordRow> rows = table.rows();
  population.jobs.reserve(rows.size());
  const bool first_only = rules.arrays == Arrays::First;
  std::unordered_set<int64_t> arrays_seen;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    const RecordRow& row = rows[i];
    if (first_only && row.array_task >= 0 && !arrays_seen.insert(row.job_number).second) continue;
    const int32_t copies = first_only ? 1 : std::max(row.array_tasks, 1);
    population.records += copies;
    if (!ran(row)) continue;
    Job job{.row = i, .user = row.user, .account = row.account, .gpus = row.num_gpus};
    job.kind = shaped.kind_of_row[i];
    job.node_gpus = shaped.node_gpus_of_row[i];
    job.nodes = nodes_of(table, row, job.node_gpus, population.kind(job).whole_node);
    job.run_s = base::to_seconds(row.run_ns);
    if (row.num_gpus > 0) {
      job.gpu_part = records::held_gpus(row.num_gpus, row.gpu_milli) / row.num_gpus;
    }
    if (row.start_ns >= 0 && row.submit_ns >= 0) {
      job.wait_s = base::to_seconds(row.start_ns - row.submit_ns);
    }
    job.exceeded = exceeded(row, rules.exceeded);
    population.jobs.insert(population.jobs.end(), static_cast<size_t>(copies), job);
  }
  return population;
}

void extract(Population& population, const Rules& rules) {
  const Extractor extractor(population, rules);
  for (Job& job : population.jobs) extractor.ask(job);
  for (size_t i = 0; i < kNumRules; ++i) {
    RuleCount& count = population.funnel[i];
    count.reason = extractor.not_applied(static_cast<Rule>(i));
    count.applied = count.reason.empty();
  }
  count_funnel(population, rules);
}

void apply_gpu_use(Population& population, const Rules& rules, std::span<const Verdict> verdicts,
                   std::string reason) {
  RuleCount& count = population.funnel[static_cast<size_t>(Rule::GpuUse)];
  count.applied = !verdicts.empty();
  count.reason = std::move(reason);
  for (size_t i = 0; i < verdicts.size(); ++i) {
    population.jobs[i].set(Rule::GpuUse, verdicts[i]);
  }
  count_funnel(population, rules);
}

void apply_software(Population& population, const Rules& rules, std::span<const Verdict> verdicts) {
  RuleCount& count = population.funnel[static_cast<size_t>(Rule::Software)];
  count.applied = true;
  count.reason.clear();
  for (size_t i = 0; i < verdicts.size(); ++i) {
    population.jobs[i].set(Rule::Software, verdicts[i]);
  }
  count_funnel(population, rules);
}

}  // namespace goban::site::analysis
