#include "train/mesh/variables.hpp"

#include <ATen/ops/aminmax.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>

#include "base/check.hpp"
#include "train/mesh/collective_tensor.hpp"
#include "train/mesh/kernels.hpp"
#include "train/mesh/tensor_checksum.hpp"

namespace goban::train::mesh {
namespace {

/// Uses no temporary tensor: minimum and maximum of a tensor with a NaN are NaN.
bool finite(const at::Tensor& x) {
  if (!x.is_floating_point() || x.numel() == 0) return true;
  const auto [least, most] = at::aminmax(x);
  return std::isfinite(least.item<double>()) && std::isfinite(most.item<double>());
}

/// Largest difference between copies, relative to the variable's largest value, that is still
/// rounding: kernels of GPUs that add in any order, or different processors.
constexpr double kRounding = 1e-3;

}  // namespace

Variables::Variables(const Graph& graph, MeshShape mesh, LayoutRules rules, comm::Communicator& end,
                     c10::Device device)
    : graph_(graph), mesh_(std::move(mesh)), rules_(std::move(rules)), end_(end), device_(device) {
  for (const Variable& variable : graph.variables()) {
    const TensorLayout layout = rules_.layout_of(variable.shape, mesh_);
    slices_.push_back(
        at::zeros(local_sizes(variable.shape, layout, mesh_),
                  at::TensorOptions().dtype(scalar_type(variable.dtype)).device(device_)));
  }
}

Variables::Variables(const Graph& graph, Variables& of)
    : graph_(graph), mesh_(of.mesh_), rules_(of.rules_), end_(of.end_), device_(of.device_) {
  for (size_t i = 0; i < graph.variables().size(); ++i) {
    GOBAN_CHECK(i < of.size() && graph.variables()[i].shape == of.graph_.variables()[i].shape,
                "graphs that share variables must have equal ones");
    slices_.push_back(of.slices_[i]);
  }
}

void Variables::initialize(uint64_t seed) {
  using Kind = Initializer::Kind;
  for (size_t i = 0; i < slices_.size(); ++i) {
    const Variable& variable = graph_.variables()[i];
    const Initializer& start = variable.initializer;
    if (start.kind == Kind::Zeros || start.kind == Kind::Ones) {
      slices_[i].fill_(start.kind == Kind::Ones ? 1 : 0);
      continue;
    }
    const TensorLayout layout = rules_.layout_of(variable.shape, mesh_);
    const Distribution distribution = start.kind == Kind::Uniform  ? Distribution::Uniform
                                      : start.kind == Kind::Normal ? Distribution::Normal
                                                                   : Distribution::TruncatedNormal;
    at::Tensor values = random_slice(distribution, mix_seed(seed, variable.name), variable.shape,
                                     slice_begin(variable.shape, layout, mesh_, end_.rank()),
                                     local_sizes(variable.shape, layout, mesh_));
    if (start.kind == Kind::Uniform) values.mul_(2).sub_(1);
    slices_[i].copy_(values.mul_(start.scale));
  }
}

base::Result<at::Tensor> Variables::whole(VariableId id) {
  const Variable& variable = graph_.variable(id);
  return gather_whole(slice(id), rules_.layout_of(variable.shape, mesh_), mesh_, end_,
                      variable.name);
}

base::Result<std::string> Variables::first_not_finite() {
  const auto bad = std::ranges::find_if_not(slices_, finite);
  const auto first = comm::reduced(end_, bad - slices_.begin(), comm::Reduction::Min, "finite?");
  if (!first) return base::failure(first.error());
  const auto found = static_cast<size_t>(*first);
  return found < size() ? graph_.variables()[found].name : std::string();
}

base::Result<std::optional<UnequalCopies>> Variables::unequal_copies() {
  const auto ranks = static_cast<size_t>(end_.size());
  if (ranks == 1 || slices_.empty()) return std::optional<UnequalCopies>{};
  std::vector<uint32_t> mine(size()), all(ranks * size());
  std::ranges::transform(slices_, mine.begin(), checksum_of);
  const auto told =
      end_.all_gather(comm::whole_world(end_.size()), std::as_bytes(std::span(mine)),
                      std::as_writable_bytes(std::span(all)), "checksums of the copies");
  if (!told) return base::failure(told.error());
  for (size_t id = 0; id < size(); ++id) {
    const Shape& shape = graph_.variables()[id].shape;
    const TensorLayout layout = rules_.layout_of(shape, mesh_);
    std::map<std::vector<int64_t>, size_t> first_with;  // the first rank that has a slice
    std::optional<UnequalCopies> found;
    for (size_t rank = 0; rank < ranks && !found; ++rank) {
      const auto begin = slice_begin(shape, layout, mesh_, static_cast<int>(rank));
      const size_t first = first_with.try_emplace(begin, rank).first->second;
      if (all[first * size() + id] == all[rank * size() + id]) continue;
      found = {graph_.variables()[id].name, static_cast<int>(first), static_cast<int>(rank)};
    }
    if (!found) continue;
    const auto difference = largest_difference(static_cast<VariableId>(id));
    if (!difference) return base::failure(difference.error());
    if (*difference > kRounding) return found;
  }
  return std::optional<UnequalCopies>{};
}

/// Between copies on any devices, relative to the largest value of the slice.
base::Result<double> Variables::largest_difference(VariableId id) {
  const AxisSet split = axes_of(rules_.layout_of(graph_.variable(id).shape, mesh_));
  const AxisSet every = (AxisSet{1} << mesh_.axes().size()) - 1;
  const comm::Group copies = mesh_.group(end_.rank(), every & ~split);
  // A tensor for each call: a reduction overwrites one that is not shared.
  const auto most = all_reduced(slice(id).to(at::kDouble), copies, comm::Reduction::Max, end_,
                                "largest of the copies");
  if (!most) return base::failure(most.error());
  const auto least = all_reduced(slice(id).to(at::kDouble), copies, comm::Reduction::Min, end_,
                                 "least of the copies");
  if (!least) return base::failure(least.error());
  std::array<double, 1> worst = {0};
  if (most->numel() > 0) {
    const double scale =
        std::max(most->abs().max().item<double>(), least->abs().max().item<double>());
    if (scale > 0) worst[0] = most->sub(*least).max().item<double>() / scale;
  }
  const auto agreed =
      end_.all_reduce(comm::whole_world(end_.size()), std::as_writable_bytes(std::span(worst)),
                      comm::Element::F64, comm::Reduction::Max, "difference of the copies");
  if (!agreed) return base::failure(agreed.error());
  return worst[0];
}

void Variables::set_whole(VariableId id, const at::Tensor& value) {
  const Shape& shape = graph_.variable(id).shape;
  slice(id).copy_(local_part(value, shape, rules_.layout_of(shape, mesh_), mesh_, end_.rank()));
}

std::vector<int64_t> slice_begin(const Shape& shape, const TensorLayout& layout,
                                 const MeshShape& mesh, int rank) {
  std::vector<int64_t> begin;
  const std::vector<int64_t> local = local_sizes(shape, layout, mesh);
  for (size_t i = 0; i < layout.size(); ++i) {
    const int64_t part =
        layout[i] == kWhole ? 0 : mesh.coordinate(rank, static_cast<size_t>(layout[i]));
    begin.push_back(part * local[i]);
  }
  return begin;
}

at::Tensor local_part(const at::Tensor& whole, const Shape& shape, const TensorLayout& layout,
                      const MeshShape& mesh, int rank) {
  const std::vector<int64_t> begin = slice_begin(shape, layout, mesh, rank);
  const std::vector<int64_t> local = local_sizes(shape, layout, mesh);
  at::Tensor part = whole;
  for (size_t i = 0; i < local.size(); ++i) {
    if (layout[i] != kWhole) part = part.narrow(static_cast<int64_t>(i), begin[i], local[i]);
  }
  return part;
}

base::Result<at::Tensor> gather_whole(const at::Tensor& part, const TensorLayout& layout,
                                      const MeshShape& mesh, comm::Communicator& end,
                                      const std::string& what) {
  at::Tensor whole = part;
  for (size_t i = 0; i < layout.size(); ++i) {
    if (layout[i] == kWhole) continue;
    const AxisSet axis = AxisSet{1} << layout[i];
    auto joined = all_concatenated(whole, static_cast<int64_t>(i), mesh.group(end.rank(), axis),
                                   end, what + " (gather)");
    if (!joined) return joined;
    whole = *joined;
  }
  return whole.is_alias_of(part) ? whole.clone() : whole;
}

}  // namespace goban::train::mesh
