#include "cli/jobs/queue_table.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "cli/shell/text_table.hpp"

namespace goban::cli {
namespace {

int rank_of(const JobRow& job) {
  if (job.holds_gpus()) return 0;
  return job.is_over() ? 2 : 1;
}

/// The GPUs of a job, or its position in the queue.
std::string where_or_position(const JobRow& job) {
  if (job.holds_gpus()) return job.where;
  return job.position > 0 ? fmt::format("no. {} in the queue", job.position) : "";
}

std::string counts_text(const std::vector<JobRow>& jobs) {
  int64_t gpus = 0;
  size_t running = 0;
  size_t waiting = 0;
  for (const JobRow& job : jobs) {
    running += rank_of(job) == 0 ? 1 : 0;
    waiting += rank_of(job) == 1 ? 1 : 0;
    if (job.holds_gpus()) gpus += job.num_gpus;
  }
  std::string text = fmt::format("{} running on {} GPU{}, {} waiting", running, gpus,
                                 gpus == 1 ? "" : "s", waiting);
  if (const size_t over = jobs.size() - running - waiting; over > 0) {
    text += fmt::format(", {} finished", over);
  }
  return text;
}

}  // namespace

std::string state_text(const JobRow& job) {
  return job.is_over() && !job.result.empty() ? job.result : job.state;
}

std::string queue_table(std::vector<JobRow> jobs, double now_s) {
  if (jobs.empty()) return "no jobs\n";
  std::stable_sort(jobs.begin(), jobs.end(), [](const JobRow& a, const JobRow& b) {
    return std::pair(rank_of(a), a.job) < std::pair(rank_of(b), b.job);
  });
  TextTable table({{"JOB", true, 20},
                   {"NAME", false, 24},
                   {"USER", false, 16},
                   {"STATE", false, 16},
                   {"GPUS", true, 8},
                   {"RAN", true, 16},
                   {"LIMIT", true, 16},
                   {"SUBMITTED", false, 16},
                   {"WHERE", false, 40}});
  for (const JobRow& job : jobs) {
    const double ran_s = job.ran_s(now_s);
    table.add({job.id, job.name.empty() ? "-" : job.name, job.user, state_text(job),
               fmt::format("{}", job.num_gpus), ran_s > 0 ? clock_text(ran_s) : "-",
               job.walltime_s > 0 ? clock_text(job.walltime_s) : "-",
               moment_text(job.submit_s, now_s), where_or_position(job)});
  }
  return table.text() + counts_text(jobs) + "\n";
}

}  // namespace goban::cli
