#include "study/history/history_builder.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <sys/mman.h>

#include "base/number.hpp"
#include "core/knowledge/app_class.hpp"
#include "core/model/instances.hpp"
#include "site/records/record_check.hpp"

namespace goban::study::history {
namespace {

using core::model::Cluster;
using core::model::Job;
using core::model::JobRequest;
using core::model::Recorded;
using core::model::RecordedEnd;
using core::model::ResourceType;

std::vector<int64_t> count_instances(const Cluster& cluster) {
  constexpr int64_t kEnough = std::numeric_limits<int32_t>::max();
  std::vector<int64_t> counts;
  for (const ResourceType& type : cluster.resource_types()) {
    int64_t count = 0;
    for (size_t i = 0; i < cluster.nodes().size(); ++i) {
      if (!type.may_use(core::model::NodeId(i))) continue;
      const core::model::Node& node = cluster.nodes()[i];
      count = std::min(kEnough,
                       count + core::model::instances_in(node.num_gpus, node.host, type, kEnough));
    }
    counts.push_back(count);
  }
  return counts;
}

std::string list_resource_types(const Cluster& cluster) {
  std::string names;
  for (const ResourceType& type : cluster.resource_types()) {
    names += names.empty() ? type.name : ", " + type.name;
  }
  return names.empty() ? "the cluster has none" : "known: " + names;
}

/// Requests huge pages for the jobs: page faults of small pages cost as much as parsing. Advice to
/// the kernel only; the result does not depend on it.
void use_huge_pages(std::span<std::byte> memory) {
#ifdef MADV_HUGEPAGE
  constexpr uintptr_t kHugePage = uintptr_t{2} << 20;
  const auto address = reinterpret_cast<uintptr_t>(memory.data());
  const uintptr_t first = (address + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t last = (address + memory.size()) / kHugePage * kHugePage;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#else
  (void)memory;
#endif
}

std::string seconds_text(core::model::TimeNs time_ns) {
  std::string out;
  base::append_seconds(out, time_ns);
  return out;
}

}  // namespace

HistoryBuilder::HistoryBuilder(const Cluster* cluster, size_t jobs_max, CpuJobs cpu_jobs)
    : cluster_(cluster), jobs_max_(jobs_max), cpu_jobs_(cpu_jobs) {
  if (cluster_ == nullptr) return;
  instances_max_ = count_instances(*cluster_);
  const auto types = cluster_->resource_types();
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].gpus == 0) cpu_types_.push_back(i);
  }
  std::ranges::stable_sort(cpu_types_, {}, [&](size_t i) { return types[i].host.cores; });
}

void HistoryBuilder::expect(size_t jobs) {
  constexpr size_t kNameGrowth =
      4;  // numbers get longer; memory that is not written to costs nothing
  size_t name_bytes = 0;
  for (size_t i = 0; i < history_.job_names.size(); ++i) {
    name_bytes += history_.job_names[i].size();
  }
  const size_t mean_bytes = name_bytes / std::max<size_t>(1, history_.job_names.size());
  history_.job_names.reserve(jobs, jobs * (mean_bytes + kNameGrowth));
  history_.jobs.reserve(jobs);
  use_huge_pages(history_.jobs.reserved());
}

std::string HistoryBuilder::set_typed_resources(const AccountingRecord& record,
                                                JobRequest& request) {
  if (cluster_ == nullptr) {
    return fmt::format("resource type {} requires a cluster", record.resource_type);
  }
  request.resource_type = cluster_->find_resource_type(record.resource_type);
  if (!request.resource_type.valid()) {
    return fmt::format("resource type {} is unknown ({})", record.resource_type,
                       list_resource_types(*cluster_));
  }
  const ResourceType& type = cluster_->resource_type(request.resource_type);
  int64_t instances = record.instances;
  if (instances == 0) {
    instances = type.gpus > 0 && record.num_gpus ? *record.num_gpus / type.gpus : 1;
  }
  const int64_t num_gpus = record.num_gpus.value_or(instances * type.gpus);
  if (num_gpus != instances * type.gpus) {
    return fmt::format("num_gpus {} is not {} x the {} GPUs of {}", num_gpus, instances, type.gpus,
                       type.name);
  }
  if (instances < 1) return fmt::format("a job needs at least one instance of {}", type.name);
  if (instances > type.max_instances) {
    return fmt::format("{} instances of {} exceed the {} allowed", instances, type.name,
                       type.max_instances);
  }
  const int64_t fit = instances_max_[request.resource_type.index()];
  if (instances > fit) {
    return fmt::format("{} instances of {} exceed the {} that fit on the cluster", instances,
                       type.name, fit);
  }
  if (request.walltime_limit_ns == 0 && walltimes_known_) {
    request.walltime_limit_ns =
        type.walltime_default_ns > 0 ? type.walltime_default_ns : type.walltime_max_ns;
  }
  if (type.walltime_max_ns > 0 && request.walltime_limit_ns > type.walltime_max_ns) {
    return fmt::format("walltime_s {} exceeds the {} of {}",
                       seconds_text(request.walltime_limit_ns), seconds_text(type.walltime_max_ns),
                       type.name);
  }
  request.instances = static_cast<int32_t>(instances);
  request.num_gpus = static_cast<int32_t>(num_gpus);
  return {};
}

