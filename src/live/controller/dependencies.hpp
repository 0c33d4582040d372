// Dependencies between jobs: whether a job may go, and who waits for whom.
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

/// Looks at all dependencies of a job. What the book has forgotten is over.
[[nodiscard]] DependencyVerdict judge_dependencies(const LiveJob& job, const JobBook& book);

/// Finds the jobs that wait for a job.
class Dependents {
 public:
  /// A job that waits for others is found by them.
  void add(const LiveJob& job, const JobBook& book);
  /// Who may wait for this job, descending. They are forgotten if it is `over`.
  [[nodiscard]] std::vector<JobId> of(JobId job, bool over);

 private:
  std::map<JobId, std::set<JobId>> waiting_;  ///< by what they wait for; may name too many
};

}  // namespace goban::live::controller
