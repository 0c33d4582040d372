// Format `alibaba-pai`: a folder with the tables of Alibaba's cluster-trace-gpu-v2020 (PAI),
// according to its description; the CSV files have no header line:
//
//   pai_job_table.csv       job_name,inst_id,user,status,start_time,end_time
//   pai_task_table.csv      job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,
//                           plan_mem,plan_gpu,gpu_type
//   pai_sensor_table.csv    job_name,task_name,worker_name,inst_id,machine,gpu_name,cpu_usage,
//   (optional)              gpu_wrk_util,avg_mem,max_mem,avg_gpu_wrk_mem,max_gpu_wrk_mem,
//                           read,write,read_count,write_count
//   pai_instance_table.csv  job_name,task_name,inst_name,worker_name,inst_id,status,start_time,
//   (optional)              end_time,machine
//
// each plain or gzip. One record per job: submission = the job's start_time, start = the earliest
// start of its tasks, end = the job's end_time. Times are seconds from the start of the trace.
// plan_cpu and plan_gpu are percent of one core and one GPU, for each of inst_num instances; an
// instance that requests a part of a GPU is counted as one GPU and as a share. Memory is in GB
// (2^30 here). Sensor values are means over the life of a worker, in percent of one GPU (values
// above 100 occur). Nodes are the machines of instances and sensors. The tables of groups and
// machines are not used. Not tested on the original files.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/field_splitter.hpp"
#include "base/line_reader.hpp"
#include "base/name_table.hpp"
#include "base/number.hpp"
#include "base/units.hpp"
#include "site/records/interned_column.hpp"
#include "site/records/record_format.hpp"

namespace goban::site::records {
namespace {

using base::TimeNs;
using Row = std::span<const std::string_view>;

constexpr double kPercent = 100;

/// The table in the folder, plain or gzip; empty if it is not there.
std::string find_table(const std::string& folder, std::string_view table) {
  for (const std::string_view ending : {".csv", ".csv.gz"}) {
    std::string path = fmt::format("{}/{}{}", folder, table, ending);
    if (std::error_code error; std::filesystem::exists(path, error)) return path;
  }
  return {};
}

/// What is known of a job.
struct PaiJob {
  int64_t line = 0;
  TimeNs submit_ns = -1;
  TimeNs start_ns = -1;
  TimeNs end_ns = -1;
  RecordedState state = RecordedState::Unknown;
  uint32_t user = InternedColumn::kNoName;
  uint32_t gpu_type = InternedColumn::kNoName;
  bool has_tasks = false;
  bool gpu_share = false;
  bool one_kind = true;   ///< all tasks request the same part of a GPU
  int32_t gpu_milli = 0;  ///< of one instance
  int64_t num_gpus = 0;
  double cpu_pct = 0;
  double mem_gib = 0;
  double mem_gib_max = -1;  ///< measured
  double read_bytes = -1;
  double write_bytes = -1;
};

struct Sensor {
  uint32_t job = 0;
  uint32_t machine = InternedColumn::kNoName;
  uint32_t gpu = InternedColumn::kNoName;
  float util_pct = -1;
  float mem_gib = -1;
};

/// A machine that ran a part of a job.
struct Place {
  uint32_t job = 0;
  uint32_t machine = 0;
  auto operator<=>(const Place&) const = default;
};

/// The items of a job at the start of `rest`, which is sorted by job; removes them from `rest`.
template <typename Item>
std::span<const Item> take_of_job(std::span<const Item>& rest, uint32_t job) {
  size_t count = 0;
  while (count < rest.size() && rest[count].job == job) ++count;
  const auto items = rest.first(count);
  rest = rest.subspan(count);
  return items;
}

class PaiReader {
 public:
  PaiReader(const ReadOptions& options, RecordOutput& out) : options_(options), out_(out) {}

  base::Result<std::vector<std::string>> read(const std::string& folder) {
    for (const std::string_view table : {"pai_job_table", "pai_task_table"}) {
      if (!find_table(folder, table).empty()) continue;
      return base::bad_data({folder, 0, 0, {}},
                            fmt::format("{}.csv (or .csv.gz) is missing", table),
                            "put the tables of cluster-trace-gpu-v2020 into one folder");
    }
    auto status = read_table(folder, "pai_job_table", 6, &PaiReader::take_job);
    if (status) status = read_table(folder, "pai_task_table", 10, &PaiReader::take_task);
    if (status) status = read_table(folder, "pai_sensor_table", 14, &PaiReader::take_sensor);
    if (status) status = read_table(folder, "pai_instance_table", 9, &PaiReader::take_instance);
    if (!status) return base::failure(status.error());
    put_jobs();
    return notes();
  }

