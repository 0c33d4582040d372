#include "train/mesh/test_exact_layouts.hpp"

#include <algorithm>

#include "train/mesh/plan.hpp"

namespace goban::train::mesh {
namespace {

bool is_rounded_alike(const Node& node) {
  switch (node.op) {
    case Op::Unary:
      switch (node.attributes.unary) {
        case Unary::Exp:
        case Unary::Log:
        case Unary::Tanh:
        case Unary::Sigmoid:
        case Unary::Gelu:
        case Unary::Sin:
        case Unary::Cos:
        case Unary::Rsqrt:
          return false;
        default:
          return true;
      }
    case Op::Binary:
      return node.attributes.binary != Binary::GeluGrad;
    case Op::Reduce:
      return node.attributes.reducer != Reducer::Sum;
    case Op::Einsum:
    case Op::Conv:
    case Op::ConvInputGrad:
    case Op::ConvFilterGrad:
    case Op::BlockConv:
    case Op::BlockConvFilterGrad:
    case Op::Slicewise:  // its function is unknown
    case Op::While:
      return false;
    default:
      return true;
  }
}

}  // namespace

bool same_bits_expected(const Builder& build, const LayoutCase& layout) {
  Graph graph;
  std::vector<NodeId> roots;
  for (const Tensor& fetch : build(graph)) roots.push_back(fetch.id());
  const auto plan =
      lower(graph, roots, *MeshShape::parse(layout.mesh), *LayoutRules::parse(layout.layout), 0);
  return plan && std::ranges::all_of(plan->steps, [&](const Step& step) {
           return step.pending == 0 && is_rounded_alike(graph.node(step.node));
         });
}

}  // namespace goban::train::mesh
