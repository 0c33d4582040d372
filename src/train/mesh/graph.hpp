// The graph of operations a model is written as. It knows names, shapes and types only: it is
// checked, planned and explained without any tensor library.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "train/mesh/assignment.hpp"
#include "train/mesh/shape.hpp"
#include "train/mesh/summary.hpp"

namespace goban::train::mesh {

enum class DType : uint8_t { F32, F64, BF16, I64 };
[[nodiscard]] int64_t dtype_bytes(DType dtype);
[[nodiscard]] const char* dtype_name(DType dtype);

enum class Op : uint8_t {
  Input,
  Read,
  Fill,
  Range,
  Random,  // sources
  Unary,
  Binary,
  Cast,
  Broadcast,
  Reduce,
  Einsum,  // arithmetic
  Reshape,
  Transpose,
  Slice,
  Pad,
  Concat,
  Shift,  // movement
  OneHot,
  Gather,
  ScatterAdd,
  TopKIndices,  // selection
  Conv,
  ConvInputGrad,
  ConvFilterGrad,
  Halo,  // images cut into blocks: put together, with the neighbours' margins
  BlockConv,
  BlockConvFilterGrad,  // convolution
  Slicewise,
  CustomGradient,
  Print,
  While,
  LoopValue,  // functions (functions.hpp)
  Accumulate  // sum over micro-batches
};
enum class Unary : uint8_t {
  Identity,
  StopGradient,
  Neg,
  Scale,
  AddScalar,
  Relu,
  Exp,
  Log,
  Tanh,
  Sigmoid,
  Gelu,
  Sqrt,
  Rsqrt,
  Square,
  Reciprocal,
  Abs,
  Sign,
  Sin,
  Cos,
  Floor,
  Not
};
/// Comparisons and logic give 1 or 0 in the type of their operands; logic takes what is not 0 as
/// true. FloorDiv rounds down and Mod has the sign of the divisor. The ...Grad forms take (dy, y)
/// for relu, tanh and sigmoid, and (dy, x) for gelu.
enum class Binary : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Max,
  Min,
  Less,
  LessEqual,
  Equal,
  NotEqual,
  Greater,
  GreaterEqual,
  And,
  Or,
  FloorDiv,
  Mod,
  ReluGrad,
  TanhGrad,
  SigmoidGrad,
  GeluGrad
};
enum class Reducer : uint8_t { Sum, Max, Min };
enum class Distribution : uint8_t { Uniform, Normal, TruncatedNormal };

[[nodiscard]] const char* op_name(Op op);
[[nodiscard]] const char* unary_name(Unary fn);
[[nodiscard]] const char* binary_name(Binary fn);

using NodeId = int32_t;
class Tensor;
struct SlicewiseFunction;  // functions.hpp
struct Loop;
/// Gradients of the inputs, of their shapes, from the inputs, the value and its gradient.
using GradientFunction =
    std::function<std::vector<Tensor>(const std::vector<Tensor>& xs, Tensor y, Tensor dy)>;

/// What an operation needs beside its inputs; which fields count depends on the operation.
struct Attributes {
  Unary unary = Unary::Identity;
  Binary binary = Binary::Add;
  Reducer reducer = Reducer::Sum;
  Distribution distribution = Distribution::Uniform;
  double scalar = 0;          ///< Scale's factor, AddScalar's term, Fill's value
  std::string dim;            ///< the dimension acted on
  int64_t begin = 0;          ///< Slice: first element; Pad: zeros before
  int64_t count = 0;          ///< Pad: zeros after; TopKIndices: k; Shift: offset
  bool wrap = false;          ///< Shift
  int64_t stride = 1;         ///< Conv, in every direction
  std::vector<int64_t> pads;  ///< Conv: zeros at both ends of each spatial dimension; Halo: margins
  bool flipped = false;       ///< BlockConv: backwards; the filter's channels are [out, in]
  uint64_t seed = 0;          ///< Random
  int32_t variable = -1;      ///< Read
  std::string message;        ///< Print
  std::shared_ptr<const SlicewiseFunction> slicewise;
  std::shared_ptr<const GradientFunction> gradient;  ///< CustomGradient
  std::shared_ptr<const Loop> loop;                  ///< While; LoopValue: `begin` is its number
};

