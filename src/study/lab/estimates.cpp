#include "study/lab/estimates.hpp"

#include <algorithm>

namespace goban::study::lab {

using base::to_seconds;
using core::model::ActionKind;

Estimates::Estimates(const core::model::JobHistory& history, bool oracle, simulator::Observer* next)
    : history_(&history), next_(next), oracle_(oracle) {
  learns_ = !std::ranges::all_of(
      history.jobs, [](const core::model::Job& job) { return job.request.walltime_limit_ns > 0; });
  if (!learns_) return;
  fixed_s_.assign(history.jobs.size(), -1);
  held_.resize(history.jobs.size());
  by_user_.resize(history.users.size());
}

double Estimates::of(JobId job) const {
  if (learns_ && fixed_s_[job.index()] >= 0) return fixed_s_[job.index()];
  const core::model::JobRequest request = history_->jobs[job.index()].request;
  if (request.walltime_limit_ns > 0) return to_seconds(request.walltime_limit_ns);
  float& fixed = fixed_s_[job.index()];
  const bool known = request.user.valid() && request.user.index() < by_user_.size();
  const Mean own = known ? by_user_[request.user.index()] : Mean{};
  const Mean& mean = own.jobs > 0 ? own : all_;
  fixed =
      static_cast<float>(mean.jobs > 0 ? mean.sum_s / static_cast<double>(mean.jobs) : kUnknown_s);
  return fixed;
}

double Estimates::total_work_s(JobId job) const {
  return oracle_ ? truth_->total_work_s(job) : of(job);
}

double Estimates::work_left_s(JobId job, TimeNs now) const {
  if (oracle_) return truth_->work_left_s(job, now);
  double held_s = 0;
  if (learns_) {
    const Held& held = held_[job.index()];
    held_s = to_seconds(held.before_ns + (held.start_ns >= 0 ? now - held.start_ns : 0));
  }
  return std::max(total_work_s(job) - held_s, 0.0);
}

void Estimates::decided(const core::scheduler::Decision& decision,
                        const core::scheduler::Core& core) {
  if (next_ != nullptr) next_->decided(decision, core);
}

void Estimates::acted(TimeNs now, const core::model::Action& action,
                      const core::scheduler::Core& core) {
  if (next_ != nullptr) next_->acted(now, action, core);
  if (!learns_ || !action.job.valid() || action.job.index() >= held_.size()) return;
  Held& held = held_[action.job.index()];
  if (action.kind == ActionKind::Start) {
    held.start_ns = now;
  } else if (action.kind == ActionKind::Preempt || action.kind == ActionKind::Abandon) {
    held.before_ns += now - held.start_ns;
    held.start_ns = -1;
  }
}

void Estimates::awake(TimeNs now, core::model::NodeId node) {
  if (next_ != nullptr) next_->awake(now, node);
}

void Estimates::job_ended(TimeNs now, JobId job, simulator::JobEnd end) {
  if (next_ != nullptr) next_->job_ended(now, job, end);
  if (!learns_ || job.index() >= held_.size()) return;
  const Held& held = held_[job.index()];
  const double run_s = to_seconds(held.before_ns + (held.start_ns >= 0 ? now - held.start_ns : 0));
  const core::model::UserId user = history_->jobs[job.index()].request.user;
  const auto add = [run_s](Mean& mean) {
    mean.sum_s += run_s;
    ++mean.jobs;
  };
  add(all_);
  if (user.valid() && user.index() < by_user_.size()) add(by_user_[user.index()]);
}

void Estimates::ended(TimeNs now) {
  if (next_ != nullptr) next_->ended(now);
}

}  // namespace goban::study::lab
