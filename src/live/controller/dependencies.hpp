// Dependencies between jobs: whether a job is eligible, and which jobs depend on which.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "live/controller/job_book.hpp"

namespace goban::live::controller {

enum class DependencyState : uint8_t {
  Waiting,
  Satisfied,
  Never,  ///< the job can never run
};

struct DependencyVerdict {
  DependencyState state = DependencyState::Satisfied;
  std::string detail{};  ///< Never: why
};

/// Evaluates all dependencies of a job. Jobs that are no longer in the job table are finished.
[[nodiscard]] DependencyVerdict judge_dependencies(const LiveJob& job, const JobBook& book);

/// Index of the jobs that depend on a job.
class Dependents {
 public:
  /// Adds a job under each unfinished job that it depends on.
  void add(const LiveJob& job, const JobBook& book);
  /// Jobs that may depend on this one, descending. Their entry is removed if it is `over`
  /// (finished).
  [[nodiscard]] std::vector<JobId> of(JobId job, bool over);

 private:
  std::map<JobId, std::set<JobId>> waiting_;  ///< by the job they depend on; may contain too many
};

}  // namespace goban::live::controller
