#include <fmt/format.h>

#include "train/mesh/ops.hpp"

namespace goban::train::mesh {
namespace {

void require_one_type(const char* what, const std::vector<Tensor>& inputs) {
  for (const Tensor& input : inputs) {
    if (input.dtype() == inputs[0].dtype()) continue;
    throw GraphError(fmt::format("{}: '{}' is {} but '{}' is {}; cast one of them", what,
                                 inputs[0].node().name, dtype_name(inputs[0].dtype()),
                                 input.node().name, dtype_name(input.dtype())));
  }
}

/// Requires every dimension of `part` in `whole`, with the same size.
void require_part(const char* what, const Shape& part, const Shape& whole) {
  for (const Dim& dim : part.dims()) {
    if (whole.dim(dim.name).size == dim.size) continue;
    throw GraphError(
        fmt::format("{}: the sizes of {} do not match {}", what, part.text(), whole.text()));
  }
}

}  // namespace

Tensor unary(Unary fn, Tensor x, double scalar) {
  Attributes attributes;
  attributes.unary = fn;
  attributes.scalar = scalar;
  return x.graph().add(Op::Unary, unary_name(fn), {x}, x.shape(), x.dtype(), attributes);
}

Tensor binary(Binary fn, Tensor a, Tensor b) {
  require_one_type(binary_name(fn), {a, b});
  Attributes attributes;
  attributes.binary = fn;
  return a.graph().add(Op::Binary, binary_name(fn), {a, b}, a.shape().united(b.shape()), a.dtype(),
                       attributes);
}

Tensor cast(Tensor x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return x.graph().add(Op::Cast, "cast", {x}, x.shape(), dtype);
}

Tensor fill(Graph& graph, Shape shape, double value, DType dtype) {
  Attributes attributes;
  attributes.scalar = value;
  return graph.add(Op::Fill, "fill", {}, std::move(shape), dtype, attributes);
}

Tensor range(Graph& graph, const Dim& dim, DType dtype) {
  return graph.add(Op::Range, "range", {}, Shape{dim}, dtype);
}

Tensor random(Graph& graph, Shape shape, Distribution distribution, uint64_t seed, DType dtype) {
  Attributes attributes;
  attributes.distribution = distribution;
  attributes.seed = seed;
  return graph.add(Op::Random, "random", {}, std::move(shape), dtype, attributes);
}

Tensor dropout(Tensor x, double keep, uint64_t seed) {
  if (keep <= 0 || keep > 1)
    throw GraphError(fmt::format("dropout: keep is {}; must be > 0 and <= 1", keep));
  const Tensor draw = random(x.graph(), x.shape(), Distribution::Uniform, seed, x.dtype());
  const Tensor kept = less(draw, fill(x.graph(), {}, keep, x.dtype()));
  return x * stop_gradient(kept * (1.0 / keep));
}

Tensor einsum(const std::vector<Tensor>& inputs, const Shape& output, const char* name) {
  if (inputs.empty()) throw GraphError("einsum: no inputs");
  require_one_type(name, inputs);
  Shape all;
  for (const Tensor& input : inputs) all = all.united(input.shape());
  (void)all.united(output);  // checks that sizes agree
  return inputs[0].graph().add(Op::Einsum, name, inputs, output, inputs[0].dtype());
}

Tensor reduce(Reducer reducer, Tensor x, const Shape& output) {
  require_part("reduce", output, x.shape());
  if (output == x.shape()) return x;
  Attributes attributes;
  attributes.reducer = reducer;
  static constexpr const char* kNames[] = {"sum", "max", "min"};
  return x.graph().add(Op::Reduce, kNames[static_cast<size_t>(reducer)], {x}, output, x.dtype(),
                       attributes);
}

Tensor reduce_mean(Tensor x, const Shape& output) {
  const auto count = static_cast<double>(x.shape().size() / output.size());
  return reduce_sum(x, output) * (1.0 / count);
}

namespace {
Tensor truth(Tensor x) { return not_equal(x, fill(x.graph(), {}, 0, x.dtype())); }
}  // namespace

Tensor reduce_any(Tensor x, const Shape& output) { return reduce_max(truth(x), output); }
Tensor reduce_all(Tensor x, const Shape& output) { return reduce_min(truth(x), output); }

Tensor broadcast(Tensor x, const Shape& shape) {
  require_part("broadcast", x.shape(), shape);
  if (shape == x.shape()) return x;
  return x.graph().add(Op::Broadcast, "broadcast", {x}, shape, x.dtype());
}

Tensor cumsum(Tensor x, const std::string& dim, bool exclusive) {
  // Sum over j of x[j] * (j <= i): an einsum with a triangular mask, under any layout.
  const Dim& along = x.shape().dim(dim);
  const Dim source{dim + "_source", along.size};
  const Tensor i = range(x.graph(), along, x.dtype());
  const Tensor j = range(x.graph(), source, x.dtype());
  const Tensor mask = exclusive ? less(j, i) : less_equal(j, i);
  return einsum({rename(x, dim, source.name), mask}, x.shape(), "cumsum");
}

Tensor accumulate(Tensor x) {
  return x.graph().add(Op::Accumulate, "accumulate", {x}, x.shape(), x.dtype());
}

}  // namespace goban::train::mesh
