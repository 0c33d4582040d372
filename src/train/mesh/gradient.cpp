#include "train/mesh/gradient.hpp"

#include <fmt/format.h>
#include <map>
#include <optional>

#include "train/mesh/functions.hpp"

namespace goban::train::mesh {
namespace {

/// One reverse walk. `value` returns a forward value, recomputed if its block requires it.
class Walk {
 public:
  Walk(Graph& graph, NodeId last) : graph_(graph), last_(last) {
    gradient_.resize(static_cast<size_t>(last) + 1);
  }

  std::vector<Tensor> run(Tensor loss, const std::vector<Tensor>& xs) {
    std::vector<bool> wanted = depends_on(xs);
    gradient_[static_cast<size_t>(loss.id())] = fill(graph_, {}, 1.0, loss.dtype());
    for (NodeId id = loss.id(); id >= 0; --id) {
      const auto& dy = gradient_[static_cast<size_t>(id)];
      if (!dy || !wanted[static_cast<size_t>(id)]) continue;
      const Node& node = graph_.node(id);
      Graph::Scope scope(graph_, node.name + "/grad");
      back(id, node, *dy, wanted);
    }
    std::vector<Tensor> out;
    for (const Tensor& x : xs) {
      const auto at = static_cast<size_t>(x.id());
      const bool reached = x.id() <= last_ && gradient_[at].has_value();
      out.push_back(reached ? *gradient_[at] : fill(graph_, x.shape(), 0.0, x.dtype()));
    }
    return out;
  }

 private:
  std::vector<bool> depends_on(const std::vector<Tensor>& xs) const {
    std::vector<bool> wanted(static_cast<size_t>(last_) + 1, false);
    for (const Tensor& x : xs) {
      if (x.id() <= last_) wanted[static_cast<size_t>(x.id())] = true;
    }
    for (size_t i = 0; i < wanted.size(); ++i) {
      for (const NodeId input : graph_.node(static_cast<NodeId>(i)).inputs) {
        if (wanted[static_cast<size_t>(input)]) wanted[i] = true;
      }
    }
    return wanted;
  }

  /// The forward value of a node: the node itself, or a recomputed copy.
  Tensor value(NodeId id) {
    const Node& node = graph_.node(id);
    if (node.recompute == 0) return graph_.tensor(id);
    if (const auto found = again_.find(id); found != again_.end()) return found->second;
    std::vector<Tensor> inputs;
    for (const NodeId input : node.inputs) {
      const bool inside = graph_.node(input).recompute == node.recompute;
      inputs.push_back(inside ? value(input) : graph_.tensor(input));
    }
    const std::string name = node.name.substr(node.name.rfind('/') + 1) + "_again";
    const Tensor copy = graph_.add(node.op, name, inputs, node.shape, node.dtype, node.attributes);
    return again_[id] = copy;
  }

  void give(NodeId id, Tensor dx, const std::vector<bool>& wanted) {
    const auto at = static_cast<size_t>(id);
    if (!wanted[at]) return;
    gradient_[at] = gradient_[at] ? *gradient_[at] + dx : dx;
  }

  /// Sums over the dimensions that broadcasting added.
  static Tensor to_shape(Tensor dy, const Shape& shape) { return einsum({dy}, shape, "sum"); }

