// Small histories for tests.
#pragma once

#include <string>
#include <vector>

#include "core/model/job_history.hpp"

namespace goban::study::lab {

using core::model::JobHistory;

/// Seconds of submission and work, and what matters besides.
struct Sample {
  int submit_s = 0;
  int work_s = 0;
  int gpus = 1;
  int limit_s = 0;
  uint32_t user = 0;
};

inline JobHistory history_of(const std::vector<Sample>& samples) {
  JobHistory history;
  for (const Sample& each : samples) {
    core::model::Job job;
    job.request.submit_ns = each.submit_s * base::kSecond;
    job.request.walltime_limit_ns = each.limit_s * base::kSecond;
    job.request.num_gpus = each.gpus;
    while (history.users.size() <= each.user) {
      history.users.intern(std::string(1, static_cast<char>('a' + history.users.size())));
    }
    job.request.user = core::model::UserId(each.user);
    job.work_s = each.work_s;
    history.job_names.add(std::to_string(history.jobs.size()));
    history.jobs.push_back(job);
  }
  return history;
}

}  // namespace goban::study::lab
