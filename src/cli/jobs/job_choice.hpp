// Which jobs a command means: "3 5 7_2", "7_[0-3]", a whole array by its number, --user, --all.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/jobs/job_row.hpp"
#include "cli/shell/options.hpp"
#include "serve/api/api_client.hpp"

namespace goban::cli {

struct JobChoice {
  std::vector<std::string> names{};
  std::string user{};
  bool all = false;
};

/// Adds the arguments JOB..., --user and --all; `verb` stands in their help.
void add_job_choice(Command& command, JobChoice& choice, const std::string& verb);

struct ChosenJobs {
  std::vector<JobRow> jobs{};           ///< each once, by number
  std::vector<uint32_t> arrays{};       ///< all their tasks that are not over are among the jobs
  std::vector<std::string> problems{};  ///< names that mean no job, a sentence each
};

/// Number of the array that the job is a task of; 0 = of none.
[[nodiscard]] uint32_t array_of(const JobRow& job);

/// Of the jobs there are: the number of an array means all its tasks. Errors: Usage if a name is
/// none, or nothing is chosen.
[[nodiscard]] base::Result<ChosenJobs> choose_jobs(const std::vector<JobRow>& jobs,
                                                   const JobChoice& choice);
/// The same, of the daemon's jobs. "me" is who the daemon takes us for.
[[nodiscard]] base::Result<ChosenJobs> ask_for_jobs(serve::api::ApiClient& client,
                                                    const JobChoice& choice);

/// All jobs that a query of GET /v1/jobs holds ("all=1", "user=me"), page by page.
[[nodiscard]] base::Result<nlohmann::json> list_jobs(serve::api::ApiClient& client,
                                                     const std::string& query);
/// `?state=` of the jobs that are not over.
inline constexpr const char* kUnfinished = "state=held,depends,waiting,starting,running,stopping";

}  // namespace goban::cli