  void back(NodeId id, const Node& node, Tensor dy, const std::vector<bool>& wanted) {
    const auto input_shape = [&](size_t i) { return graph_.node(node.inputs[i]).shape; };
    const auto needs = [&](size_t i) { return wanted[static_cast<size_t>(node.inputs[i])]; };
    switch (node.op) {
      case Op::Unary:
        return back_unary(id, node, dy, wanted);
      case Op::Binary:
        return back_binary(id, node, dy, wanted);
      case Op::Cast: {
        const DType from = graph_.node(node.inputs[0]).dtype;
        if (from != DType::I64) give(node.inputs[0], cast(dy, from), wanted);
        return;
      }
      case Op::Broadcast:
        return give(node.inputs[0], reduce_sum(dy, input_shape(0)), wanted);
      case Op::Reduce:
        return back_reduce(id, node, dy, wanted);
      // Variables come second, and first here: sums of their gradients over devices are formed
      // while the rest is computed.
      case Op::Einsum: {
        for (size_t i = node.inputs.size(); i-- > 0;) {
          if (!needs(i)) continue;
          std::vector<Tensor> factors = {dy};
          for (size_t j = 0; j < node.inputs.size(); ++j) {
            if (j != i) factors.push_back(value(node.inputs[j]));
          }
          give(node.inputs[i], einsum(factors, input_shape(i), "einsum"), wanted);
        }
        return;
      }
      case Op::Reshape:
        return give(node.inputs[0], reshape(dy, input_shape(0)), wanted);
      case Op::Transpose:
        return give(node.inputs[0], transpose(dy, input_shape(0)), wanted);
      case Op::Slice: {
        const std::string& dim = node.attributes.dim;
        const int64_t before = node.attributes.begin;
        const int64_t after = input_shape(0).dim(dim).size - before - node.shape.dim(dim).size;
        return give(node.inputs[0], pad(dy, dim, before, after), wanted);
      }
      case Op::Pad: {
        const std::string& dim = node.attributes.dim;
        return give(node.inputs[0],
                    slice(dy, dim, node.attributes.begin, input_shape(0).dim(dim).size), wanted);
      }
      case Op::Concat: {
        int64_t begin = 0;
        for (size_t i = 0; i < node.inputs.size(); ++i) {
          const int64_t size = input_shape(i).dim(node.attributes.dim).size;
          if (needs(i)) give(node.inputs[i], slice(dy, node.attributes.dim, begin, size), wanted);
          begin += size;
        }
        return;
      }
      case Op::Shift:
        return give(node.inputs[0],
                    shift(dy, node.attributes.dim, -node.attributes.count, node.attributes.wrap),
                    wanted);
      case Op::Gather:
        return give(node.inputs[0],
                    graph_.add(Op::ScatterAdd, "scatter_add", {dy, value(node.inputs[1])},
                               input_shape(0), dy.dtype(), node.attributes),
                    wanted);
      case Op::ScatterAdd:
        return give(node.inputs[0], gather(dy, value(node.inputs[1]), node.attributes.dim), wanted);
      case Op::Conv:
      case Op::ConvInputGrad:
      case Op::ConvFilterGrad:
        return back_conv(node, dy, wanted);
      case Op::BlockConv:
      case Op::BlockConvFilterGrad:
        return back_block_conv(node, dy, wanted);
      case Op::Halo:
        return;  // the gradient bypasses it: see back_block_conv
      case Op::Slicewise:
      case Op::CustomGradient:
        return back_function(id, node, dy, wanted);
      case Op::While:
      case Op::LoopValue:
        throw GraphError(
            fmt::format("operation '{}' (while) has no gradient; write a fixed number of "
                        "iterations as a loop in C++, or use custom_gradient() or stop_gradient()",
                        node.op == Op::While ? node.name : graph_.node(node.inputs[0]).name));
      case Op::Accumulate:
      case Op::Print:
        return give(node.inputs[0], dy, wanted);
      case Op::Input:
      case Op::Read:
      case Op::Fill:
      case Op::Range:
      case Op::Random:
      case Op::OneHot:
      case Op::TopKIndices:
        return;  // the gradient ends here
    }
  }

  /// y = conv(x, f) and its two gradients are linear in each of (x, f, y): the gradient of one of
  /// the three consists of the other two.
  void back_conv(const Node& node, Tensor dy, const std::vector<bool>& wanted) {
    const NodeId left = node.inputs[0], right = node.inputs[1];
    const auto made = [&](Op op, const char* name, Tensor a, Tensor b, NodeId of) {
      if (!wanted[static_cast<size_t>(of)]) return;
      give(of, graph_.add(op, name, {a, b}, graph_.node(of).shape, dy.dtype(), node.attributes),
           wanted);
    };
    switch (node.op) {
      case Op::Conv:  // of (x, f)
        made(Op::ConvFilterGrad, "conv_filter", dy, value(left), right);
        made(Op::ConvInputGrad, "conv_input", dy, value(right), left);
        return;
      case Op::ConvInputGrad:  // of (y, f)
        made(Op::Conv, "conv", dy, value(right), left);
        made(Op::ConvFilterGrad, "conv_filter", value(left), dy, right);
        return;
      default:  // ConvFilterGrad of (y, x)
        made(Op::Conv, "conv", value(right), dy, left);
        made(Op::ConvInputGrad, "conv_input", value(left), dy, right);
        return;
    }
  }

