#include "live/controller/dependencies.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace goban::live::controller {

using job::DependencyKind;

DependencyVerdict judge_dependencies(const LiveJob& job, const JobBook& book) {
  DependencyVerdict verdict;
  for (const job::Dependency& each : job.spec.dependencies) {
    if (each.kind == DependencyKind::Singleton) continue;
    const LiveJob* other = book.find(each.job);
    // Removed while this job waited: had it not ended as required, the wait would have ended.
    if (other == nullptr && job.stage == JobStage::Depends) continue;
    const bool needs_result =
        each.kind == DependencyKind::AfterOk || each.kind == DependencyKind::AfterNotOk;
    if (other == nullptr && needs_result) {
      return {DependencyState::Never,
              fmt::format("the outcome of job {} is no longer known", job::job_number(each.job))};
    }
    const bool over = other == nullptr || is_settled(*other);
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

void NamedJobs::add(const LiveJob& job) {
  jobs_[{job::key_of(job.spec.owner), job.spec.name}].insert(job.job);
}

void NamedJobs::remove(const LiveJob& job) {
  const auto found = jobs_.find({job::key_of(job.spec.owner), job.spec.name});
  if (found == jobs_.end()) return;
  found->second.erase(job.job);
  if (found->second.empty()) jobs_.erase(found);
}

bool NamedJobs::blocks(const LiveJob& job, const JobBook& book) const {
  const bool alone = std::ranges::any_of(job.spec.dependencies, [](const job::Dependency& each) {
    return each.kind == DependencyKind::Singleton;
  });
  const auto found = jobs_.find({job::key_of(job.spec.owner), job.spec.name});
  if (!alone || found == jobs_.end()) return false;
  return std::ranges::any_of(found->second, [&](JobId id) {
    if (id < job.job) return true;
    return id != job.job && holds_gpus(book.jobs.at(id).stage);
  });
}

JobId NamedJobs::first_like(const LiveJob& job) const {
  const auto found = jobs_.find({job::key_of(job.spec.owner), job.spec.name});
  return found == jobs_.end() ? JobId{} : *found->second.begin();
}

void Dependents::add(const LiveJob& job, const JobBook& book) {
  for (const job::Dependency& each : job.spec.dependencies) {
    const LiveJob* other = book.find(each.job);
    if (other != nullptr && !is_settled(*other)) waiting_[each.job].insert(job.job);
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
