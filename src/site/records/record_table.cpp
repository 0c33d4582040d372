#include "site/records/record_table.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "base/number.hpp"
#include "core/model/import/host_list.hpp"
#include "site/records/record_check.hpp"

namespace goban::site::records {
namespace {

template <typename To>
bool fits_in(int64_t value) {
  return value >= std::numeric_limits<To>::min() && value <= std::numeric_limits<To>::max();
}

/// -1 if the value does not fit; the values of Grid Engine and Slurm do.
int16_t small(int32_t value) {
  return fits_in<int16_t>(value) ? static_cast<int16_t>(value) : int16_t{-1};
}

TimeNs run_time(const AccountingRecord& record) {
  if (record.start_ns >= 0 && record.end_ns >= 0) return record.elapsed_ns();
  return record.work_s >= 0 ? base::from_seconds(record.work_s) : -1;
}

/// Distinguishes the submissions of one id.
TimeNs submission_of(const AccountingRecord& record) {
  return record.submit_ns >= 0 ? record.submit_ns : record.start_ns;
}

}  // namespace

/// Ids of the first cluster have no cluster name added, so that they remain plain numbers.
std::string_view RecordTable::key_of(const AccountingRecord& record) {
  const bool of_first =
      record.cluster.empty() || clusters_.size() == 0 || clusters_[0] == record.cluster;
  if (of_first && !file_of_ids_) return record.id;
  key_.assign(record.id);
  key_ += '@';
  if (!of_first) key_ += record.cluster;
  if (file_of_ids_) {
    key_ += '/';
    base::append_number(key_, static_cast<int64_t>(*file_of_ids_));
  }
  return key_;
}

RecordTable::Place RecordTable::place_of_open(const AccountingRecord& record,
                                              std::string_view key) {
  if (submissions_.contains(key, submission_of(record))) {
    return {.problem = fmt::format("job_id {} was used before, and its end is known", record.id)};
  }
  const auto [found, is_new] =
      open_.try_emplace({std::string(key), submission_of(record)}, rows_.size());
  if (is_new) return {.run = record.run};
  if (record.start_ns < 0 || rows_[found->second].start_ns >= 0) {
    return {.problem = used_before(record.id)};
  }
  return {.row = found->second, .run = record.run};
}

RecordTable::Place RecordTable::place_of(const AccountingRecord& record) {
  const std::string_view key = key_of(record);
  if (!is_over(record)) return place_of_open(record, key);
  // Attempts without times are distinguished by their order.
  const TimeNs moment_ns = record.start_ns >= 0 || record.run == 0
                               ? std::max(record.start_ns, record.submit_ns)
                               : -1 - TimeNs{record.run};
  const int32_t run = runs_.add(key, moment_ns, record.run);
  if (run == RunCounter::kSeenBefore) {
    return {.problem = used_before(record.id)};
  }
  submissions_.insert(key, submission_of(record));
  Place place{.run = run};
  if (open_.empty()) return place;
  const auto found = open_.find({std::string(key), submission_of(record)});
  if (found == open_.end()) return place;
  place.row = found->second;
  open_.erase(found);
  return place;
}

std::string RecordTable::take(const AccountingRecord& record) {
  if (std::string problem = problem_of(record); !problem.empty()) return problem;
  const Place place = place_of(record);
  if (!place.problem.empty()) return place.problem;
  RecordRow row;
  set_names(record, row);
  row.submit_ns = record.submit_ns;
  row.eligible_ns = record.eligible_ns;
  row.start_ns = record.start_ns;
  row.end_ns = record.end_ns;
  row.run_ns = run_time(record);
  if (row.end_ns < 0 && row.start_ns >= 0 && row.run_ns >= 0) {
    row.end_ns = row.start_ns + row.run_ns;
  }
  row.walltime_limit_ns = record.walltime_limit_ns;
  row.job_number = record.job_number;
  row.array_task = record.array_task;
  row.mem_bytes = record.mem_bytes;
  row.num_gpus = static_cast<int32_t>(record.num_gpus.value_or(-1));
  row.gpu_milli = record.gpu_milli;
  row.instances = static_cast<int32_t>(record.instances);
  row.num_nodes = static_cast<int32_t>(record.num_nodes);
  row.cpu_cores = static_cast<int32_t>(record.cpu_cores);
  row.priority = record.priority;
  row.array_tasks = record.array_tasks;
  row.exit_code = record.exit_code;
  row.restarts = record.restarts;
  row.het_part = record.het_part;
  row.run = place.run;
  row.line = static_cast<uint32_t>(std::clamp<int64_t>(record.line, 0, UINT32_MAX));
  row.signal = small(record.signal);
  row.failed_code = small(record.failed_code);
  row.file = static_cast<uint16_t>(std::max<size_t>(files_.size(), 1) - 1);
  row.state = record.state;
  row.kind = record.kind;
  row.gpu_share = record.gpu_share;
  row.nodes = node_list(record.node_list);
  row.gpus = gpu_list(record.gpus);
  row.software = software_list(record.software);
  UsageMarks usage = record.usage;
  if (usage.gpu_util_pct_mean < 0) usage.gpu_util_pct_mean = record.training.gpu_util_pct;
  if (usage != UsageMarks{}) {
    row.usage = static_cast<uint32_t>(usage_.size());
    usage_.push_back(usage);
  }
  if (place.row) {
    rows_[*place.row] = row;
    return {};
  }
  rows_.push_back(row);
  ids_.add(record.id);
  if (!record.job_name.empty()) {
    while (job_names_.size() + 1 < rows_.size()) job_names_.add({});
    job_names_.add(record.job_name);
  }
  return {};
}

void RecordTable::set_names(const AccountingRecord& record, RecordRow& row) {
  row.cluster = clusters_.intern(record.cluster);
  row.user = users_.intern(record.user);
  row.account = accounts_.intern(record.account);
  row.group = groups_.intern(record.group);
  row.partition = partitions_.intern(record.partition);
  row.qos = qos_.intern(record.qos);
  row.reservation = reservations_.intern(record.reservation);
  row.resource_type = resource_types_.intern(record.resource_type);
  row.gpu_type = gpu_types_.intern(record.gpu_type);
}

void RecordTable::expect(size_t records) {
  constexpr size_t kIdBytes = 12;
  records = std::min(records, kRowsMax);
  rows_.reserve(records);
  ids_.reserve(records, records * kIdBytes);
}

void RecordTable::begin_file(const InputFacts& facts) {
  constexpr size_t kFilesMax = UINT16_MAX;
  file_of_ids_.reset();
  if (facts.ids_are_rows) {
    const auto same = std::ranges::find(files_, facts.name);
    file_of_ids_ = static_cast<size_t>(same - files_.begin());
  }
  if (files_.size() < kFilesMax) files_.emplace_back(facts.name);
}

uint32_t RecordTable::node_list(std::string_view text) {
  const uint32_t number = node_texts_.intern(text);
  if (number == kNoName) return kNoList;
  if (number < list_of_text_.size()) return list_of_text_[number];
  const auto names = core::model::expand_host_list(text);
  if (!names || names->empty()) return list_of_text_.emplace_back(kNoList);
  for (const std::string& name : *names) node_lists_.numbers.push_back(node_names_.intern(name));
  node_lists_.ends.push_back(node_lists_.numbers.size());
  return list_of_text_.emplace_back(static_cast<uint32_t>(node_lists_.ends.size() - 1));
}

uint32_t RecordTable::gpu_list(std::span<const HeldGpu> gpus) {
  if (gpus.empty()) return kNoList;
  for (const HeldGpu& gpu : gpus) {
    gpus_.push_back({.mem_used_bytes = gpu.mem_used_bytes,
                     .mem_total_bytes = gpu.mem_total_bytes,
                     .node = node_names_.intern(gpu.node),
                     .gpu = gpu_names_.intern(gpu.gpu),
                     .util_pct = gpu.util_pct});
  }
  gpu_ends_.push_back(gpus_.size());
  return static_cast<uint32_t>(gpu_ends_.size() - 1);
}

uint32_t RecordTable::software_list(std::span<const std::string_view> software) {
  if (software.empty()) return kNoList;
  std::vector<uint32_t> numbers;
  for (const std::string_view name : software) {
    if (!name.empty()) numbers.push_back(software_names_.intern(name));
  }
  std::ranges::sort(numbers);
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
  if (numbers.empty()) return kNoList;
  const uint32_t list = software_texts_.intern(
      {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(uint32_t)});
  if (list < software_lists_.ends.size()) return list;
  std::ranges::copy(numbers, std::back_inserter(software_lists_.numbers));
  software_lists_.ends.push_back(software_lists_.numbers.size());
  return list;
}

std::span<const uint32_t> RecordTable::nodes_of(const RecordRow& row) const {
  return row.nodes == kNoList ? std::span<const uint32_t>() : node_lists_[row.nodes];
}

std::span<const StoredGpu> RecordTable::gpus_of(const RecordRow& row) const {
  if (row.gpus == kNoList) return {};
  const size_t begin = row.gpus == 0 ? 0 : gpu_ends_[row.gpus - 1];
  return std::span(gpus_).subspan(begin, gpu_ends_[row.gpus] - begin);
}

std::span<const uint32_t> RecordTable::software_of(const RecordRow& row) const {
  return row.software == kNoList ? std::span<const uint32_t>() : software_lists_[row.software];
}

UsageMarks RecordTable::usage_of(const RecordRow& row) const {
  return row.usage == kNoList ? UsageMarks{} : usage_[row.usage];
}

AccountingRecord RecordTable::record(size_t index, RecordBuffers& buffers) const {
  const RecordRow& row = rows_[index];
  buffers = {};
  for (const uint32_t node : nodes_of(row)) {
    if (!buffers.node_list.empty()) buffers.node_list += ',';
    buffers.node_list += node_names_[node];
  }
  for (const StoredGpu& gpu : gpus_of(row)) {
    buffers.gpus.push_back({.node = node_names_[gpu.node],
                            .gpu = gpu_names_[gpu.gpu],
                            .util_pct = gpu.util_pct,
                            .mem_used_bytes = gpu.mem_used_bytes,
                            .mem_total_bytes = gpu.mem_total_bytes});
  }
  for (const uint32_t name : software_of(row)) buffers.software.push_back(software_names_[name]);
  AccountingRecord out;
  out.line = row.line;
  out.id = id(index);
  out.job_number = row.job_number;
  out.array_task = row.array_task;
  out.het_part = row.het_part;
  out.run = row.run;
  out.restarts = row.restarts;
  out.cluster = clusters_[row.cluster];
  out.user = users_[row.user];
  out.account = accounts_[row.account];
  out.group = groups_[row.group];
  out.partition = partitions_[row.partition];
  out.qos = qos_[row.qos];
  out.reservation = reservations_[row.reservation];
  out.resource_type = resource_types_[row.resource_type];
  out.job_name = job_name(index);
  out.submit_ns = row.submit_ns;
  out.eligible_ns = row.eligible_ns;
  out.start_ns = row.start_ns;
  out.end_ns = row.end_ns;
  out.walltime_limit_ns = row.walltime_limit_ns;
  if (row.start_ns < 0 && row.run_ns >= 0) out.work_s = base::to_seconds(row.run_ns);
  if (row.start_ns >= 0 && row.end_ns >= 0 && row.run_ns >= 0) {
    out.suspended_ns = row.end_ns - row.start_ns - row.run_ns;
  }
  out.state = row.state;
  out.kind = row.kind;
  out.exit_code = row.exit_code;
  out.signal = row.signal;
  out.failed_code = row.failed_code;
  if (row.num_gpus >= 0) out.num_gpus = row.num_gpus;
  out.gpu_milli = row.gpu_milli;
  out.gpu_share = row.gpu_share;
  out.gpu_type = gpu_types_[row.gpu_type];
  out.instances = row.instances;
  out.num_nodes = row.num_nodes;
  out.cpu_cores = row.cpu_cores;
  out.mem_bytes = row.mem_bytes;
  out.priority = row.priority;
  out.node_list = buffers.node_list;
  out.gpus = buffers.gpus;
  out.software = buffers.software;
  out.usage = usage_of(row);
  out.array_tasks = row.array_tasks;
  return out;
}

}  // namespace goban::site::records