  /// The same for images in blocks: gradients flow to the image before its margins were added, and
  /// are computed by convolutions of images with margins of their own.
  void back_block_conv(const Node& node, Tensor dy, const std::vector<bool>& wanted) {
    const NodeId left = node.inputs[0], right = node.inputs[1];
    const bool filter_last = node.op == Op::BlockConv;
    const NodeId halo = filter_last ? left : right;
    const NodeId image = graph_.node(halo).inputs[0];
    const auto with_halo = [&](Tensor x) {
      return graph_.add(Op::Halo, "halo", {x}, x.shape(), x.dtype(), node.attributes);
    };
    const auto made = [&](Op op, const char* name, Tensor a, Tensor b, NodeId of, bool flipped) {
      Attributes attributes = node.attributes;
      attributes.flipped = flipped;
      give(of, graph_.add(op, name, {a, b}, graph_.node(of).shape, dy.dtype(), attributes), wanted);
    };
    const auto needs = [&](NodeId id) { return wanted[static_cast<size_t>(id)]; };
    constexpr Op kConv = Op::BlockConv, kFilter = Op::BlockConvFilterGrad;
    const char* const conv = "block_conv";
    const char* const filter = "block_conv_filter";
    if (!filter_last) {  // of (y, x), the filter's gradient
      if (needs(left)) made(kConv, conv, value(halo), dy, left, false);
      if (needs(image)) made(kConv, conv, with_halo(value(left)), dy, image, true);
      return;
    }
    const bool flipped = node.attributes.flipped;
    if (needs(right)) {
      if (flipped) {
        made(kFilter, filter, value(image), with_halo(dy), right, false);
      } else {
        made(kFilter, filter, dy, value(halo), right, false);
      }
    }
    if (needs(image)) made(kConv, conv, with_halo(dy), value(right), image, !flipped);
  }

  /// Calls the user-defined gradient function and checks its result.
  void back_function(NodeId id, const Node& node, Tensor dy, const std::vector<bool>& wanted) {
    const bool own_kernel = node.op == Op::Slicewise;
    const GradientFunction& gradient =
        own_kernel ? node.attributes.slicewise->gradient : *node.attributes.gradient;
    if (!gradient) return;
    const std::vector<NodeId> of(node.inputs.begin() + (own_kernel ? 0 : 1), node.inputs.end());
    std::vector<Tensor> xs;
    for (const NodeId each : of) xs.push_back(value(each));
    const std::vector<Tensor> dxs = gradient(xs, value(id), dy);
    if (dxs.size() != xs.size()) {
      throw GraphError(fmt::format("{}: the gradient function returned {} gradients for {} inputs",
                                   node.name, dxs.size(), xs.size()));
    }
    for (size_t i = 0; i < xs.size(); ++i) {
      if (dxs[i].shape() != xs[i].shape() || dxs[i].dtype() != xs[i].dtype()) {
        throw GraphError(fmt::format("{}: gradient {} is {} {}, but its input is {} {}", node.name,
                                     i, dtype_name(dxs[i].dtype()), dxs[i].shape().text(),
                                     dtype_name(xs[i].dtype()), xs[i].shape().text()));
      }
      give(of[i], dxs[i], wanted);
    }
  }

  void back_unary(NodeId id, const Node& node, Tensor dy, const std::vector<bool>& wanted) {
    const NodeId in = node.inputs[0];
    const double a = node.attributes.scalar;
    const auto x = [&] { return value(in); };
    const auto y = [&] { return value(id); };
    const auto dx = [&]() -> std::optional<Tensor> {
      switch (node.attributes.unary) {
        case Unary::Identity:
        case Unary::AddScalar:
          return dy;
        case Unary::StopGradient:
        case Unary::Sign:
        case Unary::Floor:
        case Unary::Not:
          return std::nullopt;
        case Unary::Neg:
          return -dy;
        case Unary::Scale:
          return dy * a;
        case Unary::Relu:
          return binary(Binary::ReluGrad, dy, y());
        case Unary::Exp:
          return dy * y();
        case Unary::Log:
          return dy / x();
        case Unary::Tanh:
          return binary(Binary::TanhGrad, dy, y());
        case Unary::Sigmoid:
          return binary(Binary::SigmoidGrad, dy, y());
        case Unary::Gelu:
          return binary(Binary::GeluGrad, dy, x());
        case Unary::Sqrt:
          return dy * 0.5 / y();
        case Unary::Rsqrt:
          return dy * -0.5 * (y() * square(y()));
        case Unary::Square:
          return dy * x() * 2.0;
        case Unary::Reciprocal:
          return -(dy * square(y()));
        case Unary::Abs:
          return dy * unary(Unary::Sign, x());
        case Unary::Sin:
          return dy * unary(Unary::Cos, x());
        case Unary::Cos:
          return -(dy * unary(Unary::Sin, x()));
      }
      return std::nullopt;
    }();
    if (dx) give(in, *dx, wanted);
  }

