#include "cli/jobs/job_choice.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/number.hpp"
#include "cli/jobs/live_client.hpp"
#include "live/job/request_values.hpp"

namespace goban::cli {

using base::Result;

namespace {

/// "7" or "7_[0-3]", parsed.
struct JobName {
  int64_t number = 0;
  std::vector<int32_t> tasks{};  ///< empty: the job, or all tasks of the array
};

Result<JobName> parse_name(const std::string& text) {
  const auto wrong = [&] {
    return base::usage_error(fmt::format("'{}' is not a valid job number", text),
                             "write 7 for a job, 7_2 or 7_[0-3] for tasks of an array");
  };
  JobName name;
  const size_t split = text.find('_');
  const auto number = base::parse_int(std::string_view(text).substr(0, split));
  if (!number || *number < 1) return wrong();
  name.number = *number;
  if (split == std::string::npos) return name;
  std::string tasks = text.substr(split + 1);
  if (tasks.starts_with('[') && tasks.ends_with(']')) tasks = tasks.substr(1, tasks.size() - 2);
  auto array = live::job::parse_array(tasks);
  if (!array) return wrong();
  name.tasks = std::move(array->tasks);
  return name;
}

/// The task index of a job within `array`: 2 for "7_2" and array 7; -1 if it is not a task of it.
int64_t task_of(const JobRow& job, int64_t array) {
  if (array_of(job) != array) return -1;
  const std::string_view id = job.id;
  return base::parse_int(id.substr(id.find('_') + 1)).value_or(-1);
}

bool means(const JobName& name, const JobRow& job, bool is_array) {
  const int64_t task = task_of(job, name.number);
  if (!name.tasks.empty()) {
    return task >= 0 && std::binary_search(name.tasks.begin(), name.tasks.end(), task);
  }
  return is_array ? task >= 0 : job.job == name.number;
}

std::vector<uint32_t> whole_arrays(const std::vector<JobRow>& jobs,
                                   const std::vector<JobRow>& chosen) {
  std::map<uint32_t, int64_t> missing;
  const auto count = [&](const std::vector<JobRow>& rows, int64_t step) {
    for (const JobRow& job : rows) {
      const uint32_t array = array_of(job);
      if (array != 0 && !job.is_over()) missing[array] += step;
    }
  };
  count(jobs, 1);
  count(chosen, -1);
  std::vector<uint32_t> out;
  for (const auto& [array, tasks] : missing) {
    if (tasks == 0) out.push_back(array);
  }
  return out;
}

}  // namespace

uint32_t array_of(const JobRow& job) {
  const size_t split = job.id.find('_');
  if (split == std::string::npos) return 0;
  const int64_t array = base::parse_int(std::string_view(job.id).substr(0, split)).value_or(0);
  return array > 0 && array <= UINT32_MAX ? static_cast<uint32_t>(array) : 0;
}

void add_job_choice(Command& command, JobChoice& choice, const std::string& verb) {
  command.add_option("JOB", choice.names,
                     "Jobs: 7 for a job or a whole array, 7_2 or 7_[0-3] for tasks of array 7");
  command.add_option("-u,--user", choice.user, verb + " all jobs of this user (me: your own)")
      ->type_name("USER");
  command.add_flag("--all", choice.all, verb + " all users' jobs, subject to permission");
}

Result<ChosenJobs> choose_jobs(const std::vector<JobRow>& jobs, const JobChoice& choice) {
  if (choice.names.empty() && choice.user.empty() && !choice.all) {
    return base::usage_error("no job is given", "give job numbers, --user me, or --all");
  }
  ChosenJobs out;
  std::set<uint32_t> chosen;
  for (const std::string& text : choice.names) {
    const auto name = parse_name(text);
    if (!name) return base::failure(name.error());
    const bool is_array = std::any_of(jobs.begin(), jobs.end(), [&](const JobRow& job) {
      return task_of(job, name->number) >= 0;
    });
    bool found = false;
    for (const JobRow& job : jobs) {
      if (!means(*name, job, is_array)) continue;
      chosen.insert(job.job);
      found = true;
    }
    if (!found)
      out.problems.push_back(fmt::format("unknown job {}; goban queue lists the jobs", text));
  }
  const bool by_user = !choice.user.empty();
  for (const JobRow& job : jobs) {
    const bool swept =
        !job.is_over() && ((by_user && job.user == choice.user) || (choice.all && !by_user));
    if (swept || chosen.contains(job.job)) out.jobs.push_back(job);
  }
  out.arrays = whole_arrays(jobs, out.jobs);
  return out;
}

Result<nlohmann::json> list_jobs(serve::api::ApiClient& client, const std::string& query) {
  constexpr size_t kPage = 10'000;
  nlohmann::json all = nlohmann::json::array();
  uint32_t after = 0;
  while (true) {
    auto page = get_json(client, fmt::format("/v1/jobs?limit={}&after={}{}{}", kPage, after,
                                             query.empty() ? "" : "&", query));
    if (!page) return page;
    const nlohmann::json& jobs = list_of(*page, "jobs");
    for (const nlohmann::json& job : jobs) all.push_back(job);
    if (jobs.size() < kPage) return all;
    const auto last = static_cast<uint32_t>(number_of(jobs.back(), "job"));
    if (last <= after) return all;
    after = last;
  }
}

Result<ChosenJobs> ask_for_jobs(serve::api::ApiClient& client, const JobChoice& choice) {
  JobChoice asked = choice;
  const bool mine = choice.user == "me" && choice.names.empty();
  if (mine) {
    // Without a user the daemon lists the jobs of the caller.
    asked.user.clear();
    asked.all = true;
  }
  const auto jobs = list_jobs(client, mine ? kUnfinished : "all=1");
  if (!jobs) return base::failure(jobs.error());
  return choose_jobs(job_rows(*jobs), asked);
}

}  // namespace goban::cli
