// One small model for every operation, with gradients: run under every legal layout.
#include <ATen/ops/cumsum.h>
#include <ATen/ops/tanh.h>

#include "train/mesh/functions.hpp"
#include "train/mesh/layers.hpp"
#include "train/mesh/test_layouts.hpp"

namespace goban::train::mesh {
namespace {

const Dim a{"a", 4}, b{"b", 8}, c{"c", 4}, d{"d", 4};

Tensor positive(Tensor x) { return square(x) + 0.5; }

class Cases {
 public:
  explicit Cases(DType real) : real_(real) {}
  std::vector<std::pair<std::string, Builder>> all() {
    arithmetic();
    sums();
    movement();
    selection();
    convolution();
    chance();
    functions();
    layers();
    return std::move(cases_);
  }

 private:
  void add(std::string name, Builder builder) {
    cases_.emplace_back(std::move(name), std::move(builder));
  }
  Builder one(const std::function<Tensor(Tensor)>& f) const {
    return [=, real = real_](Graph& g) {
      const Tensor x = g.input("x", {a, b}, real);
      return with_gradients(f(x), {x});
    };
  }
  Builder two(const Shape& left, const Shape& right,
              const std::function<Tensor(Tensor, Tensor)>& f) const {
    return [=, real = real_](Graph& g) {
      const Tensor x = g.input("x", left, real), y = g.input("y", right, real);
      return with_gradients(f(x, y), {x, y});
    };
  }
  /// Includes gradients of the layer's parameters.
  void layer(const char* name, const std::function<Tensor(Layers&, Tensor)>& f) {
    add(name, [=, real = real_](Graph& g) {
      Layers layers(g, real);
      const Tensor x = g.input("x", {a, b}, real);
      const Tensor y = f(layers, x);
      std::vector<Tensor> of = {x};
      for (const Parameter& each : layers.parameters()) of.push_back(each.value);
      return with_gradients(y, of);
    });
  }

  void arithmetic() {
    for (const Unary fn :
         {Unary::Identity, Unary::StopGradient, Unary::Neg, Unary::Scale, Unary::AddScalar,
          Unary::Relu, Unary::Exp, Unary::Tanh, Unary::Sigmoid, Unary::Gelu, Unary::Square,
          Unary::Abs, Unary::Sign, Unary::Sin, Unary::Cos, Unary::Floor, Unary::Not}) {
      add(unary_name(fn), one([fn](Tensor x) { return unary(fn, x, 1.5); }));
    }
    for (const Unary fn : {Unary::Log, Unary::Sqrt, Unary::Rsqrt, Unary::Reciprocal}) {
      add(unary_name(fn), one([fn](Tensor x) { return unary(fn, positive(x)); }));
    }
    for (const Binary fn :
         {Binary::Add, Binary::Sub, Binary::Mul, Binary::Div, Binary::Max, Binary::Min,
          Binary::Less, Binary::LessEqual, Binary::Equal, Binary::NotEqual, Binary::Greater,
          Binary::GreaterEqual, Binary::And, Binary::Or, Binary::FloorDiv, Binary::Mod}) {
      const auto f = [fn](Tensor x, Tensor y) { return binary(fn, x, positive(y)); };
      add(std::string(binary_name(fn)) + " of equal shapes", two({a, b}, {a, b}, f));
      add(std::string(binary_name(fn)) + " with broadcast both ways", two({a, b}, {b, c}, f));
      add(std::string(binary_name(fn)) + " with a scalar", two({a, b}, {}, f));
    }
  }

