// Power limits of GPUs as orders to the engine.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>

#include "live/controller/decision_core.hpp"
#include "live/controller/order.hpp"

namespace goban::live::controller {

class PowerLimits {
 public:
  explicit PowerLimits(const DecisionCore& core) : core_(core) {}

  /// The core gives the GPU this limit: a number of the power model's, -1 = none.
  [[nodiscard]] Order set(GpuId gpu, int8_t cap);
  /// The limits of all GPUs that ever had one from here: as they are now, or none.
  [[nodiscard]] std::vector<Order> all() const;

  /// The field `capped` of snapshots.
  void write(nlohmann::json& snapshot) const;
  void read(base::FieldReader& snapshot);

 private:
  [[nodiscard]] CapGpu order(GpuId gpu, int8_t cap) const;

  const DecisionCore& core_;
  std::set<GpuId> capped_;  ///< GPUs that had a limit from here
};

}  // namespace goban::live::controller
