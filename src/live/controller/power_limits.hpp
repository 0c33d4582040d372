// Power limits of GPUs as orders to the engine.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>

#include "live/controller/decision_core.hpp"
#include "live/controller/input.hpp"

namespace goban::live::controller {

class PowerLimits {
 public:
  explicit PowerLimits(const DecisionCore& core) : core_(core) {}

  /// The order that sets a limit: `cap` is an index into the power model's caps, -1 = none.
  [[nodiscard]] Order set(GpuId gpu, int8_t cap);
  /// The current limits of all GPUs for which one was ever set; none if it was lifted.
  [[nodiscard]] std::vector<Order> all() const;

  void renumber(const core::scheduler::ClusterNumbers& numbers);

  /// The field `capped` of snapshots.
  void write(nlohmann::json& snapshot) const;
  void read(base::FieldReader& snapshot);

 private:
  [[nodiscard]] CapGpu order(GpuId gpu, int8_t cap) const;

  const DecisionCore& core_;
  std::set<GpuId> capped_;  ///< GPUs for which a limit was set
};

}  // namespace goban::live::controller
