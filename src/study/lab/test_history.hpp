// Small histories for tests.
#pragma once

#include <string>
#include <vector>

#include "core/model/job_history.hpp"
#include "study/lab/fitted.hpp"

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

/// Jobs of one model, each of 1 to 4 GPUs.
inline JobHistory elastic_history(const std::vector<Sample>& samples) {
  JobHistory history = history_of(samples);
  const core::model::ModelId model(history.models.intern("net"));
  history.training.resize(history.jobs.size());
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    core::model::Job job = history.jobs[i];
    job.request.model = model;
    history.jobs.put(i, job);
    history.training[i].gpus_min = 1;
    history.training[i].gpus_max = 4;
  }
  return history;
}

/// The speeds of that model: 2 steps a second on one GPU, and 6 on four.
inline const Rates kRates{.rows = {{.model = "net", .gpus = 1, .steps_per_s = 2},
                                   {.model = "net", .gpus = 4, .steps_per_s = 6}},
                          .file = "rates.csv"};

}  // namespace goban::study::lab
