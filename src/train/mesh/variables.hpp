// The state of a model on one device: its slice of every variable.
#pragma once

#include <ATen/core/Tensor.h>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "train/comm/communicator.hpp"
#include "train/mesh/graph.hpp"
#include "train/mesh/layout.hpp"

namespace goban::train::mesh {

/// A variable of which two ranks have different copies.
struct UnequalCopies {
  std::string name;
  int rank = 0, other = 0;
};

/// Slices of a graph's variables under a legal layout (check_layout), on the rank's device.
/// Initially zero.
class Variables {
 public:
  Variables(const Graph& graph, MeshShape mesh, LayoutRules rules, comm::Communicator& end,
            c10::Device device = c10::kCPU);
  /// For another graph, whose variables are the first variables of `of`: the slices are shared.
  Variables(const Graph& graph, Variables& of);

  [[nodiscard]] size_t size() const { return slices_.size(); }
  [[nodiscard]] at::Tensor& slice(VariableId id) { return slices_[static_cast<size_t>(id)]; }
  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] comm::Communicator& end() const { return end_; }
  [[nodiscard]] const MeshShape& mesh() const { return mesh_; }
  [[nodiscard]] const LayoutRules& rules() const { return rules_; }
  [[nodiscard]] c10::Device device() const { return device_; }

  /// Sets initial values: the same bits under every layout and on every device.
  void initialize(uint64_t seed);
  /// The complete variable, gathered on every device. Collective.
  [[nodiscard]] base::Result<at::Tensor> whole(VariableId id);
  /// Name of the first variable that contains NaN or infinity on any device; empty if there is
  /// none. Collective; equal on all devices.
  [[nodiscard]] base::Result<std::string> first_not_finite();
  /// The first variable of which ranks with the same slice have different copies, apart from
  /// rounding; nullopt if there is none. Collective; equal on all devices.
  [[nodiscard]] base::Result<std::optional<UnequalCopies>> unequal_copies();
  /// Takes this device's slice of `value`, which has the variable's shape and may be on another
  /// device.
  void set_whole(VariableId id, const at::Tensor& value);

 private:
  [[nodiscard]] base::Result<double> largest_difference(VariableId id);

  const Graph& graph_;
  MeshShape mesh_;
  LayoutRules rules_;
  comm::Communicator& end_;
  c10::Device device_;
  std::vector<at::Tensor> slices_;
};

/// First index of this device's slice in each dimension.
[[nodiscard]] std::vector<int64_t> slice_begin(const Shape& shape, const TensorLayout& layout,
                                               const MeshShape& mesh, int rank);
/// This device's slice of a whole tensor; a view.
[[nodiscard]] at::Tensor local_part(const at::Tensor& whole, const Shape& shape,
                                    const TensorLayout& layout, const MeshShape& mesh, int rank);
/// The slices of all devices, assembled on every device. Collective.
[[nodiscard]] base::Result<at::Tensor> gather_whole(const at::Tensor& part,
                                                    const TensorLayout& layout,
                                                    const MeshShape& mesh, comm::Communicator& end,
                                                    const std::string& what);

}  // namespace goban::train::mesh
