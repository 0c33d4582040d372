#include "train/mesh/graph.hpp"

#include <fmt/format.h>

namespace goban::train::mesh {

int64_t dtype_bytes(DType dtype) {
  switch (dtype) {
    case DType::F32:
      return 4;
    case DType::BF16:
    case DType::F16:
      return 2;
    case DType::F64:
    case DType::I64:
      return 8;
  }
  return 0;
}

const char* dtype_name(DType dtype) {
  static constexpr const char* kNames[] = {"fp32", "fp64", "bf16", "int64", "fp16"};
  return kNames[static_cast<size_t>(dtype)];
}

const char* op_name(Op op) {
  static constexpr const char* kNames[] = {"input",
                                           "read",
                                           "fill",
                                           "range",
                                           "random",
                                           "unary",
                                           "binary",
                                           "cast",
                                           "broadcast",
                                           "reduce",
                                           "einsum",
                                           "reshape",
                                           "transpose",
                                           "slice",
                                           "pad",
                                           "concat",
                                           "shift",
                                           "one_hot",
                                           "gather",
                                           "scatter_add",
                                           "top_k",
                                           "conv",
                                           "conv_input_grad",
                                           "conv_filter_grad",
                                           "halo",
                                           "block_conv",
                                           "block_conv_filter_grad",
                                           "slicewise",
                                           "custom_gradient",
                                           "print",
                                           "while",
                                           "loop_value",
                                           "accumulate"};
  return kNames[static_cast<size_t>(op)];
}

const char* unary_name(Unary fn) {
  static constexpr const char* kNames[] = {
      "identity",   "stop_gradient", "neg",     "scale", "add_scalar", "relu",  "exp",
      "log",        "tanh",          "sigmoid", "gelu",  "sqrt",       "rsqrt", "square",
      "reciprocal", "abs",           "sign",    "sin",   "cos",        "floor", "not"};
  return kNames[static_cast<size_t>(fn)];
}

const char* binary_name(Binary fn) {
  static constexpr const char* kNames[] = {
      "add",        "sub",   "mul",       "div",       "max",           "min",      "less",
      "less_equal", "equal", "not_equal", "greater",   "greater_equal", "and",      "or",
      "floor_div",  "mod",   "relu_grad", "tanh_grad", "sigmoid_grad",  "gelu_grad"};
  return kNames[static_cast<size_t>(fn)];
}

const Node& Tensor::node() const { return graph_->node(id_); }
const Shape& Tensor::shape() const { return node().shape; }
DType Tensor::dtype() const { return node().dtype; }

std::string Graph::unique(const std::string& name) {
  const std::string full = scope_ + name;
  const int before = names_[full]++;
  return before == 0 ? full : fmt::format("{}_{}", full, before);
}

Tensor Graph::add(Op op, std::string name, std::vector<Tensor> inputs, Shape shape, DType dtype,
                  Attributes attributes) {
  Node node{op, unique(name), {}, std::move(shape), dtype, std::move(attributes), recompute_};
  for (const Tensor& input : inputs) {
    if (&input.graph() != this) throw GraphError(node.name + ": an input belongs to another graph");
    node.inputs.push_back(input.id());
  }
  nodes_.push_back(std::move(node));
  return {this, static_cast<NodeId>(nodes_.size() - 1)};
}

Tensor Graph::input(const std::string& name, Shape shape, DType dtype) {
  const Tensor tensor = add(Op::Input, name, {}, std::move(shape), dtype);
  if (tensor.node().name != name) {
    throw GraphError(
        fmt::format("input '{}' must have a unique name and be outside of scopes", name));
  }
  return tensor;
}

VariableId Graph::add_variable(Variable variable) {
  variable.name = scope_ + variable.name;
  for (const Variable& other : variables_) {
    if (other.name == variable.name) {
      throw GraphError(fmt::format("variable '{}' already exists", variable.name));
    }
  }
  variables_.push_back(std::move(variable));
  return static_cast<VariableId>(variables_.size() - 1);
}

Tensor Graph::read(VariableId id, DType activation) {
  Attributes attributes;
  attributes.variable = id;
  const Variable& of = variable(id);
  const std::string name = of.name.substr(of.name.rfind('/') + 1);
  return add(Op::Read, name, {}, of.shape, activation, attributes);
}

void Graph::assign(VariableId id, Tensor value, bool always) {
  if (value.shape() != variable(id).shape || value.dtype() != variable(id).dtype) {
    throw GraphError(fmt::format("variable '{}' is {} {} and cannot be assigned {} {}",
                                 variable(id).name, dtype_name(variable(id).dtype),
                                 variable(id).shape.text(), dtype_name(value.dtype()),
                                 value.shape().text()));
  }
  assignments_.push_back({id, value.id(), false, 1, {}, always});
}

void Graph::assign_sub(VariableId id, Tensor delta, double factor) {
  assign(id, delta);
  assignments_.back().subtract = true;
  assignments_.back().factor = factor;
}

void Graph::assign_adam(VariableId id, Tensor gradient, const AdamRule& rule) {
  const Variable& changed = variable(id);
  if (changed.shape != gradient.shape()) {
    throw GraphError(fmt::format("variable '{}' is {}, but its gradient is {}", changed.name,
                                 changed.shape.text(), gradient.shape().text()));
  }
  assignments_.push_back({id, gradient.id(), false, 1, rule});
}

Graph::Scope::Scope(Graph& graph, const std::string& name)
    : graph_(graph), length_(graph.scope_.size()) {
  graph_.scope_ += name + "/";
}

Graph::Scope::~Scope() { graph_.scope_.resize(length_); }

Tensor Graph::recompute(const std::function<Tensor()>& block) {
  const int32_t outer = recompute_;
  recompute_ = ++recompute_blocks_;
  Tensor result;
  try {
    result = block();
  } catch (...) {
    recompute_ = outer;
    throw;
  }
  recompute_ = outer;
  return result;
}

}  // namespace goban::train::mesh
