#include <cmath>

#include "train/trainer/models/model.hpp"

namespace goban::train::trainer {

using namespace mesh;

namespace {

struct Names {
  Dim batch, length, memory, vocab, model, heads, head, ff;
};

Tensor self_attention(Layers& layers, Tensor x, const Names& n, const Tensor* mask) {
  // Keys and values have a differently named length: when length is split (sequence parallel), the
  // rename gathers keys and values, and only them.
  const Shape heads{n.heads, n.head};
  const Tensor q = layers.dense("query", x, {"d_model"}, heads, false);
  const auto memory = [&](const char* name) {
    const Tensor y = cast(layers.dense(name, x, {"d_model"}, heads, false), q.dtype());
    return rename(y, "length", "memory");
  };
  const Tensor k = memory("key"), v = memory("value");
  const Shape by_head{n.batch, n.heads, n.length, n.head};
  const Shape memory_by_head{n.batch, n.heads, n.memory, n.head};
  const Tensor mixed = attention(transpose(q, by_head), transpose(k, memory_by_head),
                                 transpose(v, memory_by_head), "memory", "d_head", mask);
  return layers.dense("output", transpose(mixed, {n.batch, n.length, n.heads, n.head}),
                      {"heads", "d_head"}, {n.model}, false);
}

}  // namespace

Model transformer_model(Layers& layers, const TransformerShape& s) {
  Graph& g = layers.graph();
  const Names n{{"batch", s.batch},   {"length", s.length},   {"memory", s.length},
                {"vocab", s.vocab},   {"d_model", s.d_model}, {"heads", s.heads},
                {"d_head", s.d_head}, {"d_ff", s.d_ff}};
  const Tensor tokens = g.input("tokens", {n.batch, n.length}, DType::I64);
  const Tensor targets = g.input("targets", {n.batch, n.length}, DType::I64);
  const Initializer small{Initializer::Kind::TruncatedNormal,
                          1.0 / std::sqrt(static_cast<double>(s.d_model))};
  const Tensor embedding = layers.parameter("embedding", {n.vocab, n.model}, small);
  const Tensor places = layers.parameter("positions", {n.length, n.model}, small);
  Tensor x = cast(gather(embedding, tokens, "vocab"), layers.activation()) +
             cast(places, layers.activation());
  Tensor mask;
  if (s.causal) mask = causal_mask(g, n.length, n.memory, layers.activation());
  for (int64_t i = 0; i < s.blocks; ++i) {
    Graph::Scope scope(g, "block" + std::to_string(i));
    const auto drop = [&](Tensor y, uint64_t seed) {
      // Between layers, values have the run's type.
      y = cast(y, layers.activation());
      return s.dropout > 0 ? dropout(y, 1 - s.dropout, seed) : y;
    };
    const auto block = [&] {
      const auto seed = static_cast<uint64_t>(2 * i + 1);
      Tensor y = x + drop(self_attention(layers, layers.layer_norm("norm1", x, "d_model"), n,
                                         s.causal ? &mask : nullptr),
                          seed);
      const Tensor wide =
          gelu(layers.dense("wide", layers.layer_norm("norm2", y, "d_model"), {"d_model"}, {n.ff}));
      return y + drop(layers.dense("narrow", wide, {"d_ff"}, {n.model}), seed + 1);
    };
    x = s.recompute ? g.recompute(block) : block();
  }
  x = layers.layer_norm("norm", x, "d_model");
  const Tensor logits =
      cast(einsum({cast(x, embedding.dtype()), embedding}, {n.batch, n.length, n.vocab}, "logits"),
           DType::F32);
  const Tensor losses = cross_entropy(logits, targets, "vocab");
  const Tensor right = cast(equal(argmax(stop_gradient(logits), "vocab"), targets), DType::F32);
  Model model;
  if (s.causal) {
    model.loss = reduce_mean(losses, {});
    model.correct = reduce_sum(right, {});
  } else {
    const Tensor weight = g.input("weight", {n.batch, n.length});
    model.counted = {reduce_sum(losses * weight, {}), reduce_sum(weight, {})};
    model.loss = model.counted->sum / maximum(model.counted->number, fill(g, {}, 1.0));
    model.correct = reduce_sum(right * weight, {});
  }
  return model;
}

}  // namespace goban::train::trainer
