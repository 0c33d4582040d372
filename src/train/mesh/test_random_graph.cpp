// A random graph of operations over four dimensions, determined by a seed: run with its gradients
// under every legal layout.
#include <ATen/ops/tanh.h>

#include "base/random.hpp"
#include "train/mesh/functions.hpp"
#include "train/mesh/test_layouts.hpp"

namespace goban::train::mesh {
namespace {

const std::vector<Dim> kDims = {{"a", 4}, {"b", 4}, {"c", 8}, {"d", 4}};

class RandomGraph {
 public:
  RandomGraph(Graph& graph, uint64_t seed) : graph_(graph), random_(seed) {}

  std::vector<Tensor> build() {
    for (int i = 0; i < 3; ++i) {
      inputs_.push_back(graph_.input("x" + std::to_string(i), some_shape()));
    }
    values_ = inputs_;
    constexpr int kOperations = 8;
    for (int i = 0; i < kOperations; ++i) {
      constexpr uint64_t kKinds = 17;
      const uint64_t kind = random_.below(kKinds);
      values_.push_back(kind < 9 ? common(kind) : rare(kind));
    }
    Tensor sum = values_.back();
    for (size_t i = values_.size() - 3; i + 1 < values_.size(); ++i) sum = sum + values_[i];
    return with_gradients(sum, inputs_);
  }

 private:
  Shape some_shape() {
    std::vector<Dim> dims;
    for (const Dim& dim : kDims) {
      if (random_.below(2) == 0) dims.push_back(dim);
    }
    if (dims.empty()) dims.push_back(kDims[random_.below(kDims.size())]);
    if (dims.size() > 1 && random_.below(2) == 0) std::swap(dims.front(), dims.back());
    return Shape(dims);
  }
  const Tensor& one_of(const std::vector<Tensor>& all) { return all[random_.below(all.size())]; }
  /// A random value with at least one dimension, which is returned in `along`.
  Tensor pick(std::string& along) {
    Tensor x = one_of(values_);
    while (x.shape().rank() == 0) x = one_of(values_);
    along = x.shape()[random_.below(x.shape().rank())].name;
    return x;
  }

  Tensor common(uint64_t kind) {
    std::string along;
    const Tensor x = pick(along), y = one_of(values_);
    switch (kind) {
      case 0:
        return x + y;
      case 1:
        return x * y;
      case 2:
        return tanh(x);
      case 3:
        return tanh(einsum({x, y}, some_shape()) * 0.1);
      case 4:
        return einsum({x, y}, some_shape()) * 0.1;
      case 5:
        return reduce_mean(x, x.shape().without({along}));
      case 6:
        return shift(x, along, 1, random_.below(2) == 0);
      case 7:
        return cumsum(x, along) * 0.25;
      default: {
        // Dimensions swap places: a reshape that changes the layout.
        std::vector<Dim> dims = x.shape().dims();
        for (size_t d = 0; d + 1 < dims.size(); ++d) {
          if (dims[d].size == dims[d + 1].size) std::swap(dims[d], dims[d + 1]);
        }
        return reshape(x, Shape(dims));
      }
    }
  }

  Tensor rare(uint64_t kind) {
    std::string along;
    const Tensor x = pick(along);
    // Discontinuous operations take only inputs, whose bits are the same under every layout.
    const Tensor u = one_of(inputs_), v = one_of(inputs_);
    switch (kind) {
      case 9:
        return stack(unstack(x, along), along) * 0.5;
      case 10:
        return concat({slice(x, along, 1, x.shape().dim(along).size - 1), slice(x, along, 0, 1)},
                      along);
      case 11:
        return u * logical_or(greater(u, v), not_equal(v, mod(v, u + 2.0)));
      case 12:
        return x * reduce_any(floor_div(u, v + 2.0), {});
      case 13:
        return slicewise({x}, x.shape(), x.dtype(),
                         {"local_tanh",
                          {along},
                          [](const auto& s) { return at::tanh(s[0]); },
                          [](const std::vector<Tensor>&, Tensor y, Tensor dy) {
                            return std::vector<Tensor>{dy * (-square(y) + 1.0)};
                          }});
      case 14:
        return custom_gradient({x}, reduce_max(x, x.shape().without({along})),
                               [](const std::vector<Tensor>& xs, Tensor, Tensor dy) {
                                 return std::vector<Tensor>{broadcast(dy, xs[0].shape())};
                               });
      case 15:
        return convolved(x, along);
      default:
        return stop_gradient(looped(x));
    }
  }

  /// Convolution along the second-last dimension; x if there is none.
  Tensor convolved(Tensor x, const std::string& filter) {
    const size_t n = x.shape().rank();
    if (n < 2) return x;
    const Dim channels = x.shape()[n - 1], made{"made", channels.size};
    const Tensor f =
        random(graph_, {{"size_of_" + filter, 3}, channels, made}, Distribution::Normal, 9);
    return rename(conv(x, f, Padding::Same), "made", channels.name) * 0.2;
  }
  /// Three iterations that mix the elements along every dimension.
  Tensor looped(Tensor x) {
    return while_loop(
        {x, fill(graph_, {}, 0)},
        [](const std::vector<Tensor>& s) { return less(s[1], fill(s[1].graph(), {}, 3)); },
        [](const std::vector<Tensor>& s) {
          return std::vector<Tensor>{tanh(s[0] + reduce_mean(s[0], {})), s[1] + 1.0};
        },
        3)[0];
  }

  Graph& graph_;
  base::Random random_;
  std::vector<Tensor> inputs_, values_;
};

}  // namespace

std::vector<Tensor> random_graph(Graph& graph, uint64_t seed) {
  return RandomGraph(graph, seed).build();
}

}  // namespace goban::train::mesh
