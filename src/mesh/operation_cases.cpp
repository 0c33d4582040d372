// One small model for every operation, with gradients: run under every legal layout.
#include "mesh/layout_cases.hpp"

namespace goban::mesh {
namespace {

const Dim a{"a", 4}, b{"b", 8}, c{"c", 4}, d{"d", 4};

Tensor positive(Tensor x) { return square(x) + 0.5; }

std::vector<std::pair<std::string, Builder>> make(DType real) {
  const auto one = [real](const std::function<Tensor(Tensor)>& f) -> Builder {
    return [=](Graph& g) {
      const Tensor x = g.input("x", {a, b}, real);
      return with_gradients(f(x), {x});
    };
  };
  const auto two = [real](const Shape& left, const Shape& right,
                          const std::function<Tensor(Tensor, Tensor)>& f) -> Builder {
    return [=](Graph& g) {
      const Tensor x = g.input("x", left, real), y = g.input("y", right, real);
      return with_gradients(f(x, y), {x, y});
    };
  };
  std::vector<std::pair<std::string, Builder>> cases;
  for (const Unary fn :
       {Unary::Identity, Unary::StopGradient, Unary::Neg, Unary::Scale, Unary::AddScalar,
        Unary::Relu, Unary::Exp, Unary::Tanh, Unary::Sigmoid, Unary::Gelu, Unary::Square,
        Unary::Abs, Unary::Sign, Unary::Sin, Unary::Cos}) {
    cases.emplace_back(unary_name(fn), one([fn](Tensor x) { return unary(fn, x, 1.5); }));
  }
  for (const Unary fn : {Unary::Log, Unary::Sqrt, Unary::Rsqrt, Unary::Reciprocal}) {
    cases.emplace_back(unary_name(fn), one([fn](Tensor x) { return unary(fn, positive(x)); }));
  }
  for (const Binary fn : {Binary::Add, Binary::Sub, Binary::Mul, Binary::Div, Binary::Max,
                          Binary::Min, Binary::Less, Binary::LessEqual, Binary::Equal}) {
    const auto f = [fn](Tensor x, Tensor y) { return binary(fn, x, positive(y)); };
    cases.emplace_back(std::string(binary_name(fn)) + " of equal shapes", two({a, b}, {a, b}, f));
    cases.emplace_back(std::string(binary_name(fn)) + " with broadcast both ways",
                       two({a, b}, {b, c}, f));
    cases.emplace_back(std::string(binary_name(fn)) + " with a scalar", two({a, b}, {}, f));
  }
  const auto add = [&](const char* name, Builder builder) { cases.emplace_back(name, builder); };
  add("einsum matmul",
      two({a, b}, {b, c}, [](Tensor x, Tensor y) { return einsum({x, y}, {a, c}); }));
  add("einsum transposed output",
      two({a, b}, {b, c}, [](Tensor x, Tensor y) { return einsum({x, y}, {c, a}); }));
  add("einsum batched",
      two({a, b, c}, {a, c, d}, [](Tensor x, Tensor y) { return einsum({x, y}, {a, b, d}); }));
  add("einsum sums a lone dimension",
      two({a, b}, {b, c}, [](Tensor x, Tensor y) { return einsum({x, y}, {c}); }));
  add("einsum broadcasts",
      two({a, b}, {b}, [](Tensor x, Tensor y) { return einsum({x, y}, {c, a}); }));
  add("einsum outer product",
      two({a}, {b}, [](Tensor x, Tensor y) { return einsum({x, y}, {b, a}); }));
  add("einsum of three", [real](Graph& g) {
    const Tensor x = g.input("x", {a, b}, real), y = g.input("y", {b, c}, real),
                 z = g.input("z", {c, d}, real);
    return with_gradients(einsum({x, y, z}, {a, d}), {x, y, z});
  });
  add("einsum added before the sum", [real](Graph& g) {
    const Tensor x = g.input("x", {a, b}, real), y = g.input("y", {b, c}, real),
                 z = g.input("z", {a, b}, real);
    const Tensor sum = einsum({x, y}, {a, c}) - einsum({z, y}, {a, c}) * 0.5;
    return with_gradients(relu(sum), {x, y, z});
  });
  for (const Reducer how : {Reducer::Sum, Reducer::Max, Reducer::Min}) {
    cases.emplace_back("reduce rows", one([how](Tensor x) { return reduce(how, x, {a}); }));
    cases.emplace_back("reduce all", one([how](Tensor x) { return reduce(how, x, {}); }));
  }
  add("mean", one([](Tensor x) { return reduce_mean(x, {b}); }));
  add("reduce to another order",
      one([](Tensor x) { return reduce_sum(broadcast(x, {a, b, c}), {c, a}); }));
  add("broadcast", one([](Tensor x) { return broadcast(x, {c, b, a}); }));
  add("cumsum", one([](Tensor x) { return cumsum(x, "b"); }));
  add("exclusive cumsum", one([](Tensor x) { return cumsum(x, "b", true); }));
  add("cast", one([](Tensor x) { return cast(cast(x, DType::F64) * 2.0, x.dtype()); }));
  add("rename", one([](Tensor x) { return rename(x, "b", "e"); }));
  add("rename both", one([](Tensor x) { return rename(rename(x, "b", "e"), "a", "f"); }));
  add("reshape merge", one([](Tensor x) { return reshape(x, {{"m", 32}}); }));
  add("reshape split", one([](Tensor x) { return reshape(x, {a, {"b1", 4}, {"b2", 2}}); }));
  add("reshape across", one([](Tensor x) { return reshape(x, {{"m", 8}, {"n", 4}}); }));
  add("reshape exchange", one([](Tensor x) { return reshape(x, {{"e", 4}, {"f", 8}}); }));
  add("reshape with ones",
      one([](Tensor x) { return reshape(x, {{"one", 1}, a, {"e", 8}, {"last", 1}}); }));
  add("reshape of a pending sum", two({a, b}, {b, c}, [](Tensor x, Tensor y) {
        return reshape(einsum({x, y}, {a, c}), {{"m", 4}, {"n", 2}, {"o", 2}});
      }));
  add("transpose", one([](Tensor x) { return transpose(x, {b, a}); }));
  add("slice", one([](Tensor x) { return slice(x, "b", 1, 5); }));
  add("pad", one([](Tensor x) { return pad(x, "b", 2, 1); }));
  add("concat", two({a, b}, {a, {"b", 2}}, [](Tensor x, Tensor y) { return concat({x, y}, "b"); }));
  add("split and stack", one([](Tensor x) { return stack(split(x, "b", 4), "parts"); }));
  for (const int64_t offset : {1, 2, 3, 5, -1, -2, -4, -7}) {
    for (const bool wrap : {false, true}) {
      cases.emplace_back("shift", one([=](Tensor x) { return shift(x, "b", offset, wrap); }));
    }
  }
  add("halo exchange", one([](Tensor x) { return halo_exchange(x, "a", "b", 3); }));
  add("halo beyond one block", one([](Tensor x) { return halo_exchange(x, "b", "a", 6); }));
  add("one hot", [](Graph& g) {
    return std::vector<Tensor>{one_hot(g.input("index_8", {a, c}, DType::I64), b)};
  });
  add("gather", [real](Graph& g) {
    const Tensor x = g.input("x", {b, a}, real), i = g.input("index_8", {c, d}, DType::I64);
    return with_gradients(gather(x, i, "b"), {x});
  });
  add("gather along the last", [real](Graph& g) {
    const Tensor x = g.input("x", {a, b}, real), i = g.input("index_8", {c}, DType::I64);
    return with_gradients(gather(x, i, "b"), {x});
  });
  add("top k", one([](Tensor x) { return top_k(x, "b", {"k", 3}).values; }));
  add("top k indices", [real](Graph& g) {
    return std::vector<Tensor>{top_k(g.input("x", {a, b}, real), "b", {"k", 3}).indices};
  });
  add("argmax",
      [real](Graph& g) { return std::vector<Tensor>{argmax(g.input("x", {a, b}, real), "b")}; });
  add("top k of ties", [real](Graph& g) {
    return std::vector<Tensor>{
        top_k(unary(Unary::Sign, g.input("x", {a, b}, real)), "b", {"k", 5}).indices};
  });
  for (const Padding padding : {Padding::Same, Padding::Valid}) {
    for (const int64_t stride : {1, 2}) {
      cases.emplace_back("conv2d",
                         two({a, {"h", 5}, {"w", 7}, c}, {{"fh", 3}, {"fw", 3}, c, b},
                             [=](Tensor x, Tensor y) { return conv2d(x, y, padding, stride); }));
    }
  }
  add("conv2d with blocks", two({{"rb", 4}, {"cb", 2}, {"r", 3}, {"s", 2}, {"i", 2}},
                                {{"fh", 5}, {"fw", 3}, {"i", 2}, {"o", 2}},
                                [](Tensor x, Tensor y) { return conv2d_with_blocks(x, y); }));
  add("max pool", one([](Tensor x) { return pool(x, "b", 2, true); }));
  add("mean pool", one([](Tensor x) { return pool(x, "b", 2, false); }));
  for (const Distribution how :
       {Distribution::Uniform, Distribution::Normal, Distribution::TruncatedNormal}) {
    cases.emplace_back("random",
                       [how](Graph& g) { return std::vector<Tensor>{random(g, {a, b}, how, 3)}; });
  }
  add("dropout", one([](Tensor x) { return dropout(x, 0.6, 11); }));
  add("range", [](Graph& g) { return std::vector<Tensor>{range(g, b, DType::F32)}; });
  add("recompute", [real](Graph& g) {
    const Tensor x = g.input("x", {a, b}, real), w = g.input("w", {b, c}, real);
    const Tensor y = g.recompute([&] { return dropout(gelu(einsum({x, w}, {a, c})), 0.7, 5); });
    return with_gradients(tanh(y), {x, w});
  });
  return cases;
}

}  // namespace

std::vector<std::pair<std::string, Builder>> operation_cases(DType real) { return make(real); }

}  // namespace goban::mesh
