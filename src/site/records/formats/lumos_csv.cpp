// The two table formats in which DIR-LAB publishes the logs of several sites.
//
// `lumos` (DIR-LAB/lumos; ALCF's Mira, Theta, ThetaGPU): `,job,user,project,state,gpu_num,cpu_num,
// node_num,submit_time,wait_time,run_time,wall_time,node_hour,new_status`. Unix times; numbers may
// be written as 1.0. gpu_num 0 = a CPU-only job. ThetaGPU's gpu_num is the number of nodes (of 8
// GPUs) in every row: simulate it on a cluster with one GPU per node. project = account; new_status
// is the final state; `state`, an exit code, is not used.
//
// `lumos-intervals` (DIR-LAB/Gen-Parallel-Workloads; 15,000 jobs of Philly, Helios, Blue Waters):
// `u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status`. `interval` is the
// time since the previous submission, so submit times are its running sum (verified: Philly's equal
// those of philly-attempts). A record whose interval cannot be read does not advance the time.
//
// wall_time 0 = unknown.
#include "site/records/formats/named_parser.hpp"

namespace goban::site::records {
namespace {

/// 24166353244411.0 is an integer that was converted to floating point.
std::string_view without_fraction(std::string_view name) {
  if (name.ends_with(".0")) name.remove_suffix(2);
  return name;
}

class JobsParser final : public NamedParser {
 public:
  enum Column : size_t {
    kId,
    kUser,
    kProject,
    kGpus,
    kCpus,
    kNodes,
    kSubmit,
    kWait,
    kRun,
    kWall,
    kStatus
  };
  static constexpr std::array<std::string_view, 11> kNames = {
      "job",         "user",      "project",  "gpu_num",   "cpu_num",   "node_num",
      "submit_time", "wait_time", "run_time", "wall_time", "new_status"};
  explicit JobsParser(const Header& header) : NamedParser(header, kNames) {}

  std::string parse(ColumnReader& fields, AccountingRecord& record) override {
    record.id = without_fraction(text(fields, kId));
    record.user = without_fraction(text(fields, kUser));
    record.account = without_fraction(text(fields, kProject));
    record.submit_ns = seconds(fields, kSubmit);
    record.start_ns = record.submit_ns + seconds(fields, kWait);
    record.work_s = number(fields, kRun);
    record.walltime_limit_ns = seconds(fields, kWall);
    record.num_gpus = count(fields, kGpus);
    record.cpu_cores = count(fields, kCpus);
    const int64_t nodes = count(fields, kNodes);
    gpu_jobs_ |= *record.num_gpus > 0;
    gpus_differ_from_nodes_ |= *record.num_gpus != nodes;
    return read_end(fields, kStatus, record);
  }
  std::vector<std::string> notes() const override {
    if (!gpu_jobs_ || gpus_differ_from_nodes_) return {};
    return {
        "gpu_num equals node_num in every record, so it seems to count nodes (ThetaGPU's does): "
        "use a cluster with one GPU per node"};
  }

 private:
  bool gpu_jobs_ = false;
  bool gpus_differ_from_nodes_ = false;
};

class IntervalsParser final : public NamedParser {
 public:
  enum Column : size_t { kId, kUser, kGpus, kCpus, kInterval, kRun, kWall, kStatus };
  static constexpr std::array<std::string_view, 8> kNames = {
      "u_id", "user", "gpu_num", "cpu_num", "interval", "run_time", "wall_time", "new_status"};
  explicit IntervalsParser(const Header& header) : NamedParser(header, kNames) {}

  std::string parse(ColumnReader& fields, AccountingRecord& record) override {
    const base::TimeNs interval_ns = seconds(fields, kInterval);
    if (!fields.problem().empty()) return {};
    if (interval_ns > base::from_seconds(base::kMaxSeconds) - submit_ns_) {
      return "the intervals add up to more than 4.6e9 seconds";
    }
    submit_ns_ += interval_ns;
    record.id = text(fields, kId);
    record.user = text(fields, kUser);
    record.submit_ns = submit_ns_;
    record.work_s = number(fields, kRun);
    record.walltime_limit_ns = seconds(fields, kWall);
    record.num_gpus = count(fields, kGpus);
    record.cpu_cores = count(fields, kCpus);
    return read_end(fields, kStatus, record);
  }

 private:
  base::TimeNs submit_ns_ = 0;
};

template <typename Parser>
bool recognises_lumos(const Header& header) {
  return has_columns(header, Parser::kNames);
}

}  // namespace

const RecordFormat kLumos = {
    "lumos",
    ",job,user,project,state,gpu_num,cpu_num,node_num,submit_time,wait_time,run_time,wall_time,"
    "node_hour,new_status",
    recognises_lumos<JobsParser>, [](const FormatInput& input) {
      return open_named<JobsParser>("lumos", JobsParser::kNames, input);
    }};

const RecordFormat kLumosIntervals = {
    .name = "lumos-intervals",
    .header = "u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status",
    .recognises = recognises_lumos<IntervalsParser>,
    .open =
        [](const FormatInput& input) {
          return open_named<IntervalsParser>("lumos-intervals", IntervalsParser::kNames, input);
        },
    .ids_are_rows = true,
};

}  // namespace goban::site::records
