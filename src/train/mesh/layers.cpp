#include "train/mesh/layers.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace goban::train::mesh {

Layers::Layers(Graph& graph, DType activation, const std::vector<TypeRule>& rules)
    : Layers(graph, activation) {
  for (const TypeRule& rule : rules) {
    rules_.push_back({NamePattern(rule.pattern), rule.activation});
  }
}

DType Layers::type_of(const std::string& name) const {
  const std::string whole = graph_.scope() + name;
  for (const Rule& rule : rules_) {
    if (rule.pattern.is_in(whole)) return rule.activation;
  }
  return types_.activation;
}

const std::string* Layers::unmatched() const {
  for (const Rule& rule : rules_) {
    const auto matches = [&](const Parameter& each) {
      return rule.pattern.is_in(graph_.variable(each.variable).name);
    };
    if (std::ranges::none_of(parameters_, matches)) return &rule.pattern.text();
  }
  return nullptr;
}

Tensor Layers::parameter(const std::string& name, Shape shape, Initializer initializer) {
  const DType type = type_of(name);
  Variable variable;
  variable.name = name;
  variable.shape = std::move(shape);
  variable.initializer = initializer;
  variable.dtype = types_.slice;
  variable.master = types_.master;
  const VariableId id = graph_.add_variable(std::move(variable));
  const Tensor value = graph_.read(id, type);
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
  x = cast(x, weight.dtype());
  Tensor y = einsum({x, weight}, x.shape().without(in).united(out));
  if (bias) y = y + cast(parameter("bias", out, {}), y.dtype());
  return y;
}

Tensor Layers::layer_norm(const std::string& name, Tensor x, const std::string& dim) {
  Graph::Scope scope(graph_, name);
  const Shape rest = x.shape().without({dim});
  const Shape along{x.shape().dim(dim)};
  x = cast(x, type_of("scale"));
  const Tensor centred = x - reduce_mean(x, rest);
  const Tensor normal = centred * rsqrt(reduce_mean(square(centred), rest) + 1e-6);
  return normal * parameter("scale", along, {Initializer::Kind::Ones, 0}) +
         cast(parameter("bias", along, {}), x.dtype());
}

Tensor Layers::batch_norm(const std::string& name, Tensor x, const Shape& kept, bool training,
                          double momentum) {
  Graph::Scope scope(graph_, name);
  const auto running = [&](const char* of, Initializer::Kind start) {
    return graph_.add_variable({of, kept, DType::F32, {start, 0}, false});
  };
  const VariableId means = running("moving_mean", Initializer::Kind::Zeros);
  const VariableId variances = running("moving_variance", Initializer::Kind::Ones);
  Tensor mean = graph_.read(means), variance = graph_.read(variances);
  const Tensor exact = cast(x, DType::F32);
  if (training) {
    const Tensor now = reduce_mean(exact, kept);
    const Tensor spread = reduce_mean(square(exact - now), kept);
    graph_.assign(means, mean * momentum + stop_gradient(now) * (1 - momentum));
    graph_.assign(variances, variance * momentum + stop_gradient(spread) * (1 - momentum));
    mean = now;
    variance = spread;
  }
  const DType type = type_of("scale");
  const Tensor normal = cast((exact - mean) * rsqrt(variance + 1e-6), type);
  return normal * parameter("scale", kept, {Initializer::Kind::Ones, 0}) +
         cast(parameter("bias", kept, {}), type);
}

Tensor Layers::conv_filter(const std::string& name, Shape shape) {
  const size_t in = shape.rank() - 2;
  const int64_t window = shape.size() / (shape[in].size * shape[in + 1].size);
  const auto fans = static_cast<double>(window * (shape[in].size + shape[in + 1].size));
  return parameter(name, std::move(shape), {Initializer::Kind::Uniform, std::sqrt(6.0 / fans)});
}

