// The operations of a model as a graph of names, shapes and types only: it is checked, planned and
// explained without a tensor library.
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

enum class DType : uint8_t { F32, F64, BF16, I64, F16 };  ///< F16 on CPUs: stored_type()
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
  Halo,  // assembles blocks into images, with margins from the neighbours
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
/// Comparisons and logic return 1 or 0 in the type of their operands; logic treats any value other
/// than 0 as true. FloorDiv rounds down and Mod has the sign of the divisor. The ...Grad operations
/// take (dy, y) for relu, tanh and sigmoid, and (dy, x) for gelu.
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
/// Computes the gradients of the inputs, with their shapes, from inputs, value and its gradient.
using GradientFunction =
    std::function<std::vector<Tensor>(const std::vector<Tensor>& xs, Tensor y, Tensor dy)>;

/// Parameters of an operation other than its inputs; the operation determines which fields are
/// used.
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
  bool flipped = false;       ///< BlockConv: backward; the filter's channels are [out, in]
  uint64_t seed = 0;          ///< Random
  int32_t variable = -1;      ///< Read
  std::string message;        ///< Print
  std::shared_ptr<const SlicewiseFunction> slicewise;
  std::shared_ptr<const GradientFunction> gradient;  ///< CustomGradient
  std::shared_ptr<const Loop> loop;  ///< While; for LoopValue, `begin` is the index of the value
};

struct Node {
  Op op;
  std::string name;  ///< unique, including its scopes: "dense0/einsum"
  std::vector<NodeId> inputs;
  Shape shape;
  DType dtype;
  Attributes attributes;
  int32_t recompute = 0;  ///< block whose values are computed again for the gradient; 0: none
};

struct Initializer {
  enum class Kind : uint8_t { Zeros, Ones, Normal, TruncatedNormal, Uniform } kind = Kind::Zeros;
  double scale = 0;  ///< standard deviation, or half the width of Uniform
};

/// State that persists between steps, in up to three types: `master` in checkpoints, `dtype` for
/// the slices that devices store and update, and the activation type in which it is read.
struct Variable {
  std::string name;
  Shape shape;
  DType dtype = DType::F32;
  Initializer initializer;
  bool trainable = true;
  std::optional<DType> master = {};  ///< nullopt: same as `dtype`
  [[nodiscard]] DType checkpoint_dtype() const { return master.value_or(dtype); }
};
using VariableId = int32_t;

class Graph;

/// A value in a graph: cheap to copy, valid during the lifetime of the graph.
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

/// Nodes in an order in which they can run. Not copyable: tensors point into it. Building functions
/// throw GraphError.
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
  [[nodiscard]] const std::vector<ScalarSummary>& summaries() const { return summaries_; }
  [[nodiscard]] Tensor tensor(NodeId id) { return {this, id}; }
  Tensor add(Op op, std::string name, std::vector<Tensor> inputs, Shape shape, DType dtype,
             Attributes attributes = {});
  /// A value fed at each run: the whole tensor, of which every device takes its slice.
  Tensor input(const std::string& name, Shape shape, DType dtype = DType::F32);
  VariableId add_variable(Variable variable);
  [[nodiscard]] const std::string& scope() const { return scope_; }  ///< "block0/", or empty
  Tensor read(VariableId variable, DType activation);
  Tensor read(VariableId variable) { return read(variable, this->variable(variable).dtype); }
  void assign(VariableId variable, Tensor value, bool always = false);  ///< always: Assignment
  void assign_sub(VariableId variable, Tensor delta, double factor = 1);
  void assign_adam(VariableId variable, Tensor gradient, const AdamRule& rule);
  void summarize(Tensor scalar) { summaries_.push_back({scalar.node().name, scalar.id()}); }

  /// Prefixes names with `name/` during its lifetime.
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
  /// Runs `block`. Values inside the block are not stored for the gradient; they are computed again
  /// from the block's inputs when the gradient needs them.
  Tensor recompute(const std::function<Tensor()>& block);

 private:
  std::string unique(const std::string& name);

  std::deque<Node> nodes_;  // references to nodes stay valid while the graph grows
  std::vector<Variable> variables_;
  std::vector<Assignment> assignments_;
  std::vector<ScalarSummary> summaries_;
  std::unordered_map<std::string, int> names_;  // number of times each was requested
  std::string scope_;
  int32_t recompute_ = 0;
  int32_t recompute_blocks_ = 0;
};

}  // namespace goban::train::mesh
