// The jobs an analysis is about: a compact row for each record that ran, what kind of job it was,
// and which of the five conditions of the ABCI paper (section on extraction) it meets.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/cluster.hpp"
#include "site/analysis/rules.hpp"
#include "site/records/record_table.hpp"

namespace goban::site::analysis {

/// A kind of job that sites tell apart: a resource type, or a size where the records have no types.
struct JobKindInfo {
  std::string name;
  int32_t gpus = 0;         ///< of one instance, or of the largest job seen
  bool whole_node = false;  ///< its jobs hold whole nodes, perhaps several
  std::optional<core::model::ResourceType> offered{};  ///< what the cluster says of it
};

/// The site as far as the figures need it.
struct SiteShape {
  std::vector<JobKindInfo> kinds;  ///< fewest GPUs first, whole nodes after parts, CPU only last
  int32_t gpus_per_node = 1;
  std::vector<std::string> gpu_models;  ///< names of the cluster's
  int32_t rack_nodes = 34;
  int64_t num_nodes = 0;        ///< 0 = not known
  int64_t num_gpus = 0;         ///< 0 = not known
  int32_t job_nodes_max = 0;    ///< of the largest job the site takes; 0 = not known
  bool rack_known = false;      ///< rack_nodes comes from the cluster or the rules
  bool types_recorded = false;  ///< kinds are resource types of the records
  std::vector<core::model::ResourceType>
      unused_types;  ///< offered by the cluster, named by no record
  /// Rack of each node of the cluster, if it has racks.
  std::map<std::string, int64_t, std::less<>> rack_of_node;
  std::vector<int32_t> node_bins;  ///< upper bounds of node counts, rising; the last takes the rest

  [[nodiscard]] size_t bin_of(int32_t nodes) const;
  /// "1", "9-34", "513-".
  [[nodiscard]] std::string bin_name(size_t bin) const;
};

/// What is asked of a job, in this order.
enum class Rule : uint8_t {
  Ended,     ///< it ran and is over, with a run time
  Period,    ///< within the period
  Event,     ///< not part of an excluded event
  Gpus,      ///< C1
  Batch,     ///< C2
  Software,  ///< C3
  RunTime,   ///< C4
  GpuUse,    ///< C5
};
inline constexpr size_t kNumRules = 8;
/// `c1_gpus`, as in rules files and `--why`.
[[nodiscard]] std::string_view key(Rule rule);

enum class Verdict : uint8_t { Pass, Fail, Unknown };

/// One job. 56 bytes.
struct Job {
  uint32_t row = 0;      ///< of the RecordTable
  uint32_t user = 0;     ///< records::kNoName = not known
  uint32_t account = 0;  ///< likewise
  int32_t gpus = -1;     ///< -1 = not known
  int32_t nodes = 1;
  uint16_t kind = 0;
  uint16_t passed = 0;   ///< bit by Rule
  uint16_t unknown = 0;  ///< likewise
  bool exceeded = false;
  bool selected = false;  ///< met every rule that could be applied
  double run_s = 0;
  double wait_s = -1;   ///< -1 = not known
  double gpu_part = 1;  ///< of each of its GPUs that it held

  [[nodiscard]] Verdict verdict(Rule rule) const {
    const auto bit = static_cast<uint16_t>(1U << static_cast<unsigned>(rule));
    return (unknown & bit) != 0  ? Verdict::Unknown
           : (passed & bit) != 0 ? Verdict::Pass
                                 : Verdict::Fail;
  }
  void set(Rule rule, Verdict verdict) {
    const auto bit = static_cast<uint16_t>(1U << static_cast<unsigned>(rule));
    passed = static_cast<uint16_t>(verdict == Verdict::Pass ? passed | bit : passed & ~bit);
    unknown = static_cast<uint16_t>(verdict == Verdict::Unknown ? unknown | bit : unknown & ~bit);
  }
  [[nodiscard]] double run_h() const { return run_s / 3600; }
  /// Parts of GPUs count as parts.
  [[nodiscard]] double held_gpus() const { return gpus > 0 ? gpus * gpu_part : 0; }
  [[nodiscard]] double gpu_hours() const { return held_gpus() * run_h(); }
  [[nodiscard]] double node_hours() const { return nodes * run_h(); }
};

/// Whether a rule could be asked at all, and how it went; the rows of the funnel.
struct RuleCount {
  bool applied = true;
  std::string reason;  ///< why not applied: a key of the labels
  int64_t before = 0;
  int64_t passed = 0;
  int64_t failed = 0;
  int64_t unknown = 0;
  int64_t kept = 0;  ///< go on to the next rule
};

/// All jobs with the verdicts on them. The table outlives it.
struct Population {
  const records::RecordTable* table = nullptr;
  SiteShape site;
  std::vector<Job> jobs;  ///< those that ran; in the order of the input
  int64_t records = 0;    ///< jobs in the input, array tasks each
  std::array<RuleCount, kNumRules> funnel;

  [[nodiscard]] const records::RecordRow& row(const Job& job) const {
    return table->rows()[job.row];
  }
  [[nodiscard]] const JobKindInfo& kind(const Job& job) const { return site.kinds[job.kind]; }
  /// Holds whole nodes ("Full").
  [[nodiscard]] bool whole_node(const Job& job) const { return kind(job).whole_node; }
  [[nodiscard]] int64_t num_selected() const;
};

/// Takes the jobs that ran out of the table. `cluster` may be null.
[[nodiscard]] Population make_population(const records::RecordTable& table, const Rules& rules,
                                         const core::model::Cluster* cluster);

/// Asks all rules but the last (GpuUse) of every job, then counts. Condition 5 is asked by
/// apply_gpu_use(), where there are values.
void extract(Population& population, const Rules& rules);

/// A job with that verdict goes on to the next rule.
[[nodiscard]] bool passes(Verdict verdict, Rule rule, const Rules& rules);

/// Takes the verdicts of condition 5, one a job, and counts again. `reason` as in RuleCount; an
/// empty span = not applied.
void apply_gpu_use(Population& population, const Rules& rules, std::span<const Verdict> verdicts,
                   std::string reason);

/// Takes other verdicts of condition 3, one a job, and counts again.
void apply_software(Population& population, const Rules& rules, std::span<const Verdict> verdicts);

/// Fits a pattern of '*' (any text) and '?' (any letter), in any case of letters.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text);

}  // namespace goban::site::analysis
