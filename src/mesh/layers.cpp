#include "mesh/layers.hpp"

#include <cmath>

namespace goban::mesh {

Tensor Layers::parameter(const std::string& name, Shape shape, Initializer initializer) {
  Variable variable;
  variable.name = name;
  variable.shape = std::move(shape);
  variable.initializer = initializer;
  variable.dtype = types_.slice;
  variable.master = types_.master;
  const VariableId id = graph_.add_variable(std::move(variable));
  const Tensor value = graph_.read(id, types_.activation);
  parameters_.push_back({id, value});
  return value;
}

Tensor Layers::dense(const std::string& name, Tensor x, const std::vector<std::string>& in,
                     const Shape& out, bool bias) {
  Graph::Scope scope(graph_, name);
  std::vector<Dim> dims;
  int64_t fan_in = 1;
  for (const std::string& each : in) {
    dims.push_back(x.shape().dim(each));
    fan_in *= dims.back().size;
  }
  dims.insert(dims.end(), out.dims().begin(), out.dims().end());
  const Initializer start{Initializer::Kind::TruncatedNormal,
                          std::sqrt(1.0 / static_cast<double>(fan_in))};
  const Tensor weight = parameter("kernel", Shape(dims), start);
  Tensor y = einsum({x, weight}, x.shape().without(in).united(out));
  if (bias) y = y + parameter("bias", out, {});
  return y;
}

Tensor Layers::layer_norm(const std::string& name, Tensor x, const std::string& dim) {
  Graph::Scope scope(graph_, name);
  const Shape rest = x.shape().without({dim});
  const Shape along{x.shape().dim(dim)};
  const Tensor centred = x - reduce_mean(x, rest);
  const Tensor normal = centred * rsqrt(reduce_mean(square(centred), rest) + 1e-6);
  return normal * parameter("scale", along, {Initializer::Kind::Ones, 0}) +
         parameter("bias", along, {});
}

Tensor Layers::conv_filter(const std::string& name, Shape shape) {
  const size_t in = shape.rank() - 2;
  const int64_t window = shape.size() / (shape[in].size * shape[in + 1].size);
  const auto fans = static_cast<double>(window * (shape[in].size + shape[in + 1].size));
  return parameter(name, std::move(shape), {Initializer::Kind::Uniform, std::sqrt(6.0 / fans)});
}

Tensor softmax(Tensor x, const std::string& dim) {
  const Shape rest = x.shape().without({dim});
  const Tensor powers = exp(x - stop_gradient(reduce_max(x, rest)));
  return powers / reduce_sum(powers, rest);
}

Tensor log_softmax(Tensor x, const std::string& dim) {
  const Shape rest = x.shape().without({dim});
  const Tensor centred = x - stop_gradient(reduce_max(x, rest));
  return centred - log(reduce_sum(exp(centred), rest));
}

Tensor cross_entropy(Tensor logits, Tensor targets, const std::string& classes) {
  if (logits.dtype() == DType::BF16) logits = cast(logits, DType::F32);
  const Dim along = logits.shape().dim(classes);
  const Shape rest = logits.shape().without({classes});
  const Tensor centred = logits - stop_gradient(reduce_max(logits, rest));
  const Tensor chosen = einsum({centred, one_hot(targets, along, logits.dtype())}, rest, "chosen");
  return log(reduce_sum(exp(centred), rest)) - chosen;
}

Tensor attention(Tensor q, Tensor k, Tensor v, const std::string& memory, const std::string& depth,
                 const Tensor* mask) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(q.shape().dim(depth).size));
  const Shape scores_shape = q.shape().without({depth}).plus(k.shape().dim(memory));
  Tensor scores = einsum({q * scale, k}, scores_shape, "scores");
  if (mask != nullptr) scores = scores + *mask;
  return einsum({softmax(scores, memory), v}, q.shape(), "mixed");
}

Tensor causal_mask(Graph& graph, const Dim& queries, const Dim& memory, DType dtype) {
  const Tensor i = range(graph, queries, DType::I64), j = range(graph, memory, DType::I64);
  return cast(less(broadcast(i, {queries, memory}), j), dtype) * -1e9;
}

}  // namespace goban::mesh