Tensor Layers::separable_conv(const std::string& name, Tensor x, const std::vector<Reach>& reach,
                              const std::string& channels, const Shape& out, bool bias) {
  Graph::Scope scope(graph_, name);
  std::vector<Tensor> seen = {x};
  for (const Reach& along : reach) {
    if (along.last < along.first || along.dim == channels) {
      throw GraphError(fmt::format("separable_conv '{}': invalid filter from {} to {} along '{}'",
                                   name, along.first, along.last, along.dim));
    }
    std::vector<Tensor> next;
    for (const Tensor& each : seen) {
      for (int64_t at = along.first; at <= along.last; ++at) {
        next.push_back(shift(each, along.dim, -at, /*wrap=*/false));
      }
    }
    seen = std::move(next);
  }
  const Dim taps{"taps", static_cast<int64_t>(seen.size())};
  const Initializer start{Initializer::Kind::TruncatedNormal,
                          std::sqrt(1.0 / static_cast<double>(taps.size))};
  const std::vector<Tensor> filters = unstack(
      cast(parameter("depthwise", {taps, x.shape().dim(channels)}, start), x.dtype()), taps.name);
  Tensor sum = seen[0] * filters[0];
  for (size_t i = 1; i < seen.size(); ++i) sum = sum + seen[i] * filters[i];
  return dense("pointwise", sum, {channels}, out, bias);
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
  if (logits.dtype() == DType::BF16 || logits.dtype() == DType::F16)
    logits = cast(logits, DType::F32);
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
  if (mask != nullptr) scores = scores + cast(*mask, scores.dtype());
  return einsum({softmax(scores, memory), v}, q.shape(), "mixed");
}

Tensor local_attention(Tensor q, Tensor k, Tensor v, const std::string& length,
                       const std::string& depth, int64_t window) {
  const int64_t size = q.shape().dim(length).size;
  if (window < 1 || size % window != 0) {
    throw GraphError("local_attention: the window does not divide dimension '" + length + "'");
  }
  const Dim blocks{length + "_blocks", size / window}, within{length + "_within", window};
  const auto cut = [&](Tensor x) {
    std::vector<Dim> dims;
    for (const Dim& dim : x.shape().dims()) {
      if (dim.name == length) {
        dims.push_back(blocks);
        dims.push_back(within);
      } else {
        dims.push_back(dim);
      }
    }
    return reshape(x, Shape(dims));
  };
  const std::string memory = length + "_memory";
  // Each block preceded by the previous one.
  const auto with_before = [&](Tensor x) {
    x = rename(cut(x), within.name, memory);
    return concat({shift(x, blocks.name, 1, false), x}, memory);
  };
  const Dim twice{memory, 2 * window};
  Graph& g = q.graph();
  const Shape places{blocks, within, twice};
  const auto along = [&](const Dim& dim) { return broadcast(range(g, dim, DType::I64), places); };
  const Tensor block = along(blocks), i = along(within), j = along(twice);
  const Tensor limit = broadcast(fill(g, {}, static_cast<double>(window), DType::I64), places);
  // Position i attends to memory from i + 1 to i + window; the first block has no block before it.
  const Tensor early = less(j, i + 1), late = less(i + static_cast<double>(window), j);
  const Tensor absent = less(block * static_cast<double>(window) + j, limit);
  const Tensor hidden = maximum(maximum(early, late), absent);
  const Tensor mask = cast(hidden, q.dtype()) * -1e9;
  const Tensor mixed = attention(cut(q), with_before(k), with_before(v), memory, depth, &mask);
  return reshape(mixed, q.shape());
}

Tensor causal_mask(Graph& graph, const Dim& queries, const Dim& memory, DType dtype) {
  const Tensor i = range(graph, queries, DType::I64), j = range(graph, memory, DType::I64);
  return cast(less(broadcast(i, {queries, memory}), j), dtype) * -1e9;
}

}  // namespace goban::train::mesh
