// The dense ids of the model. Names live at the edges (readers, reports), never in here.
#pragma once

#include "base/id.hpp"

namespace goban::core::model {

using JobId = base::Id<struct JobTag>;
using NodeId = base::Id<struct NodeTag>;
using GpuId = base::Id<struct GpuTag>;
using ModelId = base::Id<struct ModelTag>;  ///< a deep-learning model, such as resnet50
using UserId = base::Id<struct UserTag>;
using AccountId = base::Id<struct AccountTag>;          ///< who pays: a project or group
using PartitionId = base::Id<struct PartitionTag>;      ///< a queue of the site
using QosId = base::Id<struct QosTag>;                  ///< a quality of service of the site
using ArrayId = base::Id<struct ArrayTag>;              ///< a job array
using ReservationId = base::Id<struct ReservationTag>;  ///< whole nodes for some people, for a time
using ResourceTypeId = base::Id<struct ResourceTypeTag>;
using AppId = base::Id<struct ColocatedAppTag>;  ///< a model at a batch size: who shares GPUs

/// Sensitivity class of an application to slow GPUs: 0 = A (most sensitive), 1 = B, ...
struct AppClass {
  uint8_t value = 0;
  friend constexpr auto operator<=>(AppClass, AppClass) = default;
  [[nodiscard]] constexpr char letter() const { return static_cast<char>('A' + value); }
};

}  // namespace goban::core::model
