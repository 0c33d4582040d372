// Site rules as TOML files. Every key is shown with its default, * marks the required ones:
//
//   half_life = "7d"             # usage counts half after so long; "0s" = it is never forgotten
//   recalculate = "5min"         # how often priorities are computed anew
//   weight_age = 1000            # the parts of a priority in the order multifactor
//   weight_fair_share = 10000
//   weight_qos = 2000
//   weight_partition = 1000
//   weight_size = 500            # below 0: smaller jobs go first
//   age_max = "7d"               # the age part is full then
//
//   [[account]]
//   name = "physics"             # *
//   parent = "science"           # left out: right under the root
//   shares = 1                   # relative to its siblings
//   max_gpus = 128               # that all its jobs hold at once; left out: no limit
//   max_jobs = 50                # running at once
//   max_gpus_each = 16           # the same for each user of the account
//   max_jobs_each = 4
//
//   [[user]]
//   name = "alice"               # *
//   account = "physics"          # *
//   shares = 1
//   max_gpus = 8
//   max_jobs = 2
//
//   [[partition]]                # priorities are divided by the largest one
//   name = "gpu"                 # *
//   priority = 1                 # * unless it has `share`
//   share = "yes"                # whether jobs that do not say so share their GPUs: yes or no;
//   left
//                                # out: as the policy's setting `everyone`
//
//   [[qos]]
//   name = "urgent"              # *
//   priority = 10                # *
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/model/job.hpp"
#include "core/model/site_rules.hpp"

namespace goban::core::model {

/// Names that the history does not have yet are added to its tables, so that every rule has an id.
/// Errors: BadData with line, column, field and remedy: names given twice, parents that are no
/// account or go in a circle.
[[nodiscard]] base::Result<SiteRules> parse_site_rules(std::string_view toml,
                                                       const std::string& file,
                                                       JobHistory& history);

}  // namespace goban::core::model
