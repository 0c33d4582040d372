// A policy written outside the core, such as in Python: what it is asked, and what it may see.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/model/free_gpus.hpp"
#include "core/model/job.hpp"
#include "core/policy/size/size.hpp"

namespace goban::study::lab {

using base::TimeNs;
using core::model::JobId;
using core::model::JobState;

class Estimates;

/// When the keys of waiting jobs are computed.
enum class KeyTime : uint8_t {
  Arrival,  ///< once, when the job arrives: a key depends on nothing but the job itself
  Event,    ///< before every decision that may start a job
  Every,    ///< at multiples of an interval; until then newcomers wait behind the others
};

/// What the policy of a run did wrong. Thrown through the simulator, since parts of policies have
/// no other way to end a run; run() in lab.hpp lets it pass.
struct Fault : std::runtime_error {
  Fault(std::string in_method, std::string what_is_wrong, std::string what_helps)
      : std::runtime_error("method " + in_method + ": " + what_is_wrong + " (" + what_helps + ")"),
        method(std::move(in_method)),
        problem(std::move(what_is_wrong)),
        remedy(std::move(what_helps)) {}
  std::string method;  ///< "order"
  std::string problem;
  std::string remedy;
  JobId job{};        ///< invalid: no job in particular
  TimeNs at_ns = -1;  ///< simulated time; -1 = before the run
};

/// The columns of a view by name. The unit is part of the name; `user` is -1 if unknown, `limit_s`
/// 0 without a limit. `duration_s` is the true run time, for policies that may see it.
enum class RealColumn : uint8_t { SubmitS, WaitS, AttainedS, EstimateS, LimitS, DurationS };
enum class WholeColumn : uint8_t { Job, Gpus, Priority, User, Starts, Running };

/// Jobs as a policy sees them: a row per job, filled column by column when asked for. Valid during
/// one call of a method.
class JobRows {
 public:
  /// `now`: none for keys that are computed once, whose jobs have not waited.
  JobRows(std::span<const JobState* const> jobs, std::optional<TimeNs> now,
          const Estimates& estimates)
      : jobs_(jobs), now_(now), estimates_(&estimates) {}

  [[nodiscard]] size_t size() const { return jobs_.size(); }
  [[nodiscard]] std::optional<TimeNs> now_ns() const { return now_; }
  [[nodiscard]] const JobState& job(size_t row) const { return *jobs_[row]; }
  [[nodiscard]] std::vector<double> reals(RealColumn column) const;
  [[nodiscard]] std::vector<int32_t> wholes(WholeColumn column) const;
  /// One value of a column.
  [[nodiscard]] double real(RealColumn column, size_t row) const;
  [[nodiscard]] int32_t whole(WholeColumn column, size_t row) const;
  [[nodiscard]] bool sees_durations() const;

 private:
  std::span<const JobState* const> jobs_;
  std::optional<TimeNs> now_;
  const Estimates* estimates_;
};

/// The jobs whose size is to be chosen, a row each: elastic ones, that run or wait, and rigid ones
/// that wait, which have one size. Valid during one call of a method.
class SizeRows {
 public:
  /// `states_steps`: by JobId, or null: no job is elastic. `jobs` are those of the view.
  SizeRows(JobRows jobs, const core::policy::SizeView& view, const std::vector<bool>* states_steps)
      : jobs_(jobs), view_(&view), states_steps_(states_steps) {}

  [[nodiscard]] const JobRows& jobs() const { return jobs_; }
  /// What the job can run on, ascending: of the GPU model that it holds, else of any, at the
  /// greatest speed.
  [[nodiscard]] std::vector<core::model::SpeedLevel> levels(size_t row) const;
  [[nodiscard]] int32_t gpus_min(size_t row) const { return levels(row).front().gpus; }
  [[nodiscard]] int32_t gpus_max(size_t row) const { return levels(row).back().gpus; }
  /// Of a rigid job, its estimate in seconds. Infinite if only the true run time tells, and the
  /// policy may not see that.
  [[nodiscard]] double steps_left(size_t row) const;
  /// On the clock of the trace; infinite: none.
  [[nodiscard]] double deadline_s(size_t row) const;
  /// GPUs that are free, or held by jobs of the rows.
  [[nodiscard]] int32_t total_gpus() const;

 private:
  JobRows jobs_;
  const core::policy::SizeView* view_;
  const std::vector<bool>* states_steps_;
};

/// A job that is to be placed now, and the GPUs that it may use.
struct PlaceView {
  TimeNs now_ns = 0;
  const core::model::FreeGpus* free = nullptr;
  JobId job{};
  const core::model::JobRequest* request = nullptr;
  double estimate_s = 0;
};

/// The methods of one policy in one run. Each throws Fault, or what its language throws.
class Methods {
 public:
  virtual ~Methods() = default;
  /// The keys of the jobs, smaller first; `keys` has the size of `rows`.
  virtual void order(const JobRows& rows, std::span<double> keys) = 0;
  /// The keys of running jobs, on the scale of order(): one yields to waiting jobs with smaller
  /// keys.
  virtual void preempt(const JobRows& rows, std::span<double> keys) = 0;
  /// The rows to start, in this order; those that do not fit keep waiting.
  virtual void select(const JobRows& rows, int32_t free_gpus, std::vector<int64_t>& chosen) = 0;
  /// The ids of the GPUs to use; false: the job is not placed now.
  [[nodiscard]] virtual bool place(const PlaceView& view, std::vector<int64_t>& gpus) = 0;
  /// The number of GPUs of each job, 0: none; `gpus` has the size of the rows.
  virtual void size(const SizeRows& /*rows*/, std::span<double> /*gpus*/) {
    throw Fault("size", "is not there", "give the name of a part instead");
  }
};

/// Which methods a policy has; a part by name stands for the others. `preempt` requires `order`.
struct MethodSet {
  bool order = false;
  bool preempt = false;
  bool select = false;
  bool place = false;
  bool size = false;
};

}  // namespace goban::study::lab