std::string HistoryBuilder::set_resources(const AccountingRecord& record, JobRequest& request) {
  if (!record.resource_type.empty()) return set_typed_resources(record, request);
  if (record.instances > 1) return "instances need a resource_type";
  if (!record.num_gpus) return "num_gpus is empty";
  const int64_t most = cluster_ == nullptr ? std::numeric_limits<int32_t>::max()
                                           : static_cast<int64_t>(cluster_->num_gpus());
  if (*record.num_gpus < 0 || *record.num_gpus > most) {
    return fmt::format("num_gpus {} exceeds the {} GPUs of the cluster", *record.num_gpus, most);
  }
  request.num_gpus = static_cast<int32_t>(*record.num_gpus);
  return {};
}

core::model::AppClass HistoryBuilder::class_of(core::model::ModelId model) {
  while (class_of_model_.size() <= model.index()) {
    class_of_model_.push_back(
        core::knowledge::class_of_model(history_.models[class_of_model_.size()]));
  }
  return class_of_model_[model.index()];
}

void HistoryBuilder::push(std::string_view id, const Job& job, const AccountingRecord& record) {
  if (!history_.jobs.empty() && job.request.submit_ns < history_.jobs.back().request.submit_ns) {
    sorted_ = false;
  }
  history_.job_names.add(id);
  history_.jobs.push_back(job);
  const core::model::TrainingFacts& training = record.training;
  if (training.deadline_ns >= 0 && base::to_seconds(training.deadline_ns) < job.work_s) {
    ++counts_.impossible_deadlines;
  }
  if (training != core::model::TrainingFacts{} || !history_.training.empty()) {
    history_.training.resize(history_.jobs.size());
    history_.training.back() = training;
  }
  const bool stages = record.stage_in_bytes > 0 || record.stage_out_bytes > 0;
  if (stages || !history_.staging.empty()) {
    if (history_.data_sets.size() == 0) (void)history_.data_sets.intern("");
    history_.staging.resize(history_.jobs.size());
    history_.staging.back() = {.in_bytes = record.stage_in_bytes,
                               .out_bytes = record.stage_out_bytes,
                               .set = history_.data_sets.intern(record.data_set)};
  }
  const Recorded recorded{.start_ns = record.start_ns,
                          .finish_ns = record.end_ns,
                          .end = site::records::recorded_end(record.state)};
  const bool says_something =
      recorded.start_ns >= 0 || recorded.finish_ns >= 0 || recorded.end != RecordedEnd::Unknown;
  if (!says_something && history_.recorded.empty()) return;
  history_.recorded.resize(history_.jobs.size());
  history_.recorded.back() = recorded;
}

std::string HistoryBuilder::add_cpu_only(const AccountingRecord& record) {
  AccountingRecord typed = record;
  if (!cpu_types_.empty()) {
    const auto types = cluster_->resource_types();
    const auto holds = [&](size_t i) { return types[i].host.cores >= record.cpu_cores; };
    const auto found = std::ranges::find_if(cpu_types_, holds);
    const ResourceType& type = types[found != cpu_types_.end() ? *found : cpu_types_.back()];
    const int64_t cores = std::max(1, type.host.cores);
    typed.resource_type = type.name;
    typed.instances =
        std::max<int64_t>(1, record.cpu_cores / cores + (record.cpu_cores % cores != 0 ? 1 : 0));
  }
  const int64_t tasks = std::max(1, record.array_tasks);
  const bool leave_out = cpu_types_.empty() && cpu_jobs_ == CpuJobs::LeaveOut;
  if (leave_out && !ids_.insert(record.id)) {
    return site::records::used_before(record.id);
  }
  if (leave_out) {
    counts_.cpu_jobs_left_out += tasks;
  } else if (std::string problem = add_job(typed); !problem.empty()) {
    return problem;
  }
  counts_.cpu_jobs += tasks;
  return {};
}

std::string HistoryBuilder::add(const AccountingRecord& record) {
  if (std::string problem = site::records::problem_of_times(record); !problem.empty()) {
    return problem;
  }
  if (record.num_gpus == 0 && record.resource_type.empty()) return add_cpu_only(record);
  std::string problem = add_job(record);
  if (problem.empty() && record.gpu_share) ++counts_.gpu_shares;
  return problem;
}