  void sums() {
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
    add("einsum of three", [real = real_](Graph& g) {
      const Tensor x = g.input("x", {a, b}, real), y = g.input("y", {b, c}, real),
                   z = g.input("z", {c, d}, real);
      return with_gradients(einsum({x, y, z}, {a, d}), {x, y, z});
    });
    add("einsum added before the sum", [real = real_](Graph& g) {
      const Tensor x = g.input("x", {a, b}, real), y = g.input("y", {b, c}, real),
                   z = g.input("z", {a, b}, real);
      const Tensor sum = einsum({x, y}, {a, c}) - einsum({z, y}, {a, c}) * 0.5;
      return with_gradients(relu(sum), {x, y, z});
    });
    for (const Reducer how : {Reducer::Sum, Reducer::Max, Reducer::Min}) {
      add("reduce rows", one([how](Tensor x) { return reduce(how, x, {a}); }));
      add("reduce all", one([how](Tensor x) { return reduce(how, x, {}); }));
    }
    add("any", one([](Tensor x) { return reduce_any(relu(x), {a}); }));
    add("all", one([](Tensor x) { return reduce_all(relu(x), {b}); }));
    add("second derivatives", one([](Tensor x) {
          const Tensor y = reduce_sum(tanh(x) * sigmoid(x), {});
          return gradients(y, {x})[0];
        }));
    add("mean", one([](Tensor x) { return reduce_mean(x, {b}); }));
    add("reduce to another order",
        one([](Tensor x) { return reduce_sum(broadcast(x, {a, b, c}), {c, a}); }));
    add("broadcast", one([](Tensor x) { return broadcast(x, {c, b, a}); }));
    add("cumsum", one([](Tensor x) { return cumsum(x, "b"); }));
    add("exclusive cumsum", one([](Tensor x) { return cumsum(x, "b", true); }));
    add("cast", one([](Tensor x) { return cast(cast(x, DType::F64) * 2.0, x.dtype()); }));
  }

  void movement() {
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
    add("concat",
        two({a, b}, {a, {"b", 2}}, [](Tensor x, Tensor y) { return concat({x, y}, "b"); }));
    add("split and stack", one([](Tensor x) { return stack(split(x, "b", 4), "parts"); }));
    add("unstack", one([](Tensor x) {
          const std::vector<Tensor> rows = unstack(x, "b");
          return rows[1] * rows[6] - rows[0];
        }));
    for (const int64_t offset : {1, 2, 3, 5, -1, -2, -4, -7}) {
      for (const bool wrap : {false, true}) {
        add("shift", one([=](Tensor x) { return shift(x, "b", offset, wrap); }));
      }
    }
    add("halo exchange", one([](Tensor x) { return halo_exchange(x, "a", "b", 3); }));
    add("halo wrapped around", one([](Tensor x) { return halo_exchange(x, "a", "b", 3, true); }));
    add("halo beyond one block", one([](Tensor x) { return halo_exchange(x, "b", "a", 6); }));
  }

  void selection() {
    add("one hot", [](Graph& g) {
      return std::vector<Tensor>{one_hot(g.input("index_8", {a, c}, DType::I64), b)};
    });
    add("gather", [real = real_](Graph& g) {
      const Tensor x = g.input("x", {b, a}, real), i = g.input("index_8", {c, d}, DType::I64);
      return with_gradients(gather(x, i, "b"), {x});
    });
    add("gather along the last", [real = real_](Graph& g) {
      const Tensor x = g.input("x", {a, b}, real), i = g.input("index_8", {c}, DType::I64);
      return with_gradients(gather(x, i, "b"), {x});
    });
    add("top k", one([](Tensor x) { return top_k(x, "b", {"k", 3}).values; }));
    add("top k indices", [real = real_](Graph& g) {
      return std::vector<Tensor>{top_k(g.input("x", {a, b}, real), "b", {"k", 3}).indices};
    });
    add("argmax", [real = real_](Graph& g) {
      return std::vector<Tensor>{argmax(g.input("x", {a, b}, real), "b")};
    });
    add("top k of ties", [real = real_](Graph& g) {
      return std::vector<Tensor>{
          top_k(unary(Unary::Sign, g.input("x", {a, b}, real)), "b", {"k", 5}).indices};
    });
  }

