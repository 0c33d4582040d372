// Plain values of the core's state.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "base/time.hpp"
#include "core/model/event.hpp"
#include "core/model/ids.hpp"

namespace goban::core::scheduler {

using base::TimeNs;
using model::GpuId;
using model::JobId;

/// Index of the JobState of an unfinished job; reused after the job has finished.
using Slot = uint32_t;

struct Running {
  Slot slot = 0;
  model::Allocation allocation;
};

/// Whoever holds resources that the core did not give: a job, or a GPU that is left out itself.
using Holder = std::pair<JobId, GpuId>;

/// Whether the policies of an image decide again, so that its keys of the queue are still valid.
struct SamePolicies {
  bool of_all = false;
  bool of_part = false;  ///< PolicySet::of_part
};

/// A waiting job that was promised a start by this time, from the limits of others; invalid: none.
struct HeadPromise {
  JobId job{};
  TimeNs at_ns = base::kNever;
};

struct ArrayBooks {
  int32_t active = 0;   ///< tasks that run or may start
  int32_t surplus = 0;  ///< of them, those beyond a limit that was lowered
  std::deque<Slot> held{};
};

struct Waiter {
  TimeNs since = 0;
  JobId job{};
};

}  // namespace goban::core::scheduler
