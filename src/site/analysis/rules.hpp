// The rules of an analysis: the five conditions of the ABCI paper, and options where the paper
// leaves a choice. Every default is the paper's value; rules_file.hpp reads other values.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "base/time_zone.hpp"
#include "site/series/reduce.hpp"

namespace goban::site::analysis {

/// The time of a job that decides whether it is in the period.
enum class PeriodBy : uint8_t { Submit, Start, End };
/// What a rule does with a job whose record lacks the required data.
enum class Unknowns : uint8_t { Keep, Drop };
/// The evidence that a job used the provided GPU software (condition 3).
enum class SoftwareEvidence : uint8_t {
  Any,        ///< one of the following
  Module,     ///< a module or image whose name matches a pattern
  Container,  ///< an image that does; images contain ':' or end with .sif or .sqsh
  Process,    ///< the job used GPU memory, or a process was observed on its GPUs
  None,       ///< the condition is not applied
};
/// The evidence that a job exceeded its walltime limit.
enum class Exceeded : uint8_t { State, Elapsed, Either };
/// How the tasks of an array count: each one, or only the first.
enum class Arrays : uint8_t { Tasks, First };
/// Source of the values of condition 5.
enum class UseSource : uint8_t { Auto, Series, Means };
/// The GPUs that condition 5 considers: the job's own, or all GPUs of its nodes.
enum class GpusAsked : uint8_t { Job, Nodes };
/// The GPUs over which a job's utilisation is averaged.
enum class MeanOver : uint8_t { Used, Allocated };

struct PeriodRules {
  base::TimeNs from_ns = -1;  ///< -1 = from the first
  base::TimeNs to_ns = -1;    ///< exclusive; -1 = to the last
  PeriodBy by = PeriodBy::End;
};

/// Jobs of special events: a job that matches one of these is excluded. Patterns with '*' and '?'.
struct Exclusions {
  std::vector<std::string> reservations;
  std::vector<std::string> partitions;
  std::vector<std::string> users;
  std::vector<std::string> accounts;
  [[nodiscard]] bool empty() const {
    return reservations.empty() && partitions.empty() && users.empty() && accounts.empty();
  }
};

struct UseRules {
  UseSource source = UseSource::Auto;
  GpusAsked gpus = GpusAsked::Job;
  series::TrimRule trim;
  double busy_at_pct = 5;
  double coverage_min = 0.5;  ///< below it a GPU is unknown, not idle
  int32_t skip_first = 0;     ///< sampling steps excluded at the start of a job
  int32_t skip_last = 0;
  base::TimeNs delay_ns = 0;  ///< maximum delay of samples; excluded at the start of a job
  bool include_start = true;  ///< a sample exactly at the start of a job belongs to it
  bool include_end = true;
  Unknowns unknown = Unknowns::Drop;
};

struct SpearmanRules {
  int32_t per_bin = 100;
  uint64_t seed = 1;
  bool by_bin_index = false;  ///< x is the bin's number instead of the node count
  int32_t replicates = 2000;
};

/// The price of an hour of one instance of a kind, in points.
struct ChargeRule {
  std::string kind;  ///< a pattern
  double now = 1;
  double then = 1;
};

/// Peak performance of a GPU model: dense 16-bit floating-point operations on tensor cores.
struct PeakRule {
  std::string model;  ///< a pattern
  double tflops = 0;
};

/// Assumptions of the what-if analyses; none of them is in the paper.
struct WhatIfRules {
  double cap_h = 24;
  double communication_share = 0.3;  ///< share of a run time spent in communication between racks
  std::vector<double> uplink_ratios = {1, 2, 3, 4, 8};
  double uplink_ratio_now = 3;      ///< over-subscription of the racks' uplinks
  std::vector<ChargeRule> charges;  ///< empty = not analysed
};

struct Rules {
  PeriodRules period;
  Exclusions exclude;
  Arrays arrays = Arrays::Tasks;
  std::vector<std::string> gpu_types;      ///< C1: types that count; empty = every job with GPUs
  Unknowns kind_unknown = Unknowns::Keep;  ///< C2
  SoftwareEvidence software = SoftwareEvidence::Any;
  std::vector<std::string> software_patterns = {"*cuda*", "nvhpc*", "*pytorch*", "*tensorflow*"};
  Unknowns software_unknown = Unknowns::Drop;  ///< C3, if some jobs have records
  base::TimeNs run_min_ns = 300 * base::kSecond;
  UseRules use;
  MeanOver mean_over = MeanOver::Used;
  base::statistics::SigmaRule spread_sigma =
      base::statistics::SigmaRule::Population;                                    ///< between GPUs
  base::statistics::SigmaRule table_sigma = base::statistics::SigmaRule::Sample;  ///< of walltimes
  Exceeded exceeded = Exceeded::Either;
  std::vector<std::string> whole_node_types;  ///< empty = inferred from cluster, name or size
  int32_t gpus_per_node = 0;  ///< of every node; 0 = from the cluster or the records
  std::map<std::string, int32_t, std::less<>> gpus_per_node_of;  ///< by partition
  int32_t rack_nodes = 0;          ///< 0 = from the cluster, otherwise 34
  std::vector<int32_t> node_bins;  ///< upper bounds; empty = by rack
  double top_holders = 0.06;
  SpearmanRules spearman;
  WhatIfRules what_if;
  std::string gpu_model;  ///< for jobs whose records name no model
  /// The first match applies. From NVIDIA's data sheets; SXM boards where there are several.
  std::vector<PeakRule> peaks = {{"*b200*", 2250}, {"*h200*", 989}, {"*h100*", 989},
                                 {"*l40s*", 362},  {"*a100*", 312}, {"*a40*", 149.7},
                                 {"*v100*", 125},  {"*l4*", 121},   {"*t4*", 65}};
  std::string zone = "UTC";  ///< the name of time_zone
  base::TimeZone time_zone;  ///< of days, hours and weekdays in the report
  bool hide_users = false;   ///< users and accounts appear as numbers
};

}  // namespace goban::site::analysis
