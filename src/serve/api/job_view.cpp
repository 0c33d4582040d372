#include "serve/api/job_view.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/date_time.hpp"
#include "base/number.hpp"
#include "base/reports/run_reports_json.hpp"
#include "live/controller/staging.hpp"
#include "live/job/job_spec.hpp"
#include "live/job/output_path.hpp"
#include "serve/api/job_name.hpp"

namespace goban::serve::api {

using nlohmann::json;

namespace {
constexpr std::array<std::string_view, live::controller::kNumJobStages> kStages = {
    "held", "depends", "waiting", "starting", "running", "stopping", "done", "suspended"};
constexpr std::array<std::string_view, 8> kResults = {"none",        "completed", "failed",
                                                      "cancelled",   "timed_out", "out_of_memory",
                                                      "node_failed", "never_runs"};

void put_time(json& out, const char* name, base::TimeNs time_ns) {
  if (time_ns >= 0) out[name] = base::to_seconds(time_ns);
}

/// Omits unknown values.
template <typename T>
void put_known(json& out, const char* name, T value) {
  if (value >= 0) out[name] = value;
}

json past_json(const live::controller::LiveJob& job, const core::model::Cluster& cluster) {
  json out = json::array();
  for (const live::controller::PastRun& run : job.past) {
    json each = {{"run", run.run}, {"gpus", gpu_list(run.gpus, cluster)}};
    put_time(each, "start_s", run.start_ns);
    put_time(each, "end_s", run.end_ns);
    if (run.suspended_ns > 0) put_time(each, "suspended_s", run.suspended_ns);
    if (run.pace.steps.done > 0) each["step_s"] = run.pace.steps.over_s / run.pace.steps.done;
    if (!run.ranks.empty()) each["ranks"] = to_json(run.ranks);
    out.push_back(std::move(each));
  }
  return out;
}

constexpr std::array<std::string_view, 7> kStagingStages = {
    "none", "measuring", "needs_room", "copying", "ready", "out", "done"};

json staging_json(const live::controller::LiveJob& job) {
  const live::controller::JobStaging& staging = job.staging;
  json out = {{"state", kStagingStages[static_cast<size_t>(staging.stage)]},
              {"bytes", staging.all_bytes},
              {"done_bytes", staging.done_bytes},
              {"copied_bytes", staging.copied_bytes},
              {"failures", staging.failures}};
  put_time(out, "begun_s", staging.begun_ns);
  put_time(out, "ready_s", staging.ready_ns);
  put_time(out, "out_s", staging.out_done_ns);
  put_time(out, "retry_s", staging.retry_ns);
  for (const core::staging::DataItem& item : staging.items) {
    out["places"].push_back({{"path", item.key}, {"bytes", item.bytes}});
  }
  if (staging.gave_up) out["given_up"] = true;
  if (!staging.problem.empty()) out["problem"] = staging.problem;
  if (!staging.sha256.empty()) out["sha256"] = staging.sha256;
  if (!staging.out_sha256.empty()) out["out_sha256"] = staging.out_sha256;
  return out;
}

bool has_run(const live::controller::LiveJob& job) { return job.runs > 0; }
}  // namespace

json progress_json(live::ProgressReport progress) {
  progress.busy_s = -1;
  if (progress.loss < 0) progress.loss = -1;
  json out = to_json(progress);
  const bool only_default = out.size() == 1;  // `checkpointed`
  return only_default ? json::object() : out;
}

std::string_view stage_name(live::controller::JobStage stage) {
  return kStages[static_cast<size_t>(stage)];
}

live::controller::JobStage shown_stage(const live::controller::LiveJob& job) {
  using live::controller::JobStage;
  return job.stage == JobStage::Depends && job.spec.held ? JobStage::Held : job.stage;
}

std::string_view result_name(live::controller::JobResult result) {
  return kResults[static_cast<size_t>(result)];
}

std::string end_words(const live::controller::LiveJob& job) {
  return fmt::format("job {} ended on {} UTC ({})", live::job::job_name_of(job.job, job.spec),
                     base::date_time_text(job.end_ns), result_name(job.result));
}

std::optional<live::controller::JobStage> find_stage(std::string_view name) {
  const auto* const found = std::find(kStages.begin(), kStages.end(), name);
  if (found == kStages.end()) return std::nullopt;
  return static_cast<live::controller::JobStage>(found - kStages.begin());
}

std::map<core::model::JobId, int64_t> queue_positions(const core::scheduler::Core& core) {
  std::map<core::model::JobId, int64_t> positions;
  const core::scheduler::State& state = core.state();
  const auto count = [&](const core::scheduler::WaitQueue& queue) {
    int64_t position = 0;
    for (const auto* entry = queue.first(); entry != nullptr; entry = queue.after(entry->key)) {
      positions.emplace(state.job(entry->slot).job, ++position);
    }
  };
  count(state.queue());
  for (const auto& each : state.resources().promised().all()) count(state.queue(each.reservation));
  return positions;
}

json gpu_list(const std::vector<core::model::GpuId>& gpus, const core::model::Cluster& cluster) {
  json list = json::array();
  for (const core::model::GpuId gpu : gpus) {
    if (gpu.index() >= cluster.num_gpus()) continue;
    const core::model::Node& node = cluster.node(cluster.node_of(gpu));
    list.push_back(
        {{"gpu", gpu.value}, {"node", node.name}, {"index", gpu.value - node.first_gpu}});
  }
  return list;
}

int32_t shown_gpus(const live::controller::LiveJob& job) {
  const bool resized = job.spec.training.gpus_max > 0 && live::controller::holds_gpus(job.stage);
  return resized && !job.gpus.empty() ? static_cast<int32_t>(job.gpus.size()) : job.spec.num_gpus;
}

json job_summary(const live::controller::LiveJob& job, const core::model::Cluster& cluster) {
  json out = {{"job", live::job::job_number(job.job)},
              {"id", live::job::job_name_of(job.job, job.spec)},
              {"user", job.spec.owner.user},
              {"state", stage_name(shown_stage(job))},
              {"num_gpus", shown_gpus(job)},
              {"priority", job.spec.priority},
              {"runs", job.runs},
              {"held_s", base::to_seconds(job.held_ns)}};
  if (!job.spec.owner.realm.empty()) out["realm"] = job.spec.owner.realm;
  if (!job.engine_id.empty()) out["engine_id"] = job.engine_id;
  if (!job.managed) out["managed"] = false;
  if (job.stage == live::controller::JobStage::Depends) {
    std::string blocked = live::controller::blocked_words(job);
    if (!blocked.empty()) out["blocked"] = std::move(blocked);
  }
  if (job.result != live::controller::JobResult::None) out["result"] = result_name(job.result);
  if (!job.spec.account.empty()) out["account"] = job.spec.account;
  if (!job.spec.partition.empty()) out["partition"] = job.spec.partition;
  if (!job.spec.reservation.empty()) out["reservation"] = job.spec.reservation;
  if (!job.spec.resource_type.empty()) out["resource_type"] = job.spec.resource_type;
  if (job.spec.walltime_limit_ns > 0) {
    out["walltime_s"] = base::to_seconds(job.spec.walltime_limit_ns);
  }
  if (job.spec.begin_ns > 0) put_time(out, "begin_s", job.spec.begin_ns);
  put_time(out, "submit_s", job.submit_ns);
  put_time(out, "first_start_s", job.first_start_ns);
  put_time(out, "run_start_s", job.run_start_ns);
  put_time(out, "suspended_since_s", job.suspensions.since_ns);
  if (job.suspensions.ended_ns > 0) put_time(out, "suspended_s", job.suspensions.ended_ns);
  put_time(out, "end_s", job.end_ns);
  if (has_run(job) || !job.found.empty()) {
    out["gpus"] = gpu_list(job.gpus, cluster);
    out["shares"] = job.shares;
  }
  if (job.stage == live::controller::JobStage::Done) {
    put_known(out, "exit_code", job.exit_code);
    if (job.signal > 0) out["signal"] = job.signal;
  }
  return out;
}

json job_details(const live::controller::LiveJob& job, const core::model::Cluster& cluster) {
  json out = job_summary(job, cluster);
  if (!job.spec.name.empty()) out["name"] = job.spec.name;
  out["spec"] = live::job::to_json(job.spec);
  out["spec"].erase("script_hash");  // of the site's predictions, not of its owner
  if (!job.spec.interactive && job.engine_id.empty()) {
    out["stdout_file"] = live::job::output_path(job.job, job.spec, live::job::OutputStream::Stdout);
    out["stderr_file"] = live::job::output_path(job.job, job.spec, live::job::OutputStream::Stderr);
  }
  out["preemptions"] = job.preemptions;
  out["breakages"] = job.breakages;
  if (job.spec.training.gpus_max > 0) out["resizes"] = job.resizes;
  if (has_run(job)) {
    out["why"] = {{"level", job.why.level},
                  {"bin_value", job.why.bin_value},
                  {"product", job.why.product},
                  {"prediction", job.why.prediction}};
  }
  if (json progress = progress_json(job.progress); !progress.empty()) {
    out["progress"] = std::move(progress);
    put_time(out, "progress_s", job.progress_ns);
  }
  if (json usage = to_json(job.usage); !usage.empty()) out["usage"] = std::move(usage);
  if (!job.detail.empty()) out["detail"] = job.detail;
  if (job.staging != live::controller::JobStaging{}) out["staging"] = staging_json(job);
  if (!job.past.empty()) out["past"] = past_json(job, cluster);
  return out;
}

std::optional<JobName> parse_job_name(std::string_view text) {
  const size_t split = text.find('_');
  const auto number = base::parse_int(text.substr(0, split));
  if (!number || *number < 1 || *number > UINT32_MAX) return std::nullopt;
  JobName name{.first = core::model::JobId(static_cast<uint32_t>(*number - 1))};
  if (split == std::string_view::npos) return name;
  name.task = base::parse_int(text.substr(split + 1));
  return name.task ? std::optional(name) : std::nullopt;
}

const live::controller::LiveJob* find_job(const live::controller::JobBook& book,
                                          std::string_view name) {
  if (const std::string_view id = engine_id_of(name); !id.empty()) {
    const auto found = book.by_engine_id.find(id);
    if (found != book.by_engine_id.end()) return book.find(found->second);
    const auto array = book.arrays_of_engine.find(id);
    if (array != book.arrays_of_engine.end()) return book.find(array->second);
    // The latest of this id that has ended: a queue may give it away again.
    const auto ended = std::find_if(book.jobs.rbegin(), book.jobs.rend(),
                                    [id](const auto& each) { return each.second.engine_id == id; });
    return ended == book.jobs.rend() ? nullptr : &ended->second;
  }
  const auto parsed = parse_job_name(name);
  if (!parsed) return nullptr;
  const core::model::JobId first = parsed->first;
  if (!parsed->task) return book.find(first);
  const std::optional<int64_t> task = parsed->task;
  // The tasks of an array have consecutive numbers and ascending indices, so the number is at most
  // that of the first task plus the index; some tasks may already be removed.
  uint64_t begin = first.value;
  uint64_t end = std::min<uint64_t>(begin + static_cast<uint64_t>(std::max<int64_t>(*task, 0)),
                                    UINT32_MAX - 1) +
                 1;
  while (begin < end) {
    const uint64_t middle = begin + (end - begin) / 2;
    const auto at = book.jobs.lower_bound(core::model::JobId(static_cast<uint32_t>(middle)));
    const bool is_task = at != book.jobs.end() && at->second.spec.array_first == first;
    if (is_task && at->second.spec.array_task == *task) return &at->second;
    if (is_task && at->second.spec.array_task < *task) {
      begin = uint64_t{at->first.value} + 1;
    } else {
      end = middle;
    }
  }
  return nullptr;
}

}  // namespace goban::serve::api
