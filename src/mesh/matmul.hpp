// Products of matrices on the CPU: oneDNN's, which picks its code by what the processor can do,
// where the tensor library's BLAS picks by the processors it knew when it was written.
#pragma once

#include <ATen/core/Tensor.h>

namespace goban::mesh {

/// a [m, k] times b [k, n], or n of them: a [n, m, k], b [n, k, c]. Any strides.
[[nodiscard]] at::Tensor matrix_product(const at::Tensor& a, const at::Tensor& b);

}  // namespace goban::mesh
