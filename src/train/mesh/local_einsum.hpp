// Einsum of the slices on one device, by matrix multiplication where possible.
#pragma once

#include <ATen/core/Tensor.h>
#include <vector>

namespace goban::train::mesh {

/// Dimensions as small integers: equal labels are equal dimensions.
using Labels = std::vector<int>;

/// The tensor with its axes in the order of `to`; axes that `from` lacks get size 1. A view.
[[nodiscard]] at::Tensor align(const at::Tensor& x, const Labels& from, const Labels& to);

/// Sums the product of the inputs over the labels that are not in `output`; axes of `output` in no
/// input are repeated to `output_sizes`. The result may be a view with any strides.
[[nodiscard]] at::Tensor local_einsum(const std::vector<at::Tensor>& inputs,
                                      const std::vector<Labels>& labels, const Labels& output,
                                      at::IntArrayRef output_sizes);

}  // namespace goban::train::mesh
