#include "serve/api/job_list.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "live/controller/staging.hpp"
#include "serve/api/job_name.hpp"
#include "serve/api/job_view.hpp"

namespace goban::serve::api {

using core::model::JobId;
using live::controller::LiveJob;

namespace {
/// Jobs visited while the scheduler waits.
constexpr size_t kLook = 2'000;

ListedState listed_state(const LiveJob& job) {
  return {.stage = shown_stage(job),
          .result = job.result,
          .runs = job.runs,
          .shares = job.shares,
          .num_gpus = shown_gpus(job),
          .priority = job.spec.priority,
          .walltime_limit_ns = job.spec.walltime_limit_ns,
          .held_ns = job.held_ns,
          .first_start_ns = job.first_start_ns,
          .run_start_ns = job.run_start_ns,
          .suspensions = job.suspensions,
          .managed = job.managed,
          .blocked = live::controller::blocked_words(job),
          .gpus = job.gpus,
          .end_ns = job.end_ns};
}

std::string json_text(const nlohmann::json& document) {
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::shared_ptr<const ListedJob> listed_job(const LiveJob& job,
                                            const core::model::Cluster& cluster) {
  auto out = std::make_shared<ListedJob>();
  out->job = job.job;
  out->array_first = job.spec.array_first;
  out->array_task = job.spec.array_task;
  out->engine_id = job.engine_id;
  out->owner = job.spec.owner;
  out->account = job.spec.account;
  out->state = listed_state(job);
  out->summary = json_text(job_summary(job, cluster));
  out->summary.pop_back();
  if (!job.spec.name.empty()) out->name = json_text(job.spec.name);
  return out;
}

bool is_before(const std::shared_ptr<const ListedJob>& listed, JobId job) {
  return listed->job < job;
}
}  // namespace

std::vector<size_t> JobListing::named(std::string_view name) const {
  if (const std::string_view id = engine_id_of(name); !id.empty()) {
    // The latest of this id: a queue may give it away again.
    for (size_t i = jobs.size(); i > 0; --i) {
      if (jobs[i - 1]->engine_id == id) return {i - 1};
    }
    std::vector<size_t> tasks;
    for (size_t i = 0; i < jobs.size(); ++i) {
      if (is_task_of(jobs[i]->engine_id, id)) tasks.push_back(i);
    }
    return tasks;
  }
  const auto parsed = parse_job_name(name);
  if (!parsed) return {};
  const JobId first = parsed->first;
  auto at = std::lower_bound(jobs.begin(), jobs.end(), first, is_before);
  const auto index = [this](auto found) { return static_cast<size_t>(found - jobs.begin()); };
  const auto is_task = [&](const auto& listed) { return listed->array_first == first; };
  // The tasks of an array have consecutive numbers; the first ones may already be removed.
  const auto end = std::find_if_not(at, jobs.end(), is_task);
  std::vector<size_t> out;
  if (const auto task = parsed->task) {
    at = std::find_if(at, end, [&](const auto& listed) { return listed->array_task == *task; });
    if (at != end) out.push_back(index(at));
  } else if (at != jobs.end() && at == end && (*at)->job == first) {
    out.push_back(index(at));
  } else {
    for (; at != end; ++at) out.push_back(index(at));
  }
  return out;
}

std::shared_ptr<const JobListing> JobList::renewed() const {
  auto out = std::make_shared<JobListing>();
  static const JobListing nothing;
  const JobListing& before = latest_ != nullptr ? *latest_ : nothing;
  auto known = before.jobs.begin();
  std::vector<std::pair<size_t, LiveJob>> changed;
  const core::model::Cluster* cluster = nullptr;
  std::map<JobId, int64_t> positions;
  bool is_over = false;
  for (JobId next(0U); !is_over;) {
    scheduler_.look([&](const live::loop::SchedulerSnapshot& snapshot) {
      cluster = &snapshot.site.cluster;
      const auto& jobs = snapshot.book.jobs;
      auto at = jobs.lower_bound(next);
      for (size_t seen = 0; at != jobs.end() && seen < kLook; ++at, ++seen) {
        while (known != before.jobs.end() && (*known)->job < at->first) ++known;
        const bool same = known != before.jobs.end() && (*known)->job == at->first &&
                          (*known)->state == listed_state(at->second);
        if (!same) changed.emplace_back(out->jobs.size(), at->second);
        out->jobs.push_back(same ? *known : nullptr);
      }
      is_over = at == jobs.end();
      if (!is_over) next = at->first;
      if (is_over && snapshot.core != nullptr) positions = queue_positions(*snapshot.core);
    });
  }
  for (const auto& [index, job] : changed) out->jobs[index] = listed_job(job, *cluster);
  out->positions.resize(out->jobs.size());
  auto listed = out->jobs.begin();
  for (const auto& [job, position] : positions) {
    listed = std::lower_bound(listed, out->jobs.end(), job, is_before);
    if (listed == out->jobs.end()) break;
    if ((*listed)->job == job) {
      out->positions[static_cast<size_t>(listed - out->jobs.begin())] = position;
    }
  }
  return out;
}

std::shared_ptr<const JobListing> JobList::latest() {
  // Read the version first: later changes are then noticed by the next caller.
  const uint64_t version = scheduler_.version();
  const std::scoped_lock lock(mutex_);
  if (latest_ != nullptr && version_ >= version) return latest_;
  const uint64_t now = scheduler_.version();
  latest_ = renewed();
  version_ = now;
  return latest_;
}

}  // namespace goban::serve::api
