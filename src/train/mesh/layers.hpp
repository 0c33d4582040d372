// Layers with parameters, built from the operations; all of them run under any legal layout.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "train/mesh/name_pattern.hpp"
#include "train/mesh/ops.hpp"

namespace goban::train::mesh {

struct Parameter {
  VariableId variable;
  Tensor value;  ///< as read by the model, in the activation type
};

/// Mesh TensorFlow's VariableDType: the types in checkpoints, in the devices' slices, and in
/// computation.
struct VariableTypes {
  DType master = DType::F32, slice = DType::F32, activation = DType::F32;
};

/// Activation types of layers whose names match a regular expression; the first match applies.
struct TypeRule {
  std::string pattern;
  DType activation = DType::F32;
};

/// Positions that a filter covers along a dimension, relative to the output position: from `first`
/// to `last`.
struct Reach {
  std::string dim;
  int64_t first = -1, last = 1;
};

/// Creates parameters and layers in one graph and records the parameters for the optimiser.
class Layers {
 public:
  Layers(Graph& graph, const VariableTypes& types) : graph_(graph), types_(types) {}
  /// Parameters are stored in fp32 and read in `activation`.
  Layers(Graph& graph, DType activation)
      : Layers(graph, VariableTypes{DType::F32, DType::F32, activation}) {}
  /// The same, with other types for some layers. A layer casts its input to its own type, in which
  /// it computes. Errors: GraphError, for a pattern that is no regular expression.
  Layers(Graph& graph, DType activation, const std::vector<TypeRule>& rules);
  [[nodiscard]] Graph& graph() const { return graph_; }
  [[nodiscard]] DType activation() const { return types_.activation; }
  /// The activation type of a variable or layer of this name in the present scopes.
  [[nodiscard]] DType type_of(const std::string& name) const;
  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  /// The first pattern of a rule that no parameter's name matches; nullptr if there is none.
  [[nodiscard]] const std::string* unmatched() const;

  Tensor parameter(const std::string& name, Shape shape, Initializer initializer);
  /// Sums x over the dimensions `in` with a weight [in..., out], and adds a bias [out] initialised
  /// to zero. Weights are initialised truncated-normal with standard deviation sqrt(1 / fan-in).
  Tensor dense(const std::string& name, Tensor x, const std::vector<std::string>& in,
               const Shape& out, bool bias = true);
  /// Normalises over `dim`, then scales (initially 1) and shifts (initially 0).
  Tensor layer_norm(const std::string& name, Tensor x, const std::string& dim);
  /// Normalises over all dimensions except those of `kept`, split or not, then scales (initially 1)
  /// and shifts (initially 0) along `kept`. `training`: uses the mean and variance of x, and
  /// updates the running ones with weight 1 - `momentum`; otherwise uses the running ones.
  Tensor batch_norm(const std::string& name, Tensor x, const Shape& kept, bool training,
                    double momentum = 0.9);
  /// Glorot-uniform filter [sizes..., in, out], as in Mesh TensorFlow's get_variable.
  Tensor conv_filter(const std::string& name, Shape shape);
  /// A separate filter for each of `channels`, [taps, channels], over the positions of `reach`
  /// (zeros beyond the ends; taps in the order of its dimensions, the last one fastest), then dense
  /// from `channels` to `out`. Any dimension of x may be split: values on neighbours are shifted.
  /// Filters are initialised truncated-normal with standard deviation sqrt(1 / taps). In Mesh
  /// TensorFlow: separable_conv1d.
  Tensor separable_conv(const std::string& name, Tensor x, const std::vector<Reach>& reach,
                        const std::string& channels, const Shape& out, bool bias = true);

 private:
  Graph& graph_;
  VariableTypes types_;
  struct Rule {
    NamePattern pattern;
    DType activation;
  };
  std::vector<Rule> rules_;
  std::vector<Parameter> parameters_;
};

/// Along `dim`; the maximum is subtracted first.
Tensor softmax(Tensor x, const std::string& dim);
Tensor log_softmax(Tensor x, const std::string& dim);
/// -log softmax(logits)[target] for each target; the shape is that of `targets`. Computed in fp32
/// or wider.
Tensor cross_entropy(Tensor logits, Tensor targets, const std::string& classes);
/// softmax(q k / sqrt(depth) + mask) v. q: [..., queries, depth], k and v: [..., memory, depth];
/// `mask`, if given, is added to [..., queries, memory] (0 or a large negative number).
Tensor attention(Tensor q, Tensor k, Tensor v, const std::string& memory, const std::string& depth,
                 const Tensor* mask);
/// Causal attention of each position of `length` to itself and the `window` - 1 positions before
/// it, in blocks of `window`: the cost grows with length times window. q, k and v have the same
/// dimensions, among them `length`, which `window` must divide. Split along `length` if the rules
/// split both it and "length_blocks" (for a `length` called "length"): the preceding block comes
/// from the neighbour.
Tensor local_attention(Tensor q, Tensor k, Tensor v, const std::string& length,
                       const std::string& depth, int64_t window);
/// 0 where memory <= query, otherwise -1e9; for a causal model.
Tensor causal_mask(Graph& graph, const Dim& queries, const Dim& memory, DType dtype);

}  // namespace goban::train::mesh
