#include "train/mesh/functions.hpp"
#include "train/trainer/models/model.hpp"

namespace goban::train::trainer {
namespace {

using namespace mesh;

constexpr int64_t kBlocks = 4, kBlockSize = 7, kFilter = 9, kChannels = 16, kClasses = 10;

/// The share of units that are not 0 after relu; 0 means a dead layer.
void summarize_active(const std::string& layer, Tensor x) {
  const Tensor active = unary(Unary::Sign, stop_gradient(x));
  (void)scalar_summary(layer + "_active", reduce_mean(cast(active, DType::F32), {}));
}

Model classifier(Layers& layers, Tensor x, const std::vector<std::string>& in, const Dim& batch,
                 int64_t hidden) {
  Graph& g = layers.graph();
  const Dim hidden1{"hidden1", hidden}, hidden2{"hidden2", hidden}, classes{"classes", kClasses};
  x = relu(layers.dense("hidden1", x, in, {hidden1}));
  summarize_active("hidden1", x);
  x = relu(layers.dense("hidden2", x, {"hidden1"}, {hidden2}));
  summarize_active("hidden2", x);
  Tensor logits = layers.dense("logits", x, {"hidden2"}, {classes});
  logits = cast(logits, DType::F32);
  const Tensor label = g.input("label", {batch}, DType::I64);
  Model model;
  model.loss = reduce_mean(cross_entropy(logits, label, "classes"), {});
  const Tensor right = equal(argmax(stop_gradient(logits), "classes"), label);
  model.correct = reduce_sum(cast(right, DType::F32), {});
  return model;
}

}  // namespace

Model mnist_model(Layers& layers, int64_t batch_size, int64_t hidden) {
  Graph& g = layers.graph();
  const Dim batch{"batch", batch_size}, row_blocks{"row_blocks", kBlocks},
      col_blocks{"col_blocks", kBlocks}, rows{"rows", kBlockSize}, cols{"cols", kBlockSize},
      one{"one_channel", 1}, filter_h{"filter_h", kFilter}, filter_w{"filter_w", kFilter},
      channels0{"channels0", kChannels}, channels1{"channels1", kChannels};
  const Tensor image = g.input("image", {batch, {"pixels", 784}});
  Tensor x = cast(image, layers.activation());
  x = reshape(x, {batch, row_blocks, rows, col_blocks, cols, one});
  x = transpose(x, {batch, row_blocks, col_blocks, rows, cols, one});
  const auto conv = [&](const char* name, const Shape& shape) {
    const Tensor filter = layers.conv_filter(name, shape);
    return relu(conv_with_blocks(cast(x, filter.dtype()), filter));
  };
  x = conv("conv0", {filter_h, filter_w, one, channels0});
  x = conv("conv1", {filter_h, filter_w, channels0, channels1});
  x = reduce_mean(x, x.shape().without({"channels1"}));
  return classifier(layers, x, {"row_blocks", "col_blocks", "rows", "cols"}, batch, hidden);
}

Model mlp_model(Layers& layers, int64_t batch_size, int64_t hidden) {
  const Dim batch{"batch", batch_size};
  const Tensor image = layers.graph().input("image", {batch, {"pixels", 784}});
  return classifier(layers, cast(image, layers.activation()), {"pixels"}, batch, hidden);
}

}  // namespace goban::train::trainer
