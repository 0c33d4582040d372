// A plan of the free GPUs of one model over time, into which jobs are placed one after the other
// (ElasticFlow, ASPLOS 2023: docs/papers.md).
#pragma once

#include <map>
#include <span>

#include "base/time.hpp"
#include "core/model/job_speeds.hpp"

namespace goban::core::policy {

using base::TimeNs;

class GpuPlan {
 public:
  /// `slot_ns` > 0: what a job leaves is free from the end of its slot on, counted from now.
  GpuPlan(TimeNs now, int32_t gpus, TimeNs slot_ns)
      : now_(now), slot_ns_(slot_ns), free_{{now, gpus}} {}

  /// So many more GPUs are free from this time on.
  void give(TimeNs at, int32_t gpus);

  struct Planned {
    int32_t gpus_now = 0;
    TimeNs end_ns = base::kNever;  ///< kNever: never, as far as known
  };
  /// What a job gets that takes, at any time, the largest of its levels that is free. Changes
  /// nothing. `left`: its steps, which may be infinite. `levels`: ascending.
  [[nodiscard]] Planned try_add(std::span<const model::SpeedLevel> levels, double left) const {
    return walk(free_, levels, left);
  }
  /// The same; the job takes these GPUs.
  Planned add(std::span<const model::SpeedLevel> levels, double left) {
    return walk(free_, levels, left);
  }
  [[nodiscard]] int32_t free_now() const { return free_.begin()->second; }

 private:
  /// `free`: free_. The job takes its GPUs if it may be changed.
  template <typename Map>
  Planned walk(Map& free, std::span<const model::SpeedLevel> levels, double left) const;
  [[nodiscard]] TimeNs slot_end(TimeNs end) const;

  TimeNs now_;
  TimeNs slot_ns_;
  std::map<TimeNs, int32_t> free_;  ///< free GPUs from each time on
};

}  // namespace goban::core::policy
