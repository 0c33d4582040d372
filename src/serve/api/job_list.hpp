// The jobs as lists show them, made once per change of the scheduler's state and shared by all
// readers: they neither hold up the scheduler nor repeat each other's work.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "live/loop/live_scheduler.hpp"

namespace goban::serve::api {

/// The fields of a job that a list shows and that can change.
struct ListedState {
  live::controller::JobStage stage{};
  live::controller::JobResult result{};
  uint32_t runs = 0;
  bool shares = false;
  int32_t num_gpus = 0;
  int32_t priority = 0;
  base::TimeNs walltime_limit_ns = 0;
  base::TimeNs held_ns = 0;
  base::TimeNs first_start_ns = 0;
  base::TimeNs run_start_ns = 0;
  live::controller::Suspensions suspensions{};
  bool managed = true;
  std::string blocked{};
  std::vector<core::model::GpuId> gpus{};
  base::TimeNs end_ns = 0;
  friend bool operator==(const ListedState&, const ListedState&) = default;
};

struct ListedJob {
  core::model::JobId job{};
  core::model::JobId array_first{};  ///< invalid: not a task of an array
  int32_t array_task = -1;
  std::string engine_id{};  ///< empty: it was submitted here
  live::job::Owner owner{};
  std::string account{};
  ListedState state{};
  std::string summary{};  ///< JSON of job_summary(), without the closing brace
  std::string name{};     ///< JSON of the name, only for callers who may see the job; may be empty

  [[nodiscard]] bool holds_gpus() const { return live::controller::holds_gpus(state.stage); }
};

/// All jobs at one time.
struct JobListing {
  std::vector<std::shared_ptr<const ListedJob>> jobs{};  ///< ascending by number
  std::vector<int64_t> positions{};                      ///< in the queue, by job; 0 = none

  /// Indexes of the jobs that a name means: "7" is a job or all tasks of array 7, "7_2" is task 2
  /// of it, "@12" the job with this id in the cluster's own queue. Empty if there is none.
  [[nodiscard]] std::vector<size_t> named(std::string_view name) const;
};

/// Thread-safe.
class JobList {
 public:
  /// `scheduler` outlives the list.
  explicit JobList(const live::loop::SchedulerClient& scheduler) : scheduler_(scheduler) {}

  /// The jobs, not older than the last answered input. Cost: linear in the jobs after a change,
  /// with short looks at the scheduler; constant without one.
  [[nodiscard]] std::shared_ptr<const JobListing> latest();

 private:
  [[nodiscard]] std::shared_ptr<const JobListing> renewed() const;

  const live::loop::SchedulerClient& scheduler_;
  std::mutex mutex_;
  uint64_t version_ = 0;  ///< guarded by mutex_, like latest_
  std::shared_ptr<const JobListing> latest_;
};

}  // namespace goban::serve::api