  void convolution() {
    for (const Padding padding : {Padding::Same, Padding::Valid}) {
      for (const int64_t stride : {1, 2}) {
        const auto forward = [=](Tensor x, Tensor y) { return conv(x, y, padding, stride); };
        const auto back = [=](Tensor x, Tensor y) { return conv_transpose(x, y, padding, stride); };
        const Dim h{"h", 5}, w{"w", 7}, t{"t", 3}, fh{"fh", 3}, fw{"fw", 3}, ft{"ft", 3};
        add("conv 1d", two({a, w, c}, {fw, c, b}, forward));
        add("conv 2d", two({a, h, w, c}, {fh, fw, c, b}, forward));
        add("conv transposed 1d", two({a, w, c}, {fw, b, c}, back));
        add("conv transposed 2d", two({a, h, w, c}, {fh, fw, b, c}, back));
        if ((padding == Padding::Same) != (stride == 1)) continue;
        add("conv 3d", two({a, t, h, w, c}, {ft, fh, fw, c, b}, forward));
        add("conv transposed 3d", two({a, t, h, w, c}, {ft, fh, fw, b, c}, back));
      }
    }
    add("conv over several batch dimensions",
        two({a, d, {"w", 6}, c}, {{"fw", 3}, c, b},
            [](Tensor x, Tensor y) { return conv(x, y, Padding::Same); }));
    add("conv 1d with blocks",
        two({a, {"wb", 4}, {"w", 2}, c}, {{"fw", 7}, c, d}, conv_with_blocks));
    add("conv 3d with blocks",
        two({{"tb", 2}, {"hb", 4}, {"wb", 2}, {"t", 2}, {"h", 1}, {"w", 2}, {"i", 2}},
            {{"ft", 3}, {"fh", 3}, {"fw", 3}, {"i", 2}, {"o", 2}}, conv_with_blocks));
    add("conv 2d with blocks", two({{"rb", 4}, {"cb", 2}, {"r", 3}, {"s", 2}, {"i", 2}},
                                   {{"fh", 5}, {"fw", 3}, {"i", 2}, {"o", 2}}, conv_with_blocks));
    add("max pool", one([](Tensor x) { return pool(x, "b", 2, true); }));
    add("mean pool", one([](Tensor x) { return pool(x, "b", 2, false); }));
    add("pool in two dimensions",
        one([](Tensor x) { return pool(x, {{"a", 2}, {"b", 4}}, true); }));
    add("pool in three dimensions", one([](Tensor x) {
          return pool(broadcast(x, {a, b, c}) * 1.5, {{"a", 2}, {"b", 2}, {"c", 2}}, false);
        }));
  }

  void chance() {
    for (const Distribution how :
         {Distribution::Uniform, Distribution::Normal, Distribution::TruncatedNormal}) {
      add("random", [how](Graph& g) { return std::vector<Tensor>{random(g, {a, b}, how, 3)}; });
    }
    add("dropout", one([](Tensor x) { return dropout(x, 0.6, 11); }));
    add("range", [](Graph& g) { return std::vector<Tensor>{range(g, b, DType::F32)}; });
    add("recompute", [real = real_](Graph& g) {
      const Tensor x = g.input("x", {a, b}, real), w = g.input("w", {b, c}, real);
      const Tensor y = g.recompute([&] { return dropout(gelu(einsum({x, w}, {a, c})), 0.7, 5); });
      return with_gradients(tanh(y), {x, w});
    });
  }

  void functions() {
    add("slicewise over everything", two({a, b}, {b}, [](Tensor x, Tensor y) {
          return slicewise({x, y}, x.shape(), x.dtype(),
                           {"tanh_of_sum",
                            {"a", "b"},
                            [](const auto& s) { return at::tanh(s[0].add(s[1])); },
                            [](const std::vector<Tensor>& xs, Tensor z, Tensor dz) {
                              const Tensor dx = dz * (-square(z) + 1.0);
                              return std::vector<Tensor>{dx, reduce_sum(dx, xs[1].shape())};
                            }});
        }));
    add("slicewise along a whole dimension", one([](Tensor x) {
          return slicewise({x}, x.shape(), x.dtype(),
                           {"running_sum",
                            {"a"},
                            [](const auto& s) { return at::cumsum(s[0], 1); },
                            [](const std::vector<Tensor>&, Tensor, Tensor dz) {
                              const Tensor all = reduce_sum(dz, dz.shape().without({"b"}));
                              return std::vector<Tensor>{all - cumsum(dz, "b", true)};
                            }});
        }));
    add("custom gradient", two({a, b}, {b, c}, [](Tensor x, Tensor y) {
          // The gradient of a product, written by hand; einsum's own is not used.
          return custom_gradient({x, y}, einsum({x, y}, {a, c}),
                                 [](const std::vector<Tensor>& xs, Tensor, Tensor dz) {
                                   return std::vector<Tensor>{einsum({dz, xs[1]}, xs[0].shape()),
                                                              einsum({dz, xs[0]}, xs[1].shape())};
                                 });
        }));
    add("while", [real = real_](Graph& g) {
      const Tensor x = g.input("x", {a, b}, real), w = g.input("w", {b, {"b2", 8}}, real);
      const auto last = while_loop(
          {x, w, fill(g, {}, 0, DType::I64)},
          [](const std::vector<Tensor>& s) {
            return less(s[2], fill(s[2].graph(), {}, 3, DType::I64));
          },
          [](const std::vector<Tensor>& s) {
            const Tensor y = rename(einsum({s[0], s[1]}, {a, {"b2", 8}}), "b2", "b");
            return std::vector<Tensor>{dropout(tanh(y), 0.8, 3), s[1] * 1.25, s[2] + 1};
          },
          3);
      return std::vector<Tensor>{last[0], last[1] - w, cast(last[2], DType::F32)};
    });
    add("while with accumulators", [real = real_](Graph& g) {
      const Tensor x = g.input("x", {a, b}, real);
      const auto last = while_loop(
          {fill(g, {}, 0, DType::I64), x},
          [](const std::vector<Tensor>& s) {
            return less(s[0], fill(s[0].graph(), {}, 3, DType::I64));
          },
          [](const std::vector<Tensor>& s) {
            return std::vector<Tensor>{s[0] + 1, s[1] * 0.5, reduce_sum(s[1], {b}),
                                       reduce_sum(square(s[1]), {})};
          },
          3, 2);
      return std::vector<Tensor>{last[1], last[2], last[3]};
    });
    add("scalar summary", one([](Tensor x) {
          return x * scalar_summary("mean_square", reduce_mean(square(x), {}));
        }));
    add("depend", one([](Tensor x) { return depend(exp(x), {reduce_sum(x, {b})}); }));
  }

