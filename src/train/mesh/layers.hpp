// Layers with parameters, built from the operations; all of them run under any legal layout.
#pragma once

#include <string>
#include <vector>

#include "train/mesh/ops.hpp"

namespace goban::train::mesh {

struct Parameter {
  VariableId variable;
  Tensor value;  ///< as the model reads it, in the activation type
};

/// Mesh TensorFlow's VariableDType: of checkpoints, of the devices' slices, of what is computed.
struct VariableTypes {
  DType master = DType::F32, slice = DType::F32, activation = DType::F32;
};

/// Places a filter sees along a dimension, from `first` to `last`: 0 is the place itself.
struct Reach {
  std::string dim;
  int64_t first = -1, last = 1;
};

/// Makes parameters and layers in one graph and remembers the parameters for the optimiser.
class Layers {
 public:
  Layers(Graph& graph, const VariableTypes& types) : graph_(graph), types_(types) {}
  /// Parameters are stored in fp32 and read in `activation`.
  Layers(Graph& graph, DType activation)
      : Layers(graph, VariableTypes{DType::F32, DType::F32, activation}) {}
  [[nodiscard]] Graph& graph() const { return graph_; }
  [[nodiscard]] DType activation() const { return types_.activation; }
  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }

  Tensor parameter(const std::string& name, Shape shape, Initializer initializer);
  /// x summed over the dimensions `in` with a weight [in..., out], plus a bias [out] that starts
  /// at zero. Weights start truncated-normal with deviation sqrt(1 / fan-in).
  Tensor dense(const std::string& name, Tensor x, const std::vector<std::string>& in,
               const Shape& out, bool bias = true);
  /// Normalises over `dim`, then scales (from 1) and shifts (from 0).
  Tensor layer_norm(const std::string& name, Tensor x, const std::string& dim);
  /// Normalises over all dimensions but those of `kept`, whatever they are split over, then scales
  /// (from 1) and shifts (from 0) along `kept`. `training`: by mean and variance of x itself, and
  /// moves the running ones towards them by 1 - `momentum`; otherwise by the running ones.
  Tensor batch_norm(const std::string& name, Tensor x, const Shape& kept, bool training,
                    double momentum = 0.9);
  /// Glorot-uniform filter [sizes..., in, out], as Mesh TensorFlow's get_variable makes it.
  Tensor conv_filter(const std::string& name, Shape shape);
  /// A filter of its own for each of `channels`, [taps, channels], over the places of `reach`
  /// (zeros beyond the ends; taps in the order of its dimensions, the last one's fastest), then
  /// dense from `channels` to `out`. Everything of x may be split: what lies on neighbours is
  /// shifted. Filters start truncated-normal with deviation sqrt(1 / taps). Upstream:
  /// separable_conv1d.
  Tensor separable_conv(const std::string& name, Tensor x, const std::vector<Reach>& reach,
                        const std::string& channels, const Shape& out, bool bias = true);

 private:
  Graph& graph_;
  VariableTypes types_;
  std::vector<Parameter> parameters_;
};

/// Along `dim`; the maximum is subtracted first.
Tensor softmax(Tensor x, const std::string& dim);
Tensor log_softmax(Tensor x, const std::string& dim);
/// -log softmax(logits)[target] for each target; shape = targets'. Computed in fp32 at least.
Tensor cross_entropy(Tensor logits, Tensor targets, const std::string& classes);
/// softmax(q k / sqrt(depth) + mask) v. q: [..., queries, depth], k and v: [..., memory, depth];
/// `mask`, if given, is added to [..., queries, memory] (0 or a large negative number).
Tensor attention(Tensor q, Tensor k, Tensor v, const std::string& memory, const std::string& depth,
                 const Tensor* mask);
/// Causal attention of each place of `length` to itself and the `window` - 1 places before it, in
/// blocks of `window`: cost grows with length times window. q, k and v have the same dimensions,
/// among them `length`, which `window` divides. Split along `length` if the rules split both it and
/// "length_blocks" (of `length` "length"): the block before comes from the neighbour.
Tensor local_attention(Tensor q, Tensor k, Tensor v, const std::string& length,
                       const std::string& depth, int64_t window);
/// 0 where memory <= query, else -1e9: for a causal model.
Tensor causal_mask(Graph& graph, const Dim& queries, const Dim& memory, DType dtype);

}  // namespace goban::train::mesh
