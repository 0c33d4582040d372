// Nodes of Alibaba's cluster-trace-v2026-spot-gpu: the table node_info_df.csv with the columns
// gpu_model, gpu_capacity_num, cpu_num and node_name, in any order.
#pragma once

#include <string>
#include <string_view>

#include "core/model/import/site_nodes.hpp"

namespace goban::core::model {

/// Errors: BadData with line and field.
[[nodiscard]] base::Result<SiteNodes> parse_alibaba_nodes(std::string_view text,
                                                          const std::string& file);

}  // namespace goban::core::model