  void layers() {
    layer("dense", [](Layers& l, Tensor x) { return l.dense("d", x, {"b"}, {c, d}); });
    layer("dense over two dimensions", [](Layers& l, Tensor x) {
      return l.dense("d", broadcast(x, {c, a, b}), {"a", "b"}, {d});
    });
    layer("dense, relu, dense", [](Layers& l, Tensor x) {
      const Tensor h = relu(l.dense("in", x, {"b"}, {{"h", 8}}));
      return l.dense("out", h, {"h"}, {b}, false);
    });
    layer("layer norm", [](Layers& l, Tensor x) { return l.layer_norm("n", x, "b"); });
    layer("softmax", [](Layers&, Tensor x) { return softmax(x, "b"); });
    layer("log softmax", [](Layers&, Tensor x) { return log_softmax(x, "a"); });
    layer("cross entropy", [](Layers& l, Tensor x) {
      return cross_entropy(x, l.graph().input("index_8", {a}, DType::I64), "b");
    });
    layer("convolution", [](Layers& l, Tensor x) {
      const Tensor image = reshape(x, {a, {"w", 4}, {"i", 2}});
      return conv(image, l.conv_filter("f", {{"fw", 3}, {"i", 2}, c}), Padding::Same);
    });
    layer("separable convolution", [](Layers& l, Tensor x) {
      const Tensor rows = reshape(x, {a, {"w", 4}, {"i", 2}});
      return l.separable_conv("s", rows, {{"w", -2, 1}}, "i", {c});
    });
    for (const bool training : {true, false}) {
      layer(training ? "batch norm" : "batch norm, evaluation",
            [training](Layers& l, Tensor x) { return l.batch_norm("n", x, {b}, training); });
    }
    const auto project = [](Layers& l, Tensor x, const char* name) {
      const Dim heads{"heads", 2}, depth{"depth", 2};
      return transpose(l.dense(name, broadcast(x, {a, b}), {}, {heads, depth}),
                       {a, heads, b, depth});
    };
    for (const bool causal : {true, false}) {
      layer(causal ? "causal attention" : "attention", [=](Layers& l, Tensor x) {
        const Tensor k = rename(project(l, x, "k"), "b", "memory");
        const Tensor v = rename(project(l, x, "v"), "b", "memory");
        const Tensor mask = causal_mask(l.graph(), b, {"memory", 8}, x.dtype());
        return attention(project(l, x, "q"), k, v, "memory", "depth", causal ? &mask : nullptr);
      });
    }
    layer("local attention", [=](Layers& l, Tensor x) {
      return local_attention(project(l, x, "q"), project(l, x, "k"), project(l, x, "v"), "b",
                             "depth", 2);
    });
  }

  DType real_;
  std::vector<std::pair<std::string, Builder>> cases_;
};

}  // namespace

std::vector<std::pair<std::string, Builder>> operation_cases(DType real) {
  return Cases(real).all();
}

}  // namespace goban::train::mesh