std::string HistoryBuilder::take(const AccountingRecord& record) {
  if (record.id.empty()) return "job_id is empty";
  if (!first_cluster_) first_cluster_ = record.cluster;
  const bool of_other_cluster = record.cluster != *first_cluster_;
  const bool is_plain =
      record.work_s >= 0 && record.run == 0 && !record.type_may_be_left_out && !of_other_cluster;
  if (is_plain && record.submit_ns >= 0) return add(record);
  const bool has_run = record.work_s >= 0 || (record.start_ns >= 0 && record.end_ns >= 0);
  if (!has_run) {
    const bool over = site::records::has_ended(record.state);
    if (over && record.start_ns >= 0) return "the end of the job is unknown";
    ++(over ? counts_.never_started : counts_.unfinished);
    return {};
  }
  AccountingRecord full = record;
  if (record.submit_ns < 0) full.submit_ns = record.start_ns;
  if (full.submit_ns < 0) return "neither submit time nor start time is known";
  if (record.work_s < 0) full.work_s = base::to_seconds(record.elapsed_ns());
  if (record.run > 0 || of_other_cluster) {
    run_id_ = record.id;
    if (of_other_cluster) run_id_ += fmt::format("@{}", record.cluster);
    if (record.run > 0) run_id_ += fmt::format("#{}", record.run);
    full.id = run_id_;
  }
  const bool type_is_known =
      cluster_ != nullptr && cluster_->find_resource_type(record.resource_type).valid();
  if (record.type_may_be_left_out && record.num_gpus && !type_is_known) {
    full.resource_type = {};
    full.instances = 0;
  }
  return add(full);
}

std::string HistoryBuilder::add_job(const AccountingRecord& record) {
  Job job;
  job.work_s = record.work_s;
  JobRequest& request = job.request;
  request.submit_ns = record.submit_ns;
  request.walltime_limit_ns = record.walltime_limit_ns;
  request.priority = record.priority;
  request.stays = record.stays;
  if (std::string problem = set_resources(record, request); !problem.empty()) return problem;

  if (record.array_tasks == 0) {
    if (record.array_limit != 0) return "array_limit needs array_tasks";
    if (!ids_.insert(record.id)) return site::records::used_before(record.id);
  } else if (ids_.contains(record.id)) {
    return site::records::used_before(record.id);
  }
  // From here on only conflicts of array tasks are rejected, so new names may be interned.
  request.model = core::model::ModelId(history_.models.intern(record.model));
  request.user = core::model::UserId(history_.users.intern(record.user));
  request.account = core::model::AccountId(history_.accounts.intern(record.account));
  request.partition = core::model::PartitionId(history_.partitions.intern(record.partition));
  request.qos = core::model::QosId(history_.qos.intern(record.qos));
  const auto app_class = record.app_class.empty()
                             ? std::optional<core::model::AppClass>()
                             : core::knowledge::parse_app_class(record.app_class);
  request.app_class = app_class ? *app_class : class_of(request.model);
  if (record.array_tasks > 0) return add_array(record, job);
  history_.has_walltime_limits |= request.walltime_limit_ns > 0;
  push(record.id, job, record);
  return {};
}

std::string HistoryBuilder::add_array(const AccountingRecord& record, Job job) {
  const auto tasks = static_cast<size_t>(record.array_tasks);
  if (tasks > jobs_max_ - history_.jobs.size()) {
    return fmt::format("array_tasks {} exceeds the {} jobs allowed", tasks, jobs_max_);
  }
  const auto task_id = [&record](size_t task) { return fmt::format("{}_{}", record.id, task); };
  for (size_t task = 0; task < tasks; ++task) {
    if (ids_.contains(task_id(task))) {
      return fmt::format("job_id {} of an array task was used before", task_id(task));
    }
  }
  ids_.insert(record.id);
  job.request.array = core::model::ArrayId(history_.arrays.size());
  history_.arrays.push_back({.max_running = record.array_limit});
  history_.has_walltime_limits |= job.request.walltime_limit_ns > 0;
  for (size_t task = 0; task < tasks; ++task) {
    const std::string id = task_id(task);
    ids_.insert(id);
    push(id, job, record);
  }
  return {};
}

core::model::JobHistory HistoryBuilder::finish() {
  if (!history_.recorded.empty()) history_.recorded.resize(history_.jobs.size());
  if (!history_.training.empty()) history_.training.resize(history_.jobs.size());
  if (!history_.staging.empty()) history_.staging.resize(history_.jobs.size());
  if (sorted_) return std::move(history_);
  std::vector<uint32_t> order(history_.jobs.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(
      order, {}, [this](uint32_t index) { return history_.jobs[index].request.submit_ns; });
  core::model::JobList jobs;
  jobs.reserve(order.size());
  base::NameList names;
  for (const uint32_t index : order) {
    jobs.push_back(history_.jobs[index]);
    names.add(history_.job_names[index]);
  }
  std::vector<Recorded> recorded;
  if (!history_.recorded.empty()) {
    for (const uint32_t index : order) recorded.push_back(history_.recorded[index]);
  }
  std::vector<core::model::TrainingFacts> training;
  if (!history_.training.empty()) {
    for (const uint32_t index : order) training.push_back(history_.training[index]);
  }
  std::vector<core::model::StagedData> staging;
  if (!history_.staging.empty()) {
    for (const uint32_t index : order) staging.push_back(history_.staging[index]);
  }
  history_.staging = std::move(staging);
  history_.jobs = std::move(jobs);
  history_.training = std::move(training);
  history_.recorded = std::move(recorded);
  history_.job_names = std::move(names);
  return std::move(history_);
}

}  // namespace goban::study::history
