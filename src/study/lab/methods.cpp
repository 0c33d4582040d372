#include "study/lab/methods.hpp"

#include <algorithm>
#include <limits>

#include "study/lab/estimates.hpp"

namespace goban::study::lab {

using base::to_seconds;

double JobRows::real(RealColumn column, size_t row) const {
  const JobState& job = *jobs_[row];
  switch (column) {
    case RealColumn::SubmitS:
      return to_seconds(job.request.submit_ns);
    case RealColumn::WaitS:
      return now_ && job.phase == core::model::JobPhase::Waiting
                 ? to_seconds(*now_ - job.waiting_since_ns)
                 : 0;
    case RealColumn::AttainedS:
      return now_ ? to_seconds(job.attained_ns(*now_)) : 0;
    case RealColumn::EstimateS:
      return estimates_->of(job.job);
    case RealColumn::LimitS:
      return to_seconds(job.request.walltime_limit_ns);
    case RealColumn::DurationS:
      return estimates_->true_s(job.job);
  }
  return 0;
}

int32_t JobRows::whole(WholeColumn column, size_t row) const {
  const JobState& job = *jobs_[row];
  switch (column) {
    case WholeColumn::Job:
      return static_cast<int32_t>(job.job.value);
    case WholeColumn::Gpus:
      return job.request.num_gpus;
    case WholeColumn::Priority:
      return job.request.priority;
    case WholeColumn::User:
      return job.request.user.valid() ? static_cast<int32_t>(job.request.user.value) : -1;
    case WholeColumn::Starts:
      return static_cast<int32_t>(job.starts);
    case WholeColumn::Running:
      return job.phase == core::model::JobPhase::Running ? 1 : 0;
  }
  return 0;
}

std::vector<double> JobRows::reals(RealColumn column) const {
  std::vector<double> out(size());
  for (size_t row = 0; row < out.size(); ++row) out[row] = real(column, row);
  return out;
}

std::vector<int32_t> JobRows::wholes(WholeColumn column) const {
  std::vector<int32_t> out(size());
  for (size_t row = 0; row < out.size(); ++row) out[row] = whole(column, row);
  return out;
}

bool JobRows::sees_durations() const { return estimates_->sees_durations(); }

std::vector<core::model::SpeedLevel> SizeRows::levels(size_t row) const {
  const core::policy::SizeJob& job = view_->jobs[row];
  if (job.runs) return job.levels[job.job->gpu_model];
  std::vector<core::model::SpeedLevel> out;
  for (const auto& of_model : job.levels) {
    for (const core::model::SpeedLevel& level : of_model) {
      const auto at = std::ranges::lower_bound(out, level.gpus, {}, &core::model::SpeedLevel::gpus);
      if (at == out.end() || at->gpus != level.gpus) {
        out.insert(at, level);
      } else if (at->steps_per_s < level.steps_per_s) {
        *at = level;
      }
    }
  }
  return out;
}

double SizeRows::steps_left(size_t row) const {
  const core::policy::SizeJob& job = view_->jobs[row];
  const bool stated =
      !job.job->elastic || (states_steps_ != nullptr && (*states_steps_)[job.job->job.index()]);
  if (stated || jobs_.sees_durations()) return job.steps_left;
  return std::numeric_limits<double>::infinity();
}

double SizeRows::deadline_s(size_t row) const {
  const TimeNs at = view_->jobs[row].deadline_ns;
  return at == base::kNever ? std::numeric_limits<double>::infinity() : to_seconds(at);
}

int32_t SizeRows::total_gpus() const {
  int32_t sum = 0;
  for (const int32_t gpus : view_->gpus) sum += gpus;
  return sum;
}

}  // namespace goban::study::lab