 private:
  using Take = std::string (PaiReader::*)(Row fields, int64_t line);

  base::Status read_table(const std::string& folder, std::string_view table, size_t fields_min,
                          Take take);
  std::string take_job(Row fields, int64_t line);
  std::string take_task(Row fields, int64_t line);
  std::string take_sensor(Row fields, int64_t line);
  std::string take_instance(Row fields, int64_t line);
  void put_jobs();
  void put_job(uint32_t number, std::span<const Sensor> sensors, std::span<const Place> places);
  [[nodiscard]] std::vector<std::string> notes() const;

  /// Seconds from the start of the trace; empty = unknown. False if it is not a valid time.
  static bool read_time(std::string_view text, TimeNs& ns) {
    ns = -1;
    if (text.empty()) return true;
    const auto seconds = base::parse_double(text);
    if (!seconds || *seconds < 0 || *seconds > base::kMaxSeconds) return false;
    ns = base::from_seconds(*seconds);
    return true;
  }
  /// A number that is not negative; empty = `missing`. False if it is none.
  static bool read_number(std::string_view text, double missing, double& value) {
    value = missing;
    if (text.empty()) return true;
    const auto parsed = base::parse_double(text);
    if (!parsed || *parsed < 0 || *parsed > 1e15) return false;
    value = *parsed;
    return true;
  }
  PaiJob* find(std::string_view job_name) {
    const uint32_t number = names_.find(job_name);
    return number == UINT32_MAX ? nullptr : &jobs_[number];
  }

