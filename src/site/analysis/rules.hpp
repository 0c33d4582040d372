// What decides which jobs count and how: the five conditions of the ABCI paper and the choices
// where it leaves something open. Every default is the paper's value; rules_file.hpp reads others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "site/series/reduce.hpp"

namespace goban::site::analysis {

/// Which time of a job decides whether it lies in the period.
enum class PeriodBy : uint8_t { Submit, Start, End };
/// What a rule does with a job of which the source does not say what the rule asks.
enum class Unknowns : uint8_t { Keep, Drop };
/// What shows that a job used the provided GPU software (condition 3).
enum class SoftwareEvidence : uint8_t {
  Any,        ///< one of the following
  Module,     ///< a module or image whose name fits a pattern
  Container,  ///< likewise; images hold a ':' or end with .sif, .sqsh
  Process,    ///< a GPU held memory for the job, or a process was seen on it
  None,       ///< the condition is not asked
};
/// What counts as beyond the walltime limit.
enum class Exceeded : uint8_t { State, Elapsed, Either };
/// Which jobs an array is.
enum class Arrays : uint8_t { Tasks, First };
/// Where condition 5 takes its values from.
enum class UseSource : uint8_t { Auto, Series, Means };
/// Whose use condition 5 asks for: of the job's own GPUs, or of all GPUs of its nodes.
enum class GpusAsked : uint8_t { Job, Nodes };
/// Which GPUs' values a job's utilisation is the mean of.
enum class MeanOver : uint8_t { Used, Allocated };

struct PeriodRules {
  base::TimeNs from_ns = -1;  ///< -1 = from the first
  base::TimeNs to_ns = -1;    ///< exclusive; -1 = to the last
  PeriodBy by = PeriodBy::End;
};

/// Jobs of special events: whoever fits one of these is left out. Patterns with '*' and '?'.
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
  int32_t skip_first = 0;     ///< sampling steps left out at the start of a job
  int32_t skip_last = 0;
  base::TimeNs delay_ns = 0;  ///< so late may samples be: the beginning of a job is left out
  bool include_start = true;  ///< a sample exactly at the start of a job is its own
  bool include_end = true;
  Unknowns unknown = Unknowns::Drop;
};

struct SpearmanRules {
  int32_t per_bin = 100;
  uint64_t seed = 1;
  bool by_bin_index = false;  ///< x is the bin's number instead of the node count
  int32_t replicates = 2000;
};

/// What an hour of one instance of a kind costs, in points.
struct ChargeRule {
  std::string kind;  ///< a pattern
  double now = 1;
  double then = 1;
};

/// The most floating-point operations a GPU of a model does: dense, in 16 bits, on tensor cores.
struct PeakRule {
  std::string model;  ///< a pattern
  double tflops = 0;
};

/// Assumptions of the what-ifs; none of them is in the paper.
struct WhatIfRules {
  double cap_h = 24;
  double communication_share = 0.3;  ///< of a run time, between racks
  std::vector<double> uplink_ratios = {1, 2, 3, 4, 8};
  double uplink_ratio_now = 3;      ///< over-subscription of the racks' uplinks
  std::vector<ChargeRule> charges;  ///< empty = not asked
};

struct Rules {
  PeriodRules period;
  Exclusions exclude;
  Arrays arrays = Arrays::Tasks;
  std::vector<std::string> gpu_types;  ///< C1: types that count; empty = every job that has GPUs
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
  std::vector<std::string> whole_node_types;  ///< empty = told by cluster, name or size
  int32_t gpus_per_node = 0;                  ///< 0 = told by cluster or records
  int32_t rack_nodes = 0;                     ///< 0 = told by cluster, else 34
  std::vector<int32_t> node_bins;             ///< upper bounds; empty = by rack
  double top_holders = 0.06;
  SpearmanRules spearman;
  WhatIfRules what_if;
  std::string gpu_model;  ///< of jobs whose records name none
  /// The first one that fits counts. Data sheets of NVIDIA, SXM boards where there are several.
  std::vector<PeakRule> peaks = {{"*b200*", 2250}, {"*h200*", 989}, {"*h100*", 989},
                                 {"*l40s*", 362},  {"*a100*", 312}, {"*a40*", 149.7},
                                 {"*v100*", 125},  {"*l4*", 121},   {"*t4*", 65}};
  bool hide_users = false;  ///< users and accounts appear as numbers
};

}  // namespace goban::site::analysis
