// The dense ids of the model. Names exist in readers and reports only.
#pragma once

#include "base/id.hpp"

namespace goban::core::model {

using JobId = base::Id<struct JobTag>;
using NodeId = base::Id<struct NodeTag>;
using GpuId = base::Id<struct GpuTag>;
using ModelId = base::Id<struct ModelTag>;  ///< a deep-learning model, such as resnet50
using UserId = base::Id<struct UserTag>;
using AccountId = base::Id<struct AccountTag>;          ///< the project or group that is charged
using PartitionId = base::Id<struct PartitionTag>;      ///< a partition (queue) of the site
using QosId = base::Id<struct QosTag>;                  ///< a quality of service of the site
using ArrayId = base::Id<struct ArrayTag>;              ///< a job array
using ReservationId = base::Id<struct ReservationTag>;  ///< a reservation of whole nodes
using ResourceTypeId = base::Id<struct ResourceTypeTag>;
using AppId = base::Id<struct ColocatedAppTag>;  ///< co-location history: a model at a batch size

/// Sensitivity class of an application to slow GPUs: 0 = A (most sensitive), 1 = B, ...
struct AppClass {
  uint8_t value = 0;
  friend constexpr auto operator<=>(AppClass, AppClass) = default;
  [[nodiscard]] constexpr char letter() const { return static_cast<char>('A' + value); }
};

}  // namespace goban::core::model
