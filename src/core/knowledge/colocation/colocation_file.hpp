// The file of the co-location history H: a CSV with a row a measured set.
//
//   gpu_type   such as V100; a cluster's GPU model matches if it begins so              required
//   members    who shared the GPU: model@input + model@input, such as
//              ResNet-50@batch 64 + AlexNet; a single one = alone                        required
//   slowdowns  time / time alone of each member, in the order of `members`: 1.31 + 1.05;
//              empty for one alone; `never` = does not fit, or could not be measured     required
//   samples    measurements behind the row; empty = 1
//   rel_std    standard deviation of a measured slowdown, relative; empty = not known
//   util_pct   utilisation of the GPU, 0 to 100; empty = not known
//   mem_bytes  peak memory of one GPU, such as 9 GiB; empty = not known
//   power_w    of a node all of whose GPUs run the set, divided by its GPUs; empty = not known
//   source     text: who measured it
// Other columns are refused. Rows of one set are merged as samples; if they differ by more than a
// factor of 1.25 they contradict each other, and the file is refused.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/knowledge/colocation/colocation_history.hpp"

namespace goban::core::knowledge {

/// Reads a text; `file` stands for it in messages. Errors: BadData with line, column and remedy.
[[nodiscard]] base::Result<ColocationHistory> parse_colocation(std::string_view text,
                                                               const std::string& file);

/// The history as such a file, in the order in which sets came; the parser reads it back equal.
[[nodiscard]] std::string to_csv(const ColocationHistory& history);

/// The members of a set as the column has them, as ids of `history`. A member that is not known is
/// an invalid id. Errors: Usage if the text is no set.
[[nodiscard]] base::Result<std::vector<AppId>> parse_members(std::string_view text,
                                                             const ColocationHistory& history);

/// True if a name may stand in a file: not empty, without + @ , quotes and control characters, no
/// blanks at its ends.
[[nodiscard]] bool is_set_name(std::string_view name);

}  // namespace goban::core::knowledge
