#include "serve/daemon/store_accounting.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

#include "live/controller/book_json.hpp"
#include "site/store/job_store.hpp"

namespace goban::serve::daemon {

using live::controller::JobResult;
using live::controller::LiveJob;
using site::records::AccountingRecord;
using site::records::RecordedState;

namespace {

constexpr const char* kSource = "goban serve";

RecordedState end_state(JobResult result) {
  switch (result) {
    case JobResult::None:
      return RecordedState::Unknown;
    case JobResult::Completed:
      return RecordedState::Completed;
    case JobResult::Failed:
      return RecordedState::Failed;
    case JobResult::Cancelled:
    case JobResult::NeverRuns:
      return RecordedState::Cancelled;
    case JobResult::TimedOut:
      return RecordedState::TimedOut;
    case JobResult::OutOfMemory:
      return RecordedState::OutOfMemory;
    case JobResult::NodeFailed:
      return RecordedState::NodeFailed;
  }
  return RecordedState::Unknown;
}

}  // namespace

std::string stored_details(const LiveJob& job) {
  constexpr size_t kRunsMax = 64;
  LiveJob kept = job;
  kept.spec.payload.clear();
  kept.progress = {};
  if (kept.past.size() > kRunsMax) {
    kept.past.erase(kept.past.begin(), kept.past.end() - static_cast<std::ptrdiff_t>(kRunsMax));
  }
  for (live::controller::PastRun& run : kept.past) run.ranks.clear();
  return to_json(kept).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

base::Result<LiveJob> parse_stored_details(std::string_view text) {
  const auto document = base::parse_json(text, "the details of a job");
  if (!document) return base::failure(document.error());
  LiveJob job;
  base::FieldReader in(*document, "");
  read_job(in, job);
  if (auto status = in.status(); !status) return base::failure(status.error());
  return job;
}

JobRecords::JobRecords(const LiveJob& job, const core::model::Cluster& cluster,
                       std::vector<std::string> software)
    : cluster_(cluster),
      software_(std::move(software)),
      software_names_(software_.begin(), software_.end()) {
  id_ = live::job::job_name_of(job.job, job.spec);
  details_ = stored_details(job);
  for (uint32_t i = 0; i < cluster.node_gpus_max(); ++i) gpu_names_.push_back(fmt::format("{}", i));
  const auto ran = static_cast<size_t>(
      std::ranges::count_if(job.past, [](const auto& run) { return run.start_ns >= 0; }));
  gpus_.reserve(ran);
  nodes_.reserve(ran);
  size_t seen = 0;
  for (const live::controller::PastRun& run : job.past) {
    if (run.start_ns >= 0) add_run(job, &run, ++seen == ran);
  }
  if (ran == 0) add_run(job, nullptr, true);
}

void JobRecords::add_run(const LiveJob& job, const live::controller::PastRun* run, bool is_last) {
  const live::job::JobSpec& spec = job.spec;
  AccountingRecord& record = records_.emplace_back();
  record.id = id_;
  record.job_number = static_cast<int64_t>(
      live::job::job_number(spec.array_task >= 0 ? spec.array_first : job.job));
  record.array_task = spec.array_task;
  record.run = static_cast<int32_t>(records_.size()) - 1;
  record.cluster = cluster_.name();
  record.user = spec.owner.user;
  record.account = spec.account;
  record.partition = spec.partition;
  record.qos = spec.qos;
  record.reservation = spec.reservation;
  record.resource_type = spec.resource_type;
  record.submit_ns = job.submit_ns;
  record.walltime_limit_ns = spec.walltime_limit_ns;
  record.kind =
      spec.interactive ? site::records::JobKind::Interactive : site::records::JobKind::Batch;
  record.num_gpus = spec.num_gpus;
  record.priority = spec.priority;
  record.model = spec.model;
  record.training = spec.training;
  if (!spec.resource_type.empty()) record.instances = spec.instances;
  record.state = is_last ? end_state(job.result) : RecordedState::Requeued;
  if (is_last) record.exit_code = job.exit_code;
  if (is_last) record.signal = job.signal;
  if (is_last) record.details = details_;
  record.end_ns = job.end_ns;
  record.software = software_names_;
  if (run == nullptr) return;
  if (spec.training.gpus_max > 0) record.num_gpus = std::ssize(run->gpus);
  record.start_ns = run->start_ns;
  record.end_ns = run->end_ns;
  record.suspended_ns = run->suspended_ns;
  std::vector<site::records::HeldGpu>& gpus = gpus_.emplace_back();
  std::string& nodes = nodes_.emplace_back();
  for (const core::model::GpuId gpu : run->gpus) {
    const core::model::Node& node = cluster_.node(cluster_.node_of(gpu));
    gpus.push_back({.node = node.name,
                    .gpu = gpu_names_[gpu.value - node.first_gpu],
                    .util_pct = run->usage.gpu_util_pct,
                    .mem_used_bytes = run->usage.gpu_mem_bytes_max});
    if (!nodes.ends_with(node.name)) nodes += (nodes.empty() ? "" : ",") + node.name;
  }
  record.gpus = gpus;
  record.node_list = nodes;
  record.num_nodes = std::max<int64_t>(1 + std::ranges::count(nodes, ','), 1);
  record.usage.mem_bytes_max = run->usage.mem_bytes_max;
  record.usage.gpu_mem_bytes_max = run->usage.gpu_mem_bytes_max;
  record.usage.cpu_s = run->usage.cpu_s;
  record.usage.energy_j = run->usage.energy_j;
}

base::Status StoreAccounting::record(const std::vector<live::loop::FinishedJob>& jobs) {
  std::vector<JobRecords> made;
  made.reserve(jobs.size());
  std::vector<AccountingRecord> all;
  for (const live::loop::FinishedJob& each : jobs) {
    if (ended_) ended_(each.job);
    auto software = software_ ? software_(each.job.job) : std::vector<std::string>{};
    const auto& some = made.emplace_back(each.job, *each.cluster, std::move(software)).records();
    all.insert(all.end(), some.begin(), some.end());
  }
  auto store = site::store::JobStore::open(store_, true);
  if (!store) return base::failure(store.error());
  base::Status status = store->append(all, kSource);
  if (status || status.error().code != base::ErrorCode::BadData) return status;
  std::ofstream rejects(rejects_, std::ios::app);
  rejects << status.error().message << '\n';
  return rejects.flush() ? base::Status{} : base::failed("cannot write " + rejects_);
}

}  // namespace goban::serve::daemon
