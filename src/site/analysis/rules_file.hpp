// Rules of an analysis as TOML files. Every key is shown with its default:
//
//   arrays = "tasks"                 # each task of an array is a job; "first": only the first one
//   gpus_per_node = 0                # 0 = from the cluster or the records
//   rack_nodes = 0                   # 0 = from the cluster, otherwise ABCI's 34
//   node_bins = []                   # upper bounds of the node counts in Table 2: [1, 2, 8]
//   whole_node_types = []            # types whose jobs hold whole nodes; [] = from the cluster
//   table_sigma = "n-1"              # divisor of the deviations in tables: "n" or "n-1"
//   spread_sigma = "n"               # divisor of the deviation between the GPUs of a job
//   mean_over = "used"               # a job's utilisation: mean over its "used" GPUs, or over all
//                                    # "allocated" ones
//   exceeded = "either"              # evidence of an exceeded limit: "state", "elapsed" time, or
//                                    # "either"
//   top_holders = 0.06               # "the top 6 % of the users"
//   hide_users = "no"                # "yes": numbers instead of names of users and accounts
//
//   [period]
//   from = "2019-04-05"              # default: the first record; also "2019-04-05 09:00:00", in
//                                    # UTC if it has no zone
//   to = "2020-04-01"                # exclusive; default: the last record
//   by = "end"                       # the time of a job that must be in it: submit, start, end
//
//   [exclude]                        # events; patterns with * and ?
//   reservations = []
//   partitions = []
//   users = []
//   accounts = []
//
//   [conditions]
//   gpu_types = []                   # C1: only these types; [] = every job that holds GPUs
//   kind_unknown = "keep"            # C2: keep or drop jobs not known to be batch or interactive
//   software = "any"                 # C3: any, module, container, process, none
//   software_names = ["*cuda*", "nvhpc*", "*pytorch*", "*tensorflow*"]
//   software_unknown = "drop"        # C3: jobs without a record of their software
//   run_min = "300s"                 # C4
//   use_source = "auto"              # C5: series, means (of the accounting), auto
//   use_of = "job"                   # C5: the GPUs of the "job", or all GPUs of its "nodes"
//   busy_at = 5                      # C5: percent
//   sigma = "n"                      # C5: divisor of the deviation: "n" or "n-1"
//   sigmas = 2                       # C5: half width of the interval
//   tolerance = 1e-9                 # C5: of the bound; below 0 the bound is outside
//   coverage_min = 0.5               # C5: with fewer of its samples a GPU is unknown, never idle
//   skip_first = 0                   # C5: samples excluded at a job's start
//   skip_last = 0                    # C5: samples excluded at a job's end
//   delay = "0s"                     # C5: maximum delay of samples; excluded at a job's start
//   include_start = "yes"            # C5: a sample exactly at the start belongs to the job
//   include_end = "yes"              # C5: a sample exactly at the end belongs to the job
//   use_unknown = "drop"             # C5
//
//   [spearman]
//   per_bin = 100
//   seed = 1
//   x = "nodes"                      # or "bin"
//   replicates = 2000                # of the bootstrap interval
//
//   [what_if]                        # assumptions, none of them measured
//   cap_h = 24
//   communication_share = 0.3        # of a run time, if it spans racks
//   uplink_ratio = 3                 # over-subscription of the racks' uplinks today
//   uplink_ratios = [1, 2, 3, 4, 8]
//
//   [[what_if.charge]]               # points per hour of an instance
//   kind = "G.small"                 # a pattern
//   now = 1
//   then = 1
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "site/analysis/rules.hpp"

namespace goban::site::analysis {

/// Reads a file, plain or gzip. Errors: Failed if it cannot be read; those of parse_rules.
[[nodiscard]] base::Result<Rules> read_rules(const std::string& path);

/// Errors: BadData with line, column, field and remedy.
[[nodiscard]] base::Result<Rules> parse_rules(std::string_view toml, const std::string& file);

}  // namespace goban::site::analysis