  void back_binary(NodeId id, const Node& node, Tensor dy, const std::vector<bool>& wanted) {
    const NodeId left = node.inputs[0], right = node.inputs[1];
    const Shape left_shape = graph_.node(left).shape, right_shape = graph_.node(right).shape;
    const bool to_left = wanted[static_cast<size_t>(left)];
    const bool to_right = wanted[static_cast<size_t>(right)];
    const auto fit = [](Tensor d, const Shape& shape) {
      return d.shape() == shape ? d : to_shape(d, shape);
    };
    switch (node.attributes.binary) {
      case Binary::Add:
      case Binary::Sub: {
        if (to_left) give(left, fit(dy, left_shape), wanted);
        const bool minus = node.attributes.binary == Binary::Sub;
        if (to_right) give(right, minus ? -fit(dy, right_shape) : fit(dy, right_shape), wanted);
        return;
      }
      case Binary::Mul: {
        // One einsum multiplies and sums over the broadcast dimensions.
        const auto other = [&](NodeId factor, const Shape& shape) {
          return shape == dy.shape() ? dy * value(factor) : einsum({dy, value(factor)}, shape);
        };
        if (to_left) give(left, fit(other(right, left_shape), left_shape), wanted);
        if (to_right) give(right, fit(other(left, right_shape), right_shape), wanted);
        return;
      }
      case Binary::Div: {
        const Tensor scaled = dy / value(right);
        if (to_left) give(left, fit(scaled, left_shape), wanted);
        if (to_right) give(right, fit(-(scaled * value(id)), right_shape), wanted);
        return;
      }
      case Binary::Max:
      case Binary::Min: {
        if (to_left) give(left, fit(dy * equal(value(id), value(left)), left_shape), wanted);
        if (to_right) give(right, fit(dy * equal(value(id), value(right)), right_shape), wanted);
        return;
      }
      case Binary::ReluGrad:  // linear in dy; its second input is piecewise constant
        if (to_left)
          give(left, fit(binary(Binary::ReluGrad, dy, value(right)), left_shape), wanted);
        return;
      case Binary::Mod: {  // a - floor(a / b) b
        if (to_left) give(left, fit(dy, left_shape), wanted);
        if (!to_right) return;
        const Tensor times = floor_div(value(left), value(right));
        return give(right, fit(-(dy * times), right_shape), wanted);
      }
      case Binary::Less:
      case Binary::LessEqual:
      case Binary::Equal:
      case Binary::NotEqual:
      case Binary::Greater:
      case Binary::GreaterEqual:
      case Binary::And:
      case Binary::Or:
      case Binary::FloorDiv:
        return;
      case Binary::TanhGrad:       // dy (1 - y^2)
      case Binary::SigmoidGrad: {  // dy (y - y^2)
        const bool tanh = node.attributes.binary == Binary::TanhGrad;
        if (to_left) {
          give(left, fit(binary(node.attributes.binary, dy, value(right)), left_shape), wanted);
        }
        if (!to_right) return;
        const Tensor slope = tanh ? value(right) * -2.0 : value(right) * -2.0 + 1.0;
        return give(right, fit(dy * value(left) * slope, right_shape), wanted);
      }
      case Binary::GeluGrad:
        throw GraphError(node.name + ": second derivatives of gelu are not supported");
    }
  }

  void back_reduce(NodeId id, const Node& node, Tensor dy, const std::vector<bool>& wanted) {
    const NodeId in = node.inputs[0];
    const Shape shape = graph_.node(in).shape;
    if (node.attributes.reducer == Reducer::Sum) return give(in, broadcast(dy, shape), wanted);
    const Tensor ties = equal(value(in), value(id));
    give(in, ties * dy, wanted);
  }

  Graph& graph_;
  NodeId last_;
  std::vector<std::optional<Tensor>> gradient_;
  std::map<NodeId, Tensor> again_;
};

}  // namespace

std::vector<Tensor> gradients(Tensor loss, const std::vector<Tensor>& xs) {
  if (loss.shape().rank() != 0) {
    throw GraphError(fmt::format("gradients: the loss '{}' is {}, not a scalar", loss.node().name,
                                 loss.shape().text()));
  }
  return Walk(loss.graph(), loss.id()).run(loss, xs);
}

}  // namespace goban::train::mesh
