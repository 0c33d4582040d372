// Measures the costs of this machine for the planner.
#pragma once

#include <c10/core/Device.h>

#include "base/result.hpp"
#include "train/comm/communicator.hpp"
#include "train/mesh/planner.hpp"

namespace goban::train::mesh {

/// Times collectives of tensors on `device`, a matrix product and an addition, on all ranks at
/// once. The slowest rank determines the result, so every rank gets the same model. Collective.
[[nodiscard]] base::Result<CostModel> measure_costs(comm::Communicator& end,
                                                    c10::Device device = c10::kCPU);

}  // namespace goban::train::mesh
