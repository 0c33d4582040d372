// The file of the co-location history: CSV with one row per measured set.
//
//   gpu_type   such as V100; a prefix of the cluster's GPU models                       required
//   members    applications on the GPU: model@input + model@input, such as
//              ResNet-50@batch 64 + AlexNet; a single one = alone                        required
//   slowdowns  time / time alone of each member, in the order of `members`: 1.31 + 1.05;
//              empty for one alone; `never` = does not fit, or could not be measured     required
//   samples    number of measurements; empty = 1
//   rel_std    relative standard deviation of a measured slowdown; empty = unknown
//   util_pct   GPU utilisation, 0 to 100; empty = unknown
//   mem_bytes  peak memory per GPU, such as 9 GiB; empty = unknown
//   power_w    power of a node whose GPUs all run the set / number of GPUs; empty = unknown
//   source     text: origin of the measurement
// Other columns are rejected. Rows of the same set are merged as samples. Rows that differ by more
// than a factor of 1.25 contradict each other, and the file is rejected.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/knowledge/colocation/colocation_history.hpp"

namespace goban::core::knowledge {

/// Parses such a file; `file` is its name in messages. Errors: BadData with line, column and
/// remedy.
[[nodiscard]] base::Result<ColocationHistory> parse_colocation(std::string_view text,
                                                               const std::string& file);

/// The history in this format, sets in order of insertion; parse_colocation returns an equal
/// history.
[[nodiscard]] std::string to_csv(const ColocationHistory& history);

/// Ids in `history` of the members of a set, written as in the column `members`. Unknown members
/// get an invalid id. Errors: Usage if the text is not a set.
[[nodiscard]] base::Result<std::vector<AppId>> parse_members(std::string_view text,
                                                             const ColocationHistory& history);

/// True if the name is allowed in the file: not empty, without + @ , quotes, control characters,
/// and leading or trailing blanks.
[[nodiscard]] bool is_set_name(std::string_view name);

}  // namespace goban::core::knowledge
