#include "cli/jobs/job_choice.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/http/http_client.hpp"
#include "base/number.hpp"
#include "cli/jobs/live_client.hpp"
#include "live/job/request_values.hpp"
#include "serve/api/job_name.hpp"

namespace goban::cli {

using base::Result;

namespace {

/// "7", "7_[0-3]" or "@12", parsed.
struct JobName {
  std::string engine_id{};  ///< in the cluster's own queue; nothing else is set
  int64_t number = 0;
  std::vector<int32_t> tasks{};  ///< empty: the job, or all tasks of the array
};

Result<JobName> parse_name(const std::string& text) {
  const auto wrong = [&] {
    return base::usage_error(fmt::format("'{}' is not a valid job number", text),
                             "write 7 for a job, 7_2 or 7_[0-3] for tasks of an array, @12 for job "
                             "12 of the cluster's own queue");
  };
  JobName name;
  if (text.starts_with('@')) {
    name.engine_id = text.substr(1);
    const bool is_id =
        !name.engine_id.empty() && std::ranges::all_of(name.engine_id, [](unsigned char c) {
          return std::isalnum(c) != 0 ||
                 std::string_view("_-./").find(static_cast<char>(c)) != std::string_view::npos;
        });
    return is_id ? Result<JobName>(std::move(name)) : wrong();
  }
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
  if (!name.engine_id.empty()) {
    return job.engine_id == name.engine_id || serve::api::is_task_of(job.engine_id, name.engine_id);
  }
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

base::Error unknown_job(const std::string& name) {
  return {.code = base::ErrorCode::Failed,
          .message = fmt::format("unknown job {}; goban queue lists the jobs", name),
          .place = {},
          .remedy = {}};
}

uint32_t array_of(const JobRow& job) {
  const size_t split = job.id.find('_');
  if (split == std::string::npos) return 0;
  const int64_t array = base::parse_int(std::string_view(job.id).substr(0, split)).value_or(0);
  return array > 0 && array <= UINT32_MAX ? static_cast<uint32_t>(array) : 0;
}

void add_job_choice(Command& command, JobChoice& choice, const std::string& verb) {
  command.add_option("JOB", choice.names,
                     "Jobs: 7 for a job or a whole array, 7_2 or 7_[0-3] for tasks of array 7, @12 "
                     "for job 12 of a cluster's own queue");
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
    const bool is_array =
        name->engine_id.empty() && std::any_of(jobs.begin(), jobs.end(), [&](const JobRow& job) {
          return task_of(job, name->number) >= 0;
        });
    bool found = false;
    for (const JobRow& job : jobs) {
      if (!means(*name, job, is_array)) continue;
      chosen.insert(job.job);
      found = true;
    }
    if (!found) out.unknown.push_back(text);
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

namespace {

/// What to ask for so that the rows of the named jobs come back.
struct AskedNames {
  std::vector<std::string> names{};
  std::set<int64_t> whole{};  ///< arrays of which all tasks come back
};

Result<AskedNames> asked_names(const std::vector<std::string>& texts) {
  constexpr size_t kTasksMax = 100;  // more tasks come with their array
  AskedNames out;
  for (const std::string& text : texts) {
    const auto name = parse_name(text);
    if (!name) return base::failure(name.error());
    if (!name->engine_id.empty()) {
      out.names.push_back(base::http::url_part(text));
      continue;
    }
    if (name->tasks.empty() || name->tasks.size() > kTasksMax) {
      out.names.push_back(fmt::format("{}", name->number));
      out.whole.insert(name->number);
      continue;
    }
    for (const int32_t task : name->tasks) {
      out.names.push_back(fmt::format("{}_{}", name->number, task));
    }
  }
  return out;
}

/// Adds the jobs of these names, in requests of bounded length. `read`: the jobs of a query.
template <typename Read>
base::Status add_named(const std::vector<std::string>& names, const Read& read,
                       std::map<uint32_t, JobRow>& out) {
  constexpr size_t kNamesMax = 200;
  for (size_t i = 0; i < names.size(); i += kNamesMax) {
    const auto end =
        names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), i + kNamesMax));
    const auto begin = names.begin() + static_cast<std::ptrdiff_t>(i);
    const Result<nlohmann::json> jobs =
        read(fmt::format("all=1&job={}", fmt::join(begin, end, ",")));
    if (!jobs) return base::failure(jobs.error());
    for (JobRow& row : job_rows(*jobs)) out.emplace(row.job, std::move(row));
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> names_to_ask(const std::vector<std::string>& names) {
  auto asked = asked_names(names);
  if (!asked) return base::failure(asked.error());
  return std::move(asked->names);
}

Result<nlohmann::json> list_jobs(serve::api::ApiClient& client, const std::string& query) {
  constexpr size_t kPage = 10'000;
  nlohmann::json all = nlohmann::json::array();
  uint32_t after = 0;
  while (true) {
    auto page = get_json(client, fmt::format("/v1/jobs?limit={}&after={}{}{}", kPage, after,
                                             query.empty() ? "" : "&", query));
    if (!page) return page;
    nlohmann::json jobs = nlohmann::json::array();
    if (page->is_object() && page->contains("jobs")) {
      jobs = std::move((*page)["jobs"]);
    } else {
      jobs = list_of(*page, "jobs");
    }
    const size_t count = jobs.size();
    const auto last = count == 0 ? 0 : static_cast<uint32_t>(number_of(jobs.back(), "job"));
    for (nlohmann::json& job : jobs) all.push_back(std::move(job));
    if (count < kPage || last <= after) return all;
    after = last;
  }
}

Result<ChosenJobs> ask_for_jobs(serve::api::ApiClient& client, const JobChoice& choice) {
  const auto named = asked_names(choice.names);
  if (!named) return base::failure(named.error());
  JobChoice asked = choice;
  std::map<uint32_t, JobRow> rows;
  const auto read = [&client](const std::string& query) { return list_jobs(client, query); };
  if (auto status = add_named(named->names, read, rows); !status) {
    return base::failure(status.error());
  }
  const bool sweeps = !choice.user.empty() || choice.all;
  if (sweeps) {
    // Without a user the daemon lists the jobs of the caller.
    std::string query = kUnfinished;
    if (choice.user.empty()) {
      query += "&all=1";
    } else if (choice.user != "me") {
      query += "&user=" + base::http::url_part(choice.user);
    }
    const auto jobs = list_jobs(client, query);
    if (!jobs) return base::failure(jobs.error());
    for (JobRow& row : job_rows(*jobs)) {
      if (choice.user == "me") asked.user = row.user;
      rows.insert_or_assign(row.job, std::move(row));
    }
  }
  std::vector<JobRow> jobs;
  for (auto& [number, row] : rows) jobs.push_back(std::move(row));
  auto chosen = choose_jobs(jobs, asked);
  if (!chosen) return chosen;
  std::set<int64_t> known = named->whole;
  for (const JobRow& job : chosen->jobs) {
    if (sweeps && (asked.user.empty() || job.user == asked.user)) known.insert(array_of(job));
  }
  // Of other arrays, only the named tasks are known.
  std::erase_if(chosen->arrays, [&](uint32_t array) { return !known.contains(array); });
  return chosen;
}

base::Status add_past_jobs(serve::api::ApiClient& client, const JobChoice& choice,
                           ChosenJobs& chosen) {
  JobChoice asked{.names = chosen.unknown};
  for (const std::string& text : choice.names) {
    const auto name = parse_name(text);
    const bool is_part = name && name->tasks.size() != 1 &&
                         std::any_of(chosen.jobs.begin(), chosen.jobs.end(), [&](const auto& job) {
                           return array_of(job) == name->number;
                         });
    if (is_part) asked.names.push_back(text);
  }
  if (asked.names.empty()) return {};
  const auto named = asked_names(asked.names);
  if (!named) return base::failure(named.error());
  const auto read = [&client](const std::string& query) {
    return get_json(client, "/v1/jobs?past=1&limit=10000&" + query);
  };
  std::map<uint32_t, JobRow> rows;
  if (auto status = add_named(named->names, read, rows); !status) {
    constexpr int kBadRequest = 400;  // a daemon of an older release
    return client.last_status() == kBadRequest ? base::Status{} : status;
  }
  std::vector<JobRow> past;
  for (auto& [number, row] : rows) past.push_back(std::move(row));
  const auto found = choose_jobs(past, asked);
  if (!found) return base::failure(found.error());
  std::erase_if(chosen.unknown, [&](const std::string& name) {
    return std::find(found->unknown.begin(), found->unknown.end(), name) == found->unknown.end();
  });
  rows.clear();
  for (const JobRow& job : chosen.jobs) rows.emplace(job.job, job);
  for (const JobRow& job : found->jobs) rows.emplace(job.job, job);
  chosen.jobs.clear();
  for (auto& [number, row] : rows) chosen.jobs.push_back(std::move(row));
  return {};
}

}  // namespace goban::cli
