// Dependencies between jobs: whether a job is eligible, and which jobs depend on which.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
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

/// Evaluates all dependencies of a job on named jobs (see NamedJobs for Singleton). Jobs that are
/// no longer in the job table are finished.
[[nodiscard]] DependencyVerdict judge_dependencies(const LiveJob& job, const JobBook& book);

/// The unfinished jobs of each user by their name, for DependencyKind::Singleton.
class NamedJobs {
 public:
  void add(const LiveJob& job);
  void remove(const LiveJob& job);
  /// Whether the job is a singleton and must wait: as in Slurm, for all earlier unfinished jobs of
  /// its name and user, and for later ones that have GPUs.
  [[nodiscard]] bool blocks(const LiveJob& job, const JobBook& book) const;
  /// The earliest unfinished job of the same name and user; invalid if there is none.
  [[nodiscard]] JobId first_like(const LiveJob& job) const;

 private:
  std::map<std::pair<job::OwnerKey, std::string>, std::set<JobId>> jobs_;  ///< by owner and name
};

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