struct Node {
  Op op;
  std::string name;  ///< unique, with its scopes: "dense0/einsum"
  std::vector<NodeId> inputs;
  Shape shape;
  DType dtype;
  Attributes attributes;
  int32_t recompute = 0;  ///< block whose values are computed again for the gradient; 0 = kept
};

struct Initializer {
  enum class Kind : uint8_t { Zeros, Ones, Normal, TruncatedNormal, Uniform } kind = Kind::Zeros;
  double scale = 0;  ///< standard deviation, or half the width of Uniform
};

/// State that outlives a step, in up to three types: that of checkpoints (`master`), that in which
/// devices store and update their slices (`dtype`), and the activation type it is read in.
struct Variable {
  std::string name;
  Shape shape;
  DType dtype = DType::F32;
  Initializer initializer;
  bool trainable = true;
  std::optional<DType> master = {};  ///< none: as `dtype`
  [[nodiscard]] DType checkpoint_dtype() const { return master.value_or(dtype); }
};
using VariableId = int32_t;

class Graph;

/// A value in a graph: cheap to copy, valid while the graph lives.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Graph* graph, NodeId id) : graph_(graph), id_(id) {}
  [[nodiscard]] Graph& graph() const { return *graph_; }
  [[nodiscard]] NodeId id() const { return id_; }
  [[nodiscard]] const Node& node() const;
  [[nodiscard]] const Shape& shape() const;
  [[nodiscard]] DType dtype() const;

 private:
  Graph* graph_ = nullptr;
  NodeId id_ = -1;
};

/// Nodes in an order they can run in. Not copyable: tensors point into it. Building: GraphError.
class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  [[nodiscard]] size_t size() const { return nodes_.size(); }
  [[nodiscard]] const std::vector<Variable>& variables() const { return variables_; }
  [[nodiscard]] const Variable& variable(VariableId id) const {
    return variables_[static_cast<size_t>(id)];
  }
  [[nodiscard]] const std::vector<Assignment>& assignments() const { return assignments_; }
  [[nodiscard]] const std::vector<Summary>& summaries() const { return summaries_; }
  [[nodiscard]] Tensor tensor(NodeId id) { return {this, id}; }

  Tensor add(Op op, std::string name, std::vector<Tensor> inputs, Shape shape, DType dtype,
             Attributes attributes = {});
  /// A value fed at each run: the whole tensor, of which every device takes its part.
  Tensor input(const std::string& name, Shape shape, DType dtype = DType::F32);
  VariableId add_variable(Variable variable);
  Tensor read(VariableId variable, DType activation);
  Tensor read(VariableId variable) { return read(variable, this->variable(variable).dtype); }
  void assign(VariableId variable, Tensor value);
  void assign_sub(VariableId variable, Tensor delta, double factor = 1);
  void assign_adam(VariableId variable, Tensor gradient, const AdamRule& rule);
  void summarize(Tensor scalar) { summaries_.push_back({scalar.node().name, scalar.id()}); }

  /// Prefixes names with `name/` while it lives.
  class Scope {
   public:
    Scope(Graph& graph, const std::string& name);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Graph& graph_;
    size_t length_;
  };
  /// Runs `block`; the values inside are not kept for the gradient but computed again from
  /// what the block reads, when the gradient needs them.
  Tensor recompute(const std::function<Tensor()>& block);

 private:
  std::string unique(const std::string& name);

  std::deque<Node> nodes_;  // references to nodes stay valid while the graph grows
  std::vector<Variable> variables_;
  std::vector<Assignment> assignments_;
  std::vector<Summary> summaries_;
  std::unordered_map<std::string, int> names_;  // how often each was asked for
  std::string scope_;
  int32_t recompute_ = 0;
  int32_t recompute_blocks_ = 0;
};

}  // namespace goban::train::mesh
