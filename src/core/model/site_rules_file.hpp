// Site rules as TOML files. All keys, top-level ones with their defaults; * marks those that are
// required:
//
//   half_life = "7d"             # half-life of usage; "0s" = no decay
//   recalculate = "5min"         # interval at which priorities are recomputed
//   weight_age = 1000            # weights of the factors of the order multifactor
//   weight_fair_share = 10000
//   weight_qos = 2000
//   weight_partition = 1000
//   weight_size = 500            # negative: smaller jobs first
//   age_max = "7d"               # age at which the age factor is 1
//
//   [[account]]
//   name = "physics"             # *
//   parent = "science"           # default: directly under the root
//   shares = 1                   # relative to its siblings
//   max_gpus = 128               # held by all its jobs at once; default: no limit
//   max_jobs = 50                # running at once; default: no limit
//   max_gpus_each = 16           # the same per user of the account
//   max_jobs_each = 4
//
//   [[user]]
//   name = "alice"               # *
//   account = "physics"          # *
//   shares = 1
//   max_gpus = 8
//   max_jobs = 2
//
//   [[partition]]                # priorities are divided by the largest
//   name = "gpu"                 # *
//   priority = 1                 # * unless `share` is given
//   share = "yes"                # do jobs that declare nothing share their GPUs? yes or no;
//                                # default: the policy's setting `everyone`
//
//   [[qos]]
//   name = "urgent"              # *
//   priority = 10                # *
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/model/job_history.hpp"
#include "core/model/site_rules.hpp"

namespace goban::core::model {

/// Adds names that the history does not have to its tables, so that every rule has an id. Errors:
/// BadData with line, column, field and remedy, such as duplicate names, unknown parents, cycles.
[[nodiscard]] base::Result<SiteRules> parse_site_rules(std::string_view toml,
                                                       const std::string& file,
                                                       JobHistory& history);

}  // namespace goban::core::model
