// Internal to train/mesh.
#pragma once

#include <ATen/core/Tensor.h>

#include "train/mesh/assignment.hpp"

namespace goban::train::mesh {

/// Updates w, m and v with the gradient `g`: on the CPU in fp32 in one loop, otherwise by LibTorch
/// operations. Both round as in the formula, except for the order of multiplications by scalars.
void adam_update(at::Tensor& w, at::Tensor& m, at::Tensor& v, const at::Tensor& g,
                 const AdamRule& rule);

}  // namespace goban::train::mesh
