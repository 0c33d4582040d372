// Size: how many GPUs, and of which model, elastic jobs run on. One file per policy.
//
// In every decision the core asks for the sizes of all jobs that may be planned: elastic jobs, that
// run or wait, and rigid jobs that wait, which have one size. It then resizes running jobs (a stop
// at a checkpoint and a start on another number of GPUs in the same decision), before the selection
// starts waiting jobs at the sizes that they got.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/job.hpp"
#include "core/model/job_speeds.hpp"

namespace goban::core::policy {

using base::TimeNs;

/// A job whose size is to be chosen.
struct SizeJob {
  const model::JobState* job = nullptr;
  bool runs = false;
  /// By GPU model: what it can run on. A rigid job has one level of 1 step per second each.
  std::vector<std::vector<model::SpeedLevel>> levels{};
  double steps_left = 0;  ///< infinite: unknown
  TimeNs deadline_ns = base::kNever;
};

/// GPUs that a running job, whose size is not chosen, will give back.
struct GpuReturn {
  TimeNs at_ns = base::kNever;
  uint32_t gpu_model = 0;
  int32_t gpus = 0;
};

struct SizeView {
  TimeNs now = 0;
  TimeNs slot_ns = 0;                  ///< decisions are made at multiples of it; 0: at events
  std::span<const SizeJob> jobs{};     ///< those that run by arrival, then the queue in its order
  std::span<const int32_t> gpus{};     ///< by GPU model: free, or held by one of the jobs
  std::span<const GpuReturn> later{};  ///< by time
};

/// What a job gets: the number of GPUs of one of its levels, or none.
struct Size {
  int32_t gpus = 0;  ///< 0: none are left for it now
  uint32_t gpu_model = 0;
  friend bool operator==(const Size&, const Size&) = default;
};

/// Chooses sizes; a pure function of the view. The base class keeps what jobs asked for.
class SizePolicy {
 public:
  virtual ~SizePolicy() = default;
  /// False: choose() is not called; jobs run on as many GPUs as they requested.
  [[nodiscard]] virtual bool decides() const { return false; }
  /// A job that gets none waits whatever the selection says, and is stopped if it runs; otherwise
  /// it keeps its place in the queue, with its least size.
  [[nodiscard]] virtual bool withholds() const { return false; }
  /// Sets a size for each of `view.jobs`; together they need no more than `view.gpus`.
  virtual void choose(const SizeView& view, std::span<Size> sizes) const {
    (void)view, (void)sizes;
  }
};

}  // namespace goban::core::policy
