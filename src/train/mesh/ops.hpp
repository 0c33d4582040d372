// The operations that models are written with. Dimensions are matched by name, never by position.
// All functions throw GraphError for shapes or types that do not match. Gradients: gradient.hpp.
#pragma once

#include <string>
#include <vector>

#include "train/mesh/graph.hpp"

namespace goban::train::mesh {

// --- element-wise. Both sides of a binary operation are broadcast to the union of their dimensions
// (the left one's first) and must have the same type.
Tensor unary(Unary fn, Tensor x, double scalar = 0);
Tensor binary(Binary fn, Tensor a, Tensor b);
Tensor cast(Tensor x, DType dtype);
inline Tensor relu(Tensor x) { return unary(Unary::Relu, x); }
inline Tensor gelu(Tensor x) { return unary(Unary::Gelu, x); }  ///< tanh form
inline Tensor tanh(Tensor x) { return unary(Unary::Tanh, x); }
inline Tensor sigmoid(Tensor x) { return unary(Unary::Sigmoid, x); }
inline Tensor exp(Tensor x) { return unary(Unary::Exp, x); }
inline Tensor log(Tensor x) { return unary(Unary::Log, x); }
inline Tensor sqrt(Tensor x) { return unary(Unary::Sqrt, x); }
inline Tensor rsqrt(Tensor x) { return unary(Unary::Rsqrt, x); }
inline Tensor square(Tensor x) { return unary(Unary::Square, x); }
inline Tensor reciprocal(Tensor x) { return unary(Unary::Reciprocal, x); }
inline Tensor stop_gradient(Tensor x) { return unary(Unary::StopGradient, x); }
inline Tensor floor(Tensor x) { return unary(Unary::Floor, x); }
inline Tensor logical_not(Tensor x) { return unary(Unary::Not, x); }
inline Tensor operator-(Tensor x) { return unary(Unary::Neg, x); }
inline Tensor operator*(Tensor x, double factor) { return unary(Unary::Scale, x, factor); }
inline Tensor operator*(double factor, Tensor x) { return x * factor; }
inline Tensor operator+(Tensor x, double term) { return unary(Unary::AddScalar, x, term); }
inline Tensor operator-(Tensor x, double term) { return x + -term; }
inline Tensor operator+(Tensor a, Tensor b) { return binary(Binary::Add, a, b); }
inline Tensor operator-(Tensor a, Tensor b) { return binary(Binary::Sub, a, b); }
inline Tensor operator*(Tensor a, Tensor b) { return binary(Binary::Mul, a, b); }
inline Tensor operator/(Tensor a, Tensor b) { return binary(Binary::Div, a, b); }
inline Tensor maximum(Tensor a, Tensor b) { return binary(Binary::Max, a, b); }
inline Tensor minimum(Tensor a, Tensor b) { return binary(Binary::Min, a, b); }
inline Tensor less(Tensor a, Tensor b) { return binary(Binary::Less, a, b); }
inline Tensor less_equal(Tensor a, Tensor b) { return binary(Binary::LessEqual, a, b); }
inline Tensor equal(Tensor a, Tensor b) { return binary(Binary::Equal, a, b); }
inline Tensor not_equal(Tensor a, Tensor b) { return binary(Binary::NotEqual, a, b); }
inline Tensor greater(Tensor a, Tensor b) { return binary(Binary::Greater, a, b); }
inline Tensor greater_equal(Tensor a, Tensor b) { return binary(Binary::GreaterEqual, a, b); }
inline Tensor logical_and(Tensor a, Tensor b) { return binary(Binary::And, a, b); }
inline Tensor logical_or(Tensor a, Tensor b) { return binary(Binary::Or, a, b); }
inline Tensor floor_div(Tensor a, Tensor b) { return binary(Binary::FloorDiv, a, b); }
inline Tensor mod(Tensor a, Tensor b) { return binary(Binary::Mod, a, b); }

// --- sources
Tensor fill(Graph& graph, Shape shape, double value, DType dtype = DType::F32);
/// 0, 1, ... along one dimension.
Tensor range(Graph& graph, const Dim& dim, DType dtype = DType::I64);
/// Random numbers that depend only on the seed, the step and the element's position: equal under
/// every layout. Uniform in [0, 1), or (truncated) standard normal. No gradient.
Tensor random(Graph& graph, Shape shape, Distribution distribution, uint64_t seed,
              DType dtype = DType::F32);
/// Keeps each element with probability `keep` and divides it by `keep`; sets the others to 0.
Tensor dropout(Tensor x, double keep, uint64_t seed);

// --- sums of products. Dimensions missing from `output` are summed over; dimensions that only
// `output` has are broadcast.
Tensor einsum(const std::vector<Tensor>& inputs, const Shape& output, const char* name = "einsum");
/// Reduces over every dimension that is not in `output`, whose dimensions must all be in x.
Tensor reduce(Reducer reducer, Tensor x, const Shape& output);
inline Tensor reduce_sum(Tensor x, const Shape& output) { return reduce(Reducer::Sum, x, output); }
inline Tensor reduce_max(Tensor x, const Shape& output) { return reduce(Reducer::Max, x, output); }
inline Tensor reduce_min(Tensor x, const Shape& output) { return reduce(Reducer::Min, x, output); }
Tensor reduce_mean(Tensor x, const Shape& output);
/// 1 where any (all) of the reduced elements are not 0.
Tensor reduce_any(Tensor x, const Shape& output);
Tensor reduce_all(Tensor x, const Shape& output);
Tensor broadcast(Tensor x, const Shape& shape);
/// Running sum along `dim`, including the element itself unless `exclusive`.
Tensor cumsum(Tensor x, const std::string& dim, bool exclusive = false);

// --- movement
/// The same elements in row-major order under new dimensions. Data move where the new names are
/// split differently.
Tensor reshape(Tensor x, const Shape& shape);
/// Renames one dimension (the idiomatic way to change its layout).
Tensor rename(Tensor x, const std::string& from, const std::string& to);
Tensor transpose(Tensor x, const Shape& order);
/// `dim` is unsplittable in slice, pad, concat, split, stack and unstack.
Tensor slice(Tensor x, const std::string& dim, int64_t begin, int64_t size);
Tensor pad(Tensor x, const std::string& dim, int64_t before, int64_t after);
Tensor concat(const std::vector<Tensor>& parts, const std::string& dim);
std::vector<Tensor> split(Tensor x, const std::string& dim, int64_t parts);
/// Adds a first dimension `dim`, with one element per part.
Tensor stack(const std::vector<Tensor>& parts, const std::string& dim);
/// The inverse of `stack`: x at each position of `dim`, without that dimension.
std::vector<Tensor> unstack(Tensor x, const std::string& dim);
/// out[i] = x[i - offset] along `dim`, zeros beyond the ends or wrapped around. Splittable.
Tensor shift(Tensor x, const std::string& dim, int64_t offset, bool wrap);

// --- selection
/// 1 where the index equals the position in `dim`, in the type `dtype`.
Tensor one_hot(Tensor indices, const Dim& dim, DType dtype = DType::F32);
/// Rows of `table` along `dim`; the shape is that of `indices`, then the other dimensions of
/// `table`. Indices must be in range.
Tensor gather(Tensor table, Tensor indices, const std::string& dim);
struct TopK {
  Tensor values, indices;
};
/// The k largest elements along `dim`, largest first (ties: lowest index first), in a new dimension
/// `k` that replaces it. `k` must not be split.
TopK top_k(Tensor x, const std::string& dim, const Dim& k);
/// Index of the largest element along `dim`.
Tensor argmax(Tensor x, const std::string& dim);

// --- convolution and pooling in one, two or three spatial dimensions, as many as the filter has. x
// is [..., spatial..., in], the filter is [sizes..., in, out]. All spatial dimensions are
// unsplittable.
enum class Padding { Same, Valid };
Tensor conv(Tensor x, Tensor filter, Padding padding, int64_t stride = 1);
/// Transposed convolution: the gradient of the `conv` that maps the result to x. x is [...,
/// spatial..., in], the filter [sizes..., out, in]. Sizes of the result: Same s * stride, Valid (s
/// - 1) * stride + filter.
Tensor conv_transpose(Tensor x, Tensor filter, Padding padding, int64_t stride = 1);
/// Convolution of an image that is divided into blocks: x is [..., blocks..., sizes..., in], in two
/// dimensions [..., row_block, col_block, rows, cols, in]. Block dimensions may be split: rows at
/// block borders are exchanged (halo) before the convolution. Filter sizes are odd; zeros beyond
/// the image; stride 1.
Tensor conv_with_blocks(Tensor x, Tensor filter);
/// Appends `halo` elements of the neighbouring blocks at both ends of `block_dim`; zeros (or the
/// opposite end's elements, if `wrap`) at the border.
Tensor halo_exchange(Tensor x, const std::string& blocks_dim, const std::string& block_dim,
                     int64_t halo, bool wrap = false);
/// Maximum or mean over windows of `size` along `dim`, stride = size. Splittable.
Tensor pool(Tensor x, const std::string& dim, int64_t size, bool maximum);
/// The same over several dimensions: each window has the name of the dimension it slides along.
Tensor pool(Tensor x, const std::vector<Dim>& windows, bool maximum);

/// The sum of x over the micro-batches of a step; x if there is only one.
Tensor accumulate(Tensor x);

}  // namespace goban::train::mesh
