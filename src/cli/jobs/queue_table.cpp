#include "cli/jobs/queue_table.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/counted.hpp"
#include "cli/jobs/job_choice.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/jobs/queue_rows.hpp"

namespace goban::cli {

using nlohmann::json;

namespace {

/// Counts of all jobs, listed or not.
struct Counts {
  int64_t total = 0;
  int64_t running = 0;
  int64_t waiting = 0;
  int64_t gpus = 0;
};

Counts counts_of(const json& answer, const std::vector<JobRow>& jobs) {
  Counts out{.total = static_cast<int64_t>(jobs.size())};
  if (const json& states = part_of(answer, "states"); states.is_object()) {
    const auto sum = [&](std::initializer_list<const char*> names) {
      double all = 0;
      for (const char* name : names) all += number_of(states, name);
      return static_cast<int64_t>(all);
    };
    out.total = static_cast<int64_t>(number_of(answer, "total"));
    out.running = sum({"starting", "running", "suspended", "stopping"});
    out.waiting = sum({"held", "depends", "waiting"});
    out.gpus = static_cast<int64_t>(number_of(answer, "held_gpus"));
    return out;
  }
  for (const JobRow& job : jobs) {  // a list without counts
    out.running += rank_of(job) == 0 ? 1 : 0;
    out.waiting += rank_of(job) == 1 ? 1 : 0;
    if (job.holds_gpus()) out.gpus += job.num_gpus;
  }
  return out;
}

std::string counts_text(const Counts& counts) {
  std::string text = fmt::format("{} running on {}, {} waiting", counts.running,
                                 base::counted(counts.gpus, "GPU"), counts.waiting);
  if (const int64_t over = counts.total - counts.running - counts.waiting; over > 0) {
    text += fmt::format(", {} finished", over);
  }
  return text;
}

}  // namespace

std::string state_text(const JobRow& job) {
  return job.is_over() && !job.result.empty() ? job.result : job.state;
}

base::Result<json> ask_for_queue(serve::api::ApiClient& client, const std::string& query,
                                 int64_t limit) {
  constexpr int64_t kPage = 10'000;
  const int64_t page = limit == 0 ? kPage : std::min(limit, kPage);
  auto answer = get_json(client, fmt::format("/v1/jobs?first=running&limit={}&{}", page, query));
  const bool is_complete =
      !answer || page == limit ||
      list_of(*answer, "jobs").size() >= static_cast<size_t>(number_of(*answer, "total"));
  if (is_complete) return answer;
  auto all = list_jobs(client, query);
  if (!all) return all;
  (*answer)["jobs"] = std::move(*all);
  return answer;
}

std::string queue_table(const json& answer, const QueueView& view) {
  const std::vector<JobRow> jobs = job_rows(answer);
  if (jobs.empty()) return "no jobs\n";
  const Counts counts = counts_of(answer, jobs);
  std::vector<QueueRow> rows = queue_rows(jobs, view);
  if (view.rows_max > 0 && rows.size() > view.rows_max) rows.resize(view.rows_max);
  int64_t more = counts.total;
  for (const QueueRow& row : rows) more -= row.num_jobs;
  return rows_table(rows, view) +
         (more > 0 ? fmt::format("and {} more (--limit 0 lists all)\n", more) : std::string{}) +
         counts_text(counts) + "\n";
}

}  // namespace goban::cli
