#include "live/controller/staging_orders.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "live/job/stage_paths.hpp"

namespace goban::live::controller {

using Stage = JobStaging::Stage;

const job::Owner* StagingOrders::actor_of(const LiveJob& job) const {
  if (job.spec.owner.realm.empty()) return &job.spec.owner;
  return rules_.others ? &*rules_.others : nullptr;
}

std::string StagingOrders::folder_of(const job::Owner& actor) const {
  return fmt::format("{}/{}", rules_.fast ? rules_.fast->path : "", actor.uid);
}

std::string StagingOrders::job_folder_of(const LiveJob& job) const {
  const job::Owner* actor = actor_of(job);
  if (actor == nullptr || !rules_.fast) return {};
  // Jobs of the engine's own queue are known to their scripts by its number.
  // The number alone may have been that of another job, before the state folder
  // was renewed.
  std::string name = job.engine_id;
  std::ranges::replace(name, '/', '_');
  if (name.empty()) {
    name = fmt::format("{}-{}", job::job_number(job.job), job.submit_ns / base::kSecond);
  }
  return fmt::format("{}/jobs/{}", folder_of(*actor), name);
}

std::string StagingOrders::source_of(const LiveJob& job, const std::string& path) {
  return job::stage_path(path, job.spec.work_folder, job.job, job.spec);
}

StagingOrders::Sources StagingOrders::sources_of(const LiveJob& job) {
  Sources out{job::key_of(job.spec.owner), {}};
  for (const std::string& path : job.spec.stage_in) out.second.push_back(source_of(job, path));
  return out;
}

std::vector<std::string> StagingOrders::targets_of(const LiveJob& job) {
  std::vector<std::string> out;
  for (const job::StageOut& each : job.spec.stage_out) {
    out.push_back(job::stage_path(each.to, job.spec.work_folder, job.job, job.spec));
  }
  return out;
}

StageOrder StagingOrders::begin(const LiveJob& job, StageTask task) const {
  StageOrder order{.task = task, .job = job.job};
  if (const job::Owner* actor = actor_of(job)) {
    order.owner = *actor;
    order.folder = folder_of(*actor);
  }
  order.job_folder = job_folder_of(job);
  if (rules_.fast) {
    order.gateway = rules_.fast->gateway;
    order.bytes_per_s = rules_.fast->copy_limit_bytes_per_s;
  }
  return order;
}

StageOrder StagingOrders::results_of(const LiveJob& job) const {
  StageOrder order = begin(job, StageTask::Out);
  const std::vector<std::string> targets = targets_of(job);
  for (size_t i = 0; i < targets.size(); ++i) {
    const std::string& from = job.spec.stage_out[i].from;
    order.paths.push_back(
        {.from = job::stage_path(from, order.job_folder, job.job, job.spec), .to = targets[i]});
  }
  return order;
}

StageOrder StagingOrders::next_of(const LiveJob& job) const {
  const JobStaging& staging = job.staging;
  if (staging.stage == Stage::Out) return results_of(job);
  StageTask task = StageTask::Measure;
  if (staging.stage == Stage::Copying) task = StageTask::In;
  if (staging.stage == Stage::Ready) task = StageTask::Look;
  StageOrder order = begin(job, task);
  for (size_t i = 0; i < staging.sources.size(); ++i) {
    StagePath& path = order.paths.emplace_back();
    if (task != StageTask::Look) path.from = source_of(job, staging.sources[i]);
    if (task != StageTask::Measure) path.to = staging.items[i].key;
  }
  return order;
}

StageOrder StagingOrders::withdrawal_of(const LiveJob& job) const {
  StageOrder order = next_of(job);
  order.withdrawn = true;
  return order;
}

StageOrder StagingOrders::clean_up_of(const LiveJob& job) const {
  return begin(job, StageTask::Out);
}

StageOrder StagingOrders::giving_up_of(const LiveJob& job) const {
  StageOrder order = results_of(job);
  order.gives_up = true;
  return order;
}

StageOrder StagingOrders::removal_of(const std::string& key, const job::Owner* actor) const {
  StageOrder order{.task = StageTask::Remove, .paths = {{.from = {}, .to = key}}};
  if (actor != nullptr) {
    order.owner = *actor;
    order.folder = folder_of(*actor);
  }
  if (rules_.fast) order.gateway = rules_.fast->gateway;
  return order;
}

}  // namespace goban::live::controller
