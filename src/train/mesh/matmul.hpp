// Matrix products on the CPU by oneDNN, which selects its code by CPU features. LibTorch's BLAS
// selects it by the CPU models known at its release.
#pragma once

#include <ATen/core/Tensor.h>

namespace goban::train::mesh {

/// a [m, k] times b [k, n], or n products at once: a [n, m, k], b [n, k, c]. Any strides.
[[nodiscard]] at::Tensor matrix_product(const at::Tensor& a, const at::Tensor& b);

/// For comparisons: sets whether matrix_product, convolutions and AdamW use our kernels where they
/// are faster (the default), or LibTorch's only. For the whole process.
void use_own_kernels(bool use);
[[nodiscard]] bool own_kernels_used();

}  // namespace goban::train::mesh