  const ReadOptions& options_;
  RecordOutput& out_;
  base::NameTable names_;  ///< of jobs
  std::vector<PaiJob> jobs_;
  InternedColumn users_, gpu_types_, machines_, gpu_names_;
  std::vector<Sensor> sensors_;  ///< of workers with a GPU
  std::vector<Place> places_;    ///< of instances
  int64_t without_tasks_ = 0;
  bool has_sensors_ = false;
};

base::Status PaiReader::read_table(const std::string& folder, std::string_view table,
                                   size_t fields_min, Take take) {
  const std::string path = find_table(folder, table);
  if (path.empty()) return {};
  auto source = base::open_bytes(path);
  if (!source) return base::failure(source.error());
  base::LineReader lines(**source, [&] {
    if (options_.progress) {
      options_.progress((*source)->consumed_bytes(), (*source)->total_bytes());
    }
  });
  base::FieldSplitter splitter;
  base::Line line;
  while (lines.next(line)) {
    if (line.text.empty() || (line.number == 1 && line.text.starts_with("job_name,"))) continue;
    std::string problem;
    if (line.too_long || !splitter.split(line.text)) {
      problem = "the line is too long or a quoted field does not end at a comma";
    } else if (splitter.fields().size() < fields_min) {
      problem = fmt::format("{} fields instead of {}", splitter.fields().size(), fields_min);
    } else {
      problem = (this->*take)(splitter.fields(), line.number);
    }
    if (problem.empty()) continue;
    out_.count_record();
    out_.reject(line.number, fmt::format("{}: {}", table, problem), line.text);
  }
  return lines.status();
}

std::string PaiReader::take_job(Row fields, int64_t line) {
  enum Column : size_t { kName, kInstance, kUser, kStatus, kStart, kEnd };
  PaiJob job;
  job.line = line;
  if (fields[kName].empty()) return "job_name is empty";
  if (!read_time(fields[kStart], job.submit_ns)) return "start_time is not a valid time";
  if (!read_time(fields[kEnd], job.end_ns)) return "end_time is not a valid time";
  if (job.submit_ns < 0) return "start_time is empty";
  const auto state = parse_job_state(fields[kStatus]);
  if (!state) {
    return fmt::format("status \"{}\" is not one of Terminated, Failed, Running, Waiting",
                       fields[kStatus].substr(0, 40));
  }
  if (jobs_.size() >= options_.jobs_max) return fmt::format("more than {} jobs", jobs_.size());
  job.state = *state;
  if (!has_ended(job.state)) job.end_ns = -1;
  if (names_.find(fields[kName]) != UINT32_MAX) {
    return fmt::format("job_name {} was used before", fields[kName]);
  }
  names_.intern(fields[kName]);
  job.user = users_.intern(fields[kUser]);
  jobs_.push_back(job);
  return {};
}

std::string PaiReader::take_task(Row fields, int64_t) {
  enum Column : size_t {
    kName,
    kTask,
    kInstances,
    kStatus,
    kStart,
    kEnd,
    kPlanCpu,
    kPlanMem,
    kPlanGpu,
    kGpuType
  };
  constexpr double kInstancesMax = 1e6;
  constexpr double kPlanMax = 1e7;
  PaiJob* const job = find(fields[kName]);
  if (job == nullptr) return "its job is not in pai_job_table";
  double instances = 0;
  double cpu = 0;
  double mem = 0;
  double gpu = 0;
  TimeNs start_ns = -1;
  if (!read_number(fields[kInstances], 1, instances) || instances > kInstancesMax) {
    return "inst_num is not a valid number";
  }
  if (!read_time(fields[kStart], start_ns)) return "start_time is not a valid time";
  if (!read_number(fields[kPlanCpu], 0, cpu) || cpu > kPlanMax)
    return "plan_cpu is not a valid percentage";
  if (!read_number(fields[kPlanMem], 0, mem) || mem > kPlanMax)
    return "plan_mem is not a valid size";
  if (!read_number(fields[kPlanGpu], 0, gpu) || gpu > kPlanMax)
    return "plan_gpu is not a valid percentage";
  if (start_ns >= 0 && (job->start_ns < 0 || start_ns < job->start_ns)) job->start_ns = start_ns;
  job->cpu_pct += instances * cpu;
  job->mem_gib += instances * mem;
  job->num_gpus += static_cast<int64_t>(std::round(instances) * std::ceil(gpu / kPercent));
  if (gpu > 0) {
    const bool part = std::fmod(gpu, kPercent) != 0;
    const auto milli = static_cast<int32_t>(std::min(gpu * 10, 1e9));
    job->gpu_share |= part;
    job->one_kind &= job->gpu_milli == 0 || job->gpu_milli == milli;
    job->gpu_milli = milli;
    job->gpu_type = gpu_types_.intern(fields[kGpuType]);
  }
  job->has_tasks = true;
  return {};
}

std::string PaiReader::take_sensor(Row fields, int64_t) {
  enum Column : size_t {
    kName,
    kTask,
    kWorker,
    kInstance,
    kMachine,
    kGpu,
    kCpuUsage,
    kGpuUtil,
    kAvgMem,
    kMaxMem,
    kAvgGpuMem,
    kMaxGpuMem,
    kRead,
    kWrite
  };
  PaiJob* const job = find(fields[kName]);
  if (job == nullptr) return "its job is not in pai_job_table";
  double util = 0;
  double mem = 0;
  double gpu_mem = 0;
  double read = 0;
  double written = 0;
  if (!read_number(fields[kGpuUtil], -1, util)) return "gpu_wrk_util is not a valid percentage";
  if (!read_number(fields[kMaxMem], -1, mem)) return "max_mem is not a valid size";
  if (!read_number(fields[kMaxGpuMem], -1, gpu_mem)) return "max_gpu_wrk_mem is not a valid size";
  if (!read_number(fields[kRead], -1, read)) return "read is not a valid size";
  if (!read_number(fields[kWrite], -1, written)) return "write is not a valid size";
  has_sensors_ = true;
  job->mem_gib_max = std::max(job->mem_gib_max, mem);
  if (read >= 0) job->read_bytes = std::max(job->read_bytes, 0.0) + read;
  if (written >= 0) job->write_bytes = std::max(job->write_bytes, 0.0) + written;
  if (fields[kGpu].empty()) return {};
  sensors_.push_back({.job = static_cast<uint32_t>(job - jobs_.data()),
                      .machine = machines_.intern(fields[kMachine]),
                      .gpu = gpu_names_.intern(fields[kGpu]),
                      .util_pct = static_cast<float>(util),
                      .mem_gib = static_cast<float>(gpu_mem)});
  return {};
}

std::string PaiReader::take_instance(Row fields, int64_t) {
  constexpr size_t kMachine = 8;
  const PaiJob* const job = find(fields.front());
  if (job == nullptr) return "its job is not in pai_job_table";
  if (fields[kMachine].empty()) return {};
  const Place place{static_cast<uint32_t>(job - jobs_.data()), machines_.intern(fields[kMachine])};
  // Instances of a job come one after another, often many on a machine.
  if (places_.empty() || places_.back() != place) places_.push_back(place);
  return {};
}

void PaiReader::put_jobs() {
  std::ranges::stable_sort(sensors_, {}, &Sensor::job);
  std::ranges::sort(places_);
  out_.sink().expect(jobs_.size());
  std::span<const Sensor> sensors = sensors_;
  std::span<const Place> places = places_;
  for (uint32_t number = 0; number < jobs_.size(); ++number) {
    put_job(number, take_of_job(sensors, number), take_of_job(places, number));
  }
}

void PaiReader::put_job(uint32_t number, std::span<const Sensor> sensors,
                        std::span<const Place> places) {
  static constexpr double kMost = 9e18;
  const PaiJob& job = jobs_[number];
  const auto bytes = [](double value) {
    return value < 0 ? int64_t{-1} : static_cast<int64_t>(std::min(value, kMost));
  };
  std::vector<HeldGpu> gpus;
  std::vector<std::string_view> machines;
  for (const Sensor& sensor : sensors) {
    gpus.push_back({.node = machines_[sensor.machine],
                    .gpu = gpu_names_[sensor.gpu],
                    .util_pct = sensor.util_pct,
                    .mem_used_bytes = bytes(sensor.mem_gib * base::kGib)});
    if (!gpus.back().node.empty()) machines.push_back(gpus.back().node);
  }
  for (const Place& place : places) machines.push_back(machines_[place.machine]);
  std::ranges::sort(machines);
  machines.erase(std::ranges::unique(machines).begin(), machines.end());
  std::string node_list;
  for (const std::string_view machine : machines) {
    node_list += node_list.empty() ? "" : ",";
    node_list += machine;
  }
  AccountingRecord record;
  record.line = job.line;
  record.id = names_[number];
  record.user = users_[job.user];
  record.kind = JobKind::Batch;
  record.submit_ns = job.submit_ns;
  // Tasks may be stamped a moment before their job.
  record.start_ns = job.start_ns < 0 ? -1 : std::max(job.start_ns, job.submit_ns);
  record.end_ns = job.end_ns;
  record.state = job.state;
  if (job.has_tasks) {
    record.num_gpus = job.num_gpus;
    record.cpu_cores = static_cast<int64_t>(std::min(std::ceil(job.cpu_pct / kPercent), 2e9));
    if (job.mem_gib > 0) record.mem_bytes = bytes(job.mem_gib * base::kGib);
  } else {
    ++without_tasks_;
  }
  record.gpu_share = job.gpu_share;
  if (job.gpu_share && job.one_kind) record.gpu_milli = job.gpu_milli;
  record.gpu_type = gpu_types_[job.gpu_type];
  record.gpus = gpus;
  record.node_list = node_list;
  if (!machines.empty()) record.num_nodes = static_cast<int64_t>(machines.size());
  if (job.mem_gib_max >= 0) record.usage.mem_bytes_max = bytes(job.mem_gib_max * base::kGib);
  record.usage.read_bytes = bytes(job.read_bytes);
  record.usage.write_bytes = bytes(job.write_bytes);
  out_.count_record();
  out_.put(record, record.id);
}

std::vector<std::string> PaiReader::notes() const {
  std::vector<std::string> out;
  if (without_tasks_ > 0) {
    out.push_back(base::counted(without_tasks_, "job has no task, so its size is unknown",
                                "jobs have no task, so their sizes are unknown"));
  }
  if (!has_sensors_) out.emplace_back("pai_sensor_table is missing, so the utilisation is unknown");
  return out;
}

}  // namespace

const RecordFormat kAlibabaPai = {
    .name = "alibaba-pai",
    .header =
        "pai_job_table.csv and pai_task_table.csv, optionally pai_sensor_table.csv, "
        "pai_instance_table.csv",
    .layout = Layout::Folder,
    .recognises_folder =
        [](const std::string& path) { return !find_table(path, "pai_job_table").empty(); },
    .read_folder = [](const std::string& path, const ReadOptions& options,
                      RecordOutput& out) { return PaiReader(options, out).read(path); },
};

}  // namespace goban::site::records
