// Inside the room only.
#pragma once

#include <ATen/core/Tensor.h>

#include "train/mesh/assignment.hpp"

namespace goban::train::mesh {

/// Changes w, m and v by the gradient `g`. On the CPU in fp32 by one loop; elsewhere by operations.
/// Both round as the formula is written, but for the order of scalars.
void adam_update(at::Tensor& w, at::Tensor& m, at::Tensor& v, const at::Tensor& g,
                 const AdamRule& rule);

}  // namespace goban::train::mesh
