// What one device computes: the tensor library's operations behind the graph's.
#pragma once

#include <ATen/core/Tensor.h>
#include <span>
#include <string>

#include "train/mesh/graph.hpp"
#include "train/mesh/layout.hpp"

namespace goban::train::mesh {

[[nodiscard]] at::ScalarType scalar_type(DType dtype);

/// `reuse`: x is needed by nobody else and may be overwritten.
[[nodiscard]] at::Tensor unary_kernel(Unary fn, const at::Tensor& x, double scalar, bool reuse);
/// `reuse`: a is needed by nobody else and has the shape of the result.
[[nodiscard]] at::Tensor binary_kernel(Binary fn, const at::Tensor& a, const at::Tensor& b,
                                       bool reuse);
[[nodiscard]] at::Tensor reduce_kernel(Reducer reducer, const at::Tensor& x,
                                       const std::vector<int64_t>& axes);
/// Convolutions, channels last, over leading batch dimensions; `like` gives the sizes of the
/// result.
[[nodiscard]] at::Tensor conv_kernel(const at::Tensor& x, const at::Tensor& filter,
                                     const Attributes& attributes, at::IntArrayRef like);
/// Images [n, height, width, in] with zeros around them by `pads`; `flipped` as Attributes say.
/// [n, height', width', out].
[[nodiscard]] at::Tensor block_conv_kernel(const at::Tensor& images, const at::Tensor& filter,
                                           const Attributes& attributes);
[[nodiscard]] at::Tensor conv_input_kernel(const at::Tensor& dy, const at::Tensor& filter,
                                           const Attributes& attributes, at::IntArrayRef like);
[[nodiscard]] at::Tensor conv_filter_kernel(const at::Tensor& dy, const at::Tensor& x,
                                            const Attributes& attributes, at::IntArrayRef like);

/// The part of a tensor of random numbers that a device holds. Each number depends on `seed` and
/// its place in the whole tensor only (SplitMix64 as a counter-based generator), so it has the same
/// bits under every layout and on every device: other devices compute uniform ones in integers, and
/// get normal ones, which need logarithms, from the host.
[[nodiscard]] at::Tensor random_slice(Distribution distribution, uint64_t seed, const Shape& whole,
                                      std::span<const int64_t> begin,
                                      std::span<const int64_t> local,
                                      c10::Device device = c10::kCPU);
/// The uniform ones as a device other than the host makes them: by operations on tensors.
[[nodiscard]] at::Tensor uniform_slice_by_tensors(uint64_t seed, const Shape& whole,
                                                  std::span<const int64_t> begin,
                                                  std::span<const int64_t> local,
                                                  c10::Device device);
/// A seed from a seed and a text, equal on every machine.
[[nodiscard]] uint64_t mix_seed(uint64_t seed, const std::string& text);

}  // namespace goban::train::mesh
