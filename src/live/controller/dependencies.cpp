#include "live/controller/dependencies.hpp"

#include <fmt/format.h>

namespace goban::live::controller {

using job::DependencyKind;

DependencyVerdict judge_dependencies(const LiveJob& job, const JobBook& book) {
  DependencyVerdict verdict;
  for (const job::Dependency& each : job.spec.dependencies) {
    const LiveJob* other = book.find(each.job);
    // Removed while this job waited: had it not ended as required, the wait would have ended.
    if (other == nullptr && job.stage == JobStage::Depends) continue;
    const bool needs_result =
        each.kind == DependencyKind::AfterOk || each.kind == DependencyKind::AfterNotOk;
    if (other == nullptr && needs_result) {
      return {DependencyState::Never,
              fmt::format("the outcome of job {} is no longer known", job::job_number(each.job))};
    }
    const bool over = other == nullptr || other->stage == JobStage::Done;
    const bool met = each.kind == DependencyKind::After ? over || other->first_start_ns >= 0 : over;
    if (!met) verdict.state = DependencyState::Waiting;
    if (!over || !needs_result) continue;
    const bool completed = other->result == JobResult::Completed;
    if (completed == (each.kind == DependencyKind::AfterOk)) continue;
    return {DependencyState::Never, fmt::format("job {} {}", job::job_number(each.job),
                                                completed ? "completed" : "did not complete")};
  }
  return verdict;
}

void Dependents::add(const LiveJob& job, const JobBook& book) {
  for (const job::Dependency& each : job.spec.dependencies) {
    const LiveJob* other = book.find(each.job);
    if (other != nullptr && other->stage != JobStage::Done) waiting_[each.job].insert(job.job);
  }
}

std::vector<JobId> Dependents::of(JobId job, bool over) {
  const auto found = waiting_.find(job);
  if (found == waiting_.end()) return {};
  std::vector<JobId> jobs(found->second.rbegin(), found->second.rend());
  if (over) waiting_.erase(found);
  return jobs;
}

}  // namespace goban::live::controller
