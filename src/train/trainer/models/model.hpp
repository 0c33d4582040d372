// The interface of a model: inputs by name, loss, number of correct predictions, and summaries
// (scalar_summary; computed only if requested).
#pragma once

#include <optional>
#include <string>

#include "train/mesh/layers.hpp"

namespace goban::train::trainer {

struct Model {
  mesh::Tensor loss;     ///< scalar, mean over the micro-batch's predictions
  mesh::Tensor correct;  ///< scalar fp32: number of correct predictions of the micro-batch
  /// For models whose micro-batches differ in their number of predictions: loss is sum /
  /// max(number, 1).
  struct Counted {
    mesh::Tensor sum, number;
  };
  std::optional<Counted> counted = {};
};

/// Mesh TensorFlow's MNIST example: two 9x9 convolutions of 16 channels over 4x4 blocks of 7x7
/// pixels, mean over channels, two hidden layers. Inputs: "image" [batch, pixels=784] in 0..1,
/// "label" int64 [batch].
/// Dimensions to split: batch, row_blocks, col_blocks, hidden1, hidden2.
[[nodiscard]] Model mnist_model(mesh::Layers& layers, int64_t batch, int64_t hidden);

/// 784 - hidden - hidden - 10 with relu, with the same inputs. Dimensions to split: batch, pixels,
/// hidden1, hidden2.
[[nodiscard]] Model mlp_model(mesh::Layers& layers, int64_t batch, int64_t hidden);

struct TransformerShape {
  int64_t batch = 8, length = 64, vocab = 256, d_model = 64, heads = 4, d_head = 16, d_ff = 256;
  int64_t blocks = 2;
  bool causal = true;  ///< otherwise masked: attention is unmasked, the loss counts masked tokens
  bool recompute = false;  ///< compute blocks again for the gradient
  double dropout = 0;
};

/// A pre-norm Transformer language model with tied embedding and softmax. Inputs: "tokens" and
/// "targets" int64 [batch, length], and for a masked model "weight" [batch, length], 1 where a
/// token is to be predicted.
/// Dimensions to split: batch, heads, d_ff, vocab (tensor parallel), length (sequence parallel).
[[nodiscard]] Model transformer_model(mesh::Layers& layers, const TransformerShape& shape);

}  // namespace goban::train::trainer
