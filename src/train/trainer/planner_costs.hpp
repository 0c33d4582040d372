// The costs with which the planner predicts step times: given, or measured on the ranks of the run.
#pragma once

#include <string>

#include "base/result.hpp"
#include "train/comm/communicator.hpp"
#include "train/mesh/planner.hpp"
#include "train/trainer/options.hpp"

namespace goban::train::trainer {

/// Items `name=number` separated by ; as parse_costs() reads them.
[[nodiscard]] std::string costs_text(const mesh::CostModel& costs);

/// `text`: the items latency_s (of a collective), s_per_byte (sent by a device), flops_per_s
/// (matrix products) and bytes_per_s (results of other operations), separated by any of ; , and
/// space; or the name of a file that contains them, also on lines of their own, with comments after
/// #. Errors: Usage, or BadData for a file, if one is missing, unknown or not a possible cost;
/// Failed, for a file that cannot be read.
[[nodiscard]] base::Result<mesh::CostModel> parse_costs(const std::string& text);

/// The costs of the options, otherwise measured. Collective. Errors: those of parse_costs(); Usage,
/// if they would have to be measured on another number of ranks than the mesh has devices.
[[nodiscard]] base::Result<mesh::CostModel> planner_costs(const TrainOptions& options,
                                                          int64_t devices, comm::Communicator& end);

}  // namespace goban::train::trainer
