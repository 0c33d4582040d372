// The computation on one device: LibTorch operations that implement the graph's.
#pragma once

#include <ATen/core/Tensor.h>
#include <span>
#include <string>

#include "train/mesh/graph.hpp"
#include "train/mesh/layout.hpp"

namespace goban::train::mesh {

[[nodiscard]] at::ScalarType scalar_type(DType dtype);
/// The type in which values are stored on a device: F16 as fp32 on processors, which lack kernels
/// for it.
[[nodiscard]] at::ScalarType stored_type(DType dtype, c10::Device device);
/// True if values of this type are stored wider than they are, and must be rounded.
[[nodiscard]] bool is_emulated(DType dtype, c10::Device device);
/// The nearest values of half precision, stored as fp32; infinite beyond 65504.
[[nodiscard]] at::Tensor rounded_to_half(const at::Tensor& x);

/// `reuse`: x has no other user and may be overwritten.
[[nodiscard]] at::Tensor unary_kernel(Unary fn, const at::Tensor& x, double scalar, bool reuse);
/// `reuse`: a has no other user and has the shape of the result.
[[nodiscard]] at::Tensor binary_kernel(Binary fn, const at::Tensor& a, const at::Tensor& b,
                                       bool reuse);
[[nodiscard]] at::Tensor reduce_kernel(Reducer reducer, const at::Tensor& x,
                                       const std::vector<int64_t>& axes);
/// Convolutions, channels last, over leading batch dimensions; `like` is the shape of the result.
[[nodiscard]] at::Tensor conv_kernel(const at::Tensor& x, const at::Tensor& filter,
                                     const Attributes& attributes, at::IntArrayRef like);
/// Convolves images [n, height, width, in], zero-padded by `pads`; `flipped` as in Attributes.
/// Returns [n, height', width', out].
[[nodiscard]] at::Tensor block_conv_kernel(const at::Tensor& images, const at::Tensor& filter,
                                           const Attributes& attributes);
[[nodiscard]] at::Tensor conv_input_kernel(const at::Tensor& dy, const at::Tensor& filter,
                                           const Attributes& attributes, at::IntArrayRef like);
[[nodiscard]] at::Tensor conv_filter_kernel(const at::Tensor& dy, const at::Tensor& x,
                                            const Attributes& attributes, at::IntArrayRef like);

/// A device's slice of a tensor of random numbers. Each number depends only on `seed` and its
/// position in the whole tensor (SplitMix64 as a counter-based generator), so it has the same bits
/// under every layout and on every device: other devices compute uniform numbers in integers, and
/// receive normal numbers, which require logarithms, from the host.
[[nodiscard]] at::Tensor random_slice(Distribution distribution, uint64_t seed, const Shape& whole,
                                      std::span<const int64_t> begin,
                                      std::span<const int64_t> local,
                                      c10::Device device = c10::kCPU);
/// Uniform numbers as computed on a device other than the CPU: by tensor operations.
[[nodiscard]] at::Tensor uniform_slice_by_tensors(uint64_t seed, const Shape& whole,
                                                  std::span<const int64_t> begin,
                                                  std::span<const int64_t> local,
                                                  c10::Device device);
/// Derives a seed from a seed and a text; equal on every machine.
[[nodiscard]] uint64_t mix_seed(uint64_t seed, const std::string& text);

}  // namespace goban::train::mesh
