// The jobs that a command applies to: "3 5 7_2", "7_[0-3]", an array by its number, --user, --all.
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

/// Adds the arguments JOB..., --user and --all; `verb` begins their help texts.
void add_job_choice(Command& command, JobChoice& choice, const std::string& verb);

struct ChosenJobs {
  std::vector<JobRow> jobs{};           ///< without duplicates, ascending by number
  std::vector<uint32_t> arrays{};       ///< arrays whose unfinished tasks are all in `jobs`
  std::vector<std::string> problems{};  ///< one message per name that matches no job
};

/// Number of the array that the job is a task of; 0 if it is not a task.
[[nodiscard]] uint32_t array_of(const JobRow& job);

/// Selects from `jobs`; the number of an array selects all its tasks. Errors: Usage if a name is
/// invalid or nothing is chosen.
[[nodiscard]] base::Result<ChosenJobs> choose_jobs(const std::vector<JobRow>& jobs,
                                                   const JobChoice& choice);
/// The same for the daemon's jobs. "me" is the user as the daemon identifies the caller.
[[nodiscard]] base::Result<ChosenJobs> ask_for_jobs(serve::api::ApiClient& client,
                                                    const JobChoice& choice);

/// All jobs that match a query of GET /v1/jobs ("all=1", "user=me"), read page by page.
[[nodiscard]] base::Result<nlohmann::json> list_jobs(serve::api::ApiClient& client,
                                                     const std::string& query);
/// `?state=` of the unfinished jobs.
inline constexpr const char* kUnfinished = "state=held,depends,waiting,starting,running,stopping";

}  // namespace goban::cli
