// What the cluster did in a period: GPUs held, jobs that waited, waits, results. Computed from the
// runs of jobs, so that it is exact and survives a restart.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "live/controller/job_book.hpp"

namespace goban::serve::api {

struct OverviewPeriod {
  base::TimeNs from_ns = 0;
  base::TimeNs to_ns = 0;  ///< after from_ns
  size_t num_steps = 96;   ///< at least 1
};

struct WaitQuantiles {
  size_t jobs = 0;  ///< that started for the first time in the period
  double p50_s = 0;
  double p90_s = 0;
  double max_s = 0;
};

struct Overview {
  std::vector<double> held_gpus{};     ///< mean of each step; a GPU that jobs share counts once
  std::vector<double> waiting_jobs{};  ///< without GPUs, for whatever reason; mean of each step
  std::vector<double> waiting_gpus{};  ///< that these requested
  int64_t submitted = 0;
  std::map<std::string, int64_t> ended{};  ///< by result
  WaitQuantiles waits{};
  double gpu_hours = 0;        ///< held in the period; a GPU that jobs share counts once
  double ended_energy_j = -1;  ///< of GPUs, of the runs that ended in the period; -1 = not measured
};

/// Collects jobs. Add each once.
class OverviewSums {
 public:
  explicit OverviewSums(const OverviewPeriod& period);
  void add(const live::controller::LiveJob& job);
  [[nodiscard]] Overview take();

 private:
  struct Held {
    uint32_t gpu = 0;
    base::TimeNs from_ns = 0;
    base::TimeNs to_ns = 0;
  };
  /// Adds the part of the period between the times to the steps.
  void spread(std::vector<double>& steps, base::TimeNs from_ns, base::TimeNs to_ns,
              double value) const;
  void hold(const std::vector<core::model::GpuId>& gpus, base::TimeNs from_ns, base::TimeNs to_ns);

  OverviewPeriod period_;
  Overview out_{};
  std::vector<Held> held_{};
  std::vector<double> waits_s_{};
};

}  // namespace goban::serve::api
