// The jobs of an analysis: a compact row for each record of a job that ran, its kind, and which of
// the five conditions of the ABCI paper (section on extraction) it meets.
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

/// A kind of job: a resource type, or a size class if the records have no types.
struct JobKindInfo {
  std::string name;
  int32_t gpus = 0;                                    ///< of one instance, or of the largest job
  bool whole_node = false;                             ///< its jobs hold one or more whole nodes
  std::optional<core::model::ResourceType> offered{};  ///< its definition in the cluster
};

/// Properties of the site that the figures need.
struct SiteShape {
  std::vector<JobKindInfo> kinds;  ///< by GPUs; whole nodes after parts of nodes, CPU only last
  int32_t gpus_per_node = 1;       ///< of the largest node; those of a job: Job::node_gpus
  std::string guessed_nodes;       ///< GPUs per node that were guessed (NodeSizes); empty = none
  std::vector<std::string> gpu_models;  ///< names of the cluster's
  int32_t rack_nodes = 34;
  int64_t num_nodes = 0;        ///< 0 = unknown
  int64_t num_gpus = 0;         ///< 0 = unknown
  int32_t job_nodes_max = 0;    ///< maximum nodes of a job; 0 = unknown
  bool rack_known = false;      ///< rack_nodes comes from the cluster or the rules
  bool types_recorded = false;  ///< kinds are the resource types of the records
  std::vector<core::model::ResourceType>
      unused_types;  ///< types of the cluster that no record names
  /// Rack of each node of the cluster; empty if it has no racks.
  std::map<std::string, int64_t, std::less<>> rack_of_node;
  std::vector<int32_t> node_bins;  ///< upper bounds of node counts, ascending; one more bin above

  [[nodiscard]] size_t bin_of(int32_t nodes) const;
  /// "1", "9-34", "513-".
  [[nodiscard]] std::string bin_name(size_t bin) const;
};

/// The rules, in the order in which they are applied.
enum class Rule : uint8_t {
  Ended,     ///< it ran and has finished; its run time is known
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
  uint32_t user = 0;     ///< records::kNoName = unknown
  uint32_t account = 0;  ///< records::kNoName = unknown
  int32_t gpus = -1;     ///< -1 = unknown
  int32_t nodes = 1;
  uint16_t kind = 0;
  uint16_t passed = 0;   ///< one bit per Rule
  uint16_t unknown = 0;  ///< one bit per Rule
  bool exceeded = false;
  bool selected = false;  ///< meets every rule that was applied
  int32_t node_gpus = 1;  ///< GPUs of a node of the job
  double run_s = 0;
  double wait_s = -1;   ///< -1 = unknown
  double gpu_part = 1;  ///< fraction of each of its GPUs that it held

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
  /// Fractions of GPUs count as fractions.
  [[nodiscard]] double held_gpus() const { return gpus > 0 ? gpus * gpu_part : 0; }
  [[nodiscard]] double gpu_hours() const { return held_gpus() * run_h(); }
  [[nodiscard]] double node_hours() const { return nodes * run_h(); }
};

/// A row of the funnel: whether a rule was applied, and its result counts.
struct RuleCount {
  bool applied = true;
  std::string reason;  ///< why it was not applied: a key of the labels
  int64_t before = 0;
  int64_t passed = 0;
  int64_t failed = 0;
  int64_t unknown = 0;
  int64_t kept = 0;  ///< jobs passed on to the next rule
};

/// All jobs with their verdicts. The table must outlive it.
struct Population {
  const records::RecordTable* table = nullptr;
  SiteShape site;
  std::vector<Job> jobs;  ///< those that ran, in the order of the input
  int64_t records = 0;    ///< jobs in the input; each array task counts
  std::array<RuleCount, kNumRules> funnel;

  [[nodiscard]] const records::RecordRow& row(const Job& job) const {
    return table->rows()[job.row];
  }
  [[nodiscard]] const JobKindInfo& kind(const Job& job) const { return site.kinds[job.kind]; }
  /// True if the job holds whole nodes ("Full").
  [[nodiscard]] bool whole_node(const Job& job) const { return kind(job).whole_node; }
  [[nodiscard]] int64_t num_selected() const;
};

/// Selects the jobs of the table that ran. `cluster` may be null.
[[nodiscard]] Population make_population(const records::RecordTable& table, const Rules& rules,
                                         const core::model::Cluster* cluster);

/// Applies all rules but the last (GpuUse) to every job, then counts. apply_gpu_use() applies
/// condition 5 if there are GPU values.
void extract(Population& population, const Rules& rules);

/// True if a job with that verdict is passed on to the next rule.
[[nodiscard]] bool passes(Verdict verdict, Rule rule, const Rules& rules);

/// Sets the verdicts of condition 5, one per job, and counts again. `reason` as in RuleCount; an
/// empty span = not applied.
void apply_gpu_use(Population& population, const Rules& rules, std::span<const Verdict> verdicts,
                   std::string reason);

/// Replaces the verdicts of condition 3, one per job, and counts again.
void apply_software(Population& population, const Rules& rules, std::span<const Verdict> verdicts);

/// Matches a pattern with '*' (any text) and '?' (any character), case-insensitively.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text);

}  // namespace goban::site::analysis
