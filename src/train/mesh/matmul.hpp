// Products of matrices on the CPU: oneDNN's, which picks its code by what the processor can do,
// where the tensor library's BLAS picks by the processors it knew when it was written.
#pragma once

#include <ATen/core/Tensor.h>

namespace goban::train::mesh {

/// a [m, k] times b [k, n], or n of them: a [n, m, k], b [n, k, c]. Any strides.
[[nodiscard]] at::Tensor matrix_product(const at::Tensor& a, const at::Tensor& b);

/// For comparisons: whether matrix_product and convolutions use code of this room (the default)
/// where it is faster, or the tensor library's own alone. Of the whole process.
void use_own_kernels(bool use);
[[nodiscard]] bool own_kernels_used();

}  // namespace goban::train::mesh
