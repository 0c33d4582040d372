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
  std::vector<JobRow> jobs{};          ///< without duplicates, ascending by number
  std::vector<uint32_t> arrays{};      ///< arrays whose unfinished tasks are all in `jobs`
  std::vector<std::string> unknown{};  ///< names that match no job
};
/// The error for a name that matches no job.
[[nodiscard]] base::Error unknown_job(const std::string& name);

/// Number of the array that the job is a task of; 0 if it is not a task.
[[nodiscard]] uint32_t array_of(const JobRow& job);

/// Selects from `jobs`; the number of an array selects all its tasks. Errors: Usage if a name is
/// invalid or nothing is chosen.
[[nodiscard]] base::Result<ChosenJobs> choose_jobs(const std::vector<JobRow>& jobs,
                                                   const JobChoice& choice);
/// The same for the daemon's jobs, of which it asks only for those that may be meant. "me" is the
/// user as the daemon identifies the caller.
[[nodiscard]] base::Result<ChosenJobs> ask_for_jobs(serve::api::ApiClient& client,
                                                    const JobChoice& choice);

/// The values of `?job=` that name these jobs ("7_[0-2]" is 7_0, 7_1, 7_2); many tasks of an array
/// are the whole array, so choose_jobs() has to select from the answer. Errors: Usage.
[[nodiscard]] base::Result<std::vector<std::string>> names_to_ask(
    const std::vector<std::string>& names);

/// Adds what the daemon finds in its history only: jobs of the unknown names, and tasks of named
/// arrays that ended long ago.
[[nodiscard]] base::Status add_past_jobs(serve::api::ApiClient& client, const JobChoice& choice,
                                         ChosenJobs& chosen);

/// All jobs that match a query of GET /v1/jobs ("all=1", "user=me"), read page by page.
[[nodiscard]] base::Result<nlohmann::json> list_jobs(serve::api::ApiClient& client,
                                                     const std::string& query);
/// `?state=` of the unfinished jobs.
inline constexpr const char* kUnfinished =
    "state=held,depends,waiting,starting,running,suspended,stopping";

}  // namespace goban::cli
