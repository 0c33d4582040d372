// Two tables of alibaba/clusterdata.
//
// `alibaba-spot` (cluster-trace-v2026-spot-gpu, job_info_df.csv): job_name,organization,gpu_model,
// cpu_request,gpu_request,worker_num,submit_time,duration,job_type. A job is a gang of worker_num
// workers, each on one node with gpu_request GPUs and cpu_request cores. job_type HP = high
// priority, not preempted; Spot = preemptible, lower priority. gpu_model is a hard constraint: with
// a cluster that has the resource type MODELxGPUS (`goban cluster import --alibaba-spot-nodes`
// makes them) each worker is one instance of it. gpu_request below 1 takes a whole GPU, counted.
// Seconds from the first submission; no users, states and starts.
//
// `alibaba-dlrm` (cluster-trace-gpu-v2025, disaggregated_DLRM_trace.csv): instances of serving
// jobs, with or without a GPU: instance_sn,role,app_name,cpu_request,...,creation_time,
// scheduled_time,deletion_time. Seconds over 31 days. Without creation and scheduled time an
// instance was there before the trace, without deletion time it is still there at its end. They
// serve requests, so they are not preempted. max_instance_per_node and the requests for RDMA,
// memory limits and disk are not used.
#include <cmath>
#include <fmt/format.h>

#include "base/number.hpp"
#include "base/units.hpp"
#include "site/records/formats/named_parser.hpp"

namespace goban::site::records {
namespace {

class SpotParser final : public NamedParser {
 public:
  enum Column : size_t {
    kName,
    kOrganization,
    kModel,
    kCpus,
    kGpus,
    kWorkers,
    kSubmit,
    kDuration,
    kType
  };
  static constexpr std::array<std::string_view, 9> kNames = {
      "job_name",   "organization", "gpu_model", "cpu_request", "gpu_request",
      "worker_num", "submit_time",  "duration",  "job_type"};
  explicit SpotParser(const Header& header) : NamedParser(header, kNames) {}

  std::string parse(ColumnReader& fields, AccountingRecord& record) override {
    record.id = text(fields, kName);
    record.account = text(fields, kOrganization);
    record.gpu_type = text(fields, kModel);
    record.submit_ns = seconds(fields, kSubmit);
    record.work_s = number(fields, kDuration);
    const int64_t workers = fields.whole(position(kWorkers), kNames[kWorkers], 1, 1'000'000);
    const double cores = number(fields, kCpus) * static_cast<double>(workers);
    if (cores > INT32_MAX) return "cpu_request x worker_num is out of range";
    record.cpu_cores = static_cast<int64_t>(std::ceil(cores));
    record.qos = text(fields, kType);
    if (record.qos != "HP" && record.qos != "Spot") {
      return fmt::format("job_type \"{}\" is neither HP nor Spot", record.qos.substr(0, 40));
    }
    record.stays = record.qos == "HP";
    record.priority = record.stays ? 1 : 0;
    if (!fields.problem().empty()) return {};
    std::string problem = read_gpus(fields, workers, record);
    if (problem.empty() && record.submit_ns == 0) ++before_;
    return problem;
  }
  std::vector<std::string> notes() const override {
    if (before_ == 0) return {};
    return {fmt::format("{} jobs with submit_time 0 ran before the trace began", before_)};
  }

 private:
  std::string read_gpus(ColumnReader& fields, int64_t workers, AccountingRecord& record) {
    const double each = number(fields, kGpus);
    const bool part = each > 0 && each < 1;
    if (!part && (each != std::trunc(each) || each > UINT8_MAX)) {
      return fmt::format("gpu_request \"{}\" is neither a part of a GPU nor 0 to 255 GPUs",
                         text(fields, kGpus).substr(0, 40));
    }
    const int64_t gpus = part ? 1 : static_cast<int64_t>(each);
    record.num_gpus = gpus * workers;
    record.gpu_share = part;
    if (part) {
      record.gpu_milli = std::max(1, static_cast<int32_t>(std::lround(each * 1000)));
    }
    if (gpus == 0) return {};
    type_.assign(record.gpu_type);
    type_ += 'x';
    base::append_number(type_, gpus);
    record.resource_type = type_;
    record.instances = workers;
    record.type_may_be_left_out = true;
    return {};
  }

  std::string type_;
  int64_t before_ = 0;
};

class DlrmParser final : public NamedParser {
 public:
  enum Column : size_t {
    kInstance,
    kRole,
    kApp,
    kCpus,
    kGpus,
    kMemory,
    kPerNode,
    kCreated,
    kScheduled,
    kDeleted
  };
  static constexpr std::array<std::string_view, 10> kNames = {
      "instance_sn",           "role",          "app_name",
      "cpu_request",           "gpu_request",   "memory_request",
      "max_instance_per_node", "creation_time", "scheduled_time",
      "deletion_time"};
  /// Last time of the trace.
  static constexpr base::TimeNs kEndNs = 2'677'541 * base::kSecond;
  explicit DlrmParser(const Header& header) : NamedParser(header, kNames) {}

  std::string parse(ColumnReader& fields, AccountingRecord& record) override {
    record.id = text(fields, kInstance);
    record.account = text(fields, kApp);
    record.partition = text(fields, kRole);
    record.stays = true;
    record.num_gpus = count(fields, kGpus);
    record.cpu_cores = static_cast<int64_t>(std::ceil(std::min(number(fields, kCpus), 1e9)));
    if (is_given(text(fields, kMemory))) {
      const double gib = number(fields, kMemory);
      constexpr double kGibMax = 1e9;
      if (gib > 0 && gib < kGibMax) record.mem_bytes = static_cast<int64_t>(gib * base::kGib);
    }
    return read_times(fields, record);
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes = {
        "instances serve requests: they are not preempted; role = partition, app_name = account"};
    if (before_ > 0) {
      notes.push_back(fmt::format("{} instances were there before the trace began", before_));
    }
    if (still_there_ > 0) {
      notes.push_back(fmt::format("{} instances end with the trace, at {} s", still_there_,
                                  kEndNs / base::kSecond));
    }
    if (limited_ > 0) {
      notes.push_back(fmt::format("max_instance_per_node limits {} instances: not used", limited_));
    }
    return notes;
  }

 private:
  static bool is_given(std::string_view text) { return !text.empty() && text != "nan"; }

  std::string read_times(ColumnReader& fields, AccountingRecord& record) {
    const bool created = is_given(text(fields, kCreated));
    const bool scheduled = is_given(text(fields, kScheduled));
    const bool deleted = is_given(text(fields, kDeleted));
    record.submit_ns = created ? seconds(fields, kCreated) : 0;
    if (created && !scheduled) return "creation_time without scheduled_time";
    record.start_ns = scheduled ? seconds(fields, kScheduled) : 0;
    const base::TimeNs end_ns = deleted ? seconds(fields, kDeleted) : kEndNs;
    if (!fields.problem().empty()) return {};
    if (end_ns < record.start_ns) return "deletion_time is before scheduled_time";
    record.work_s = base::to_seconds(end_ns - record.start_ns);
    before_ += created ? 0 : 1;
    still_there_ += deleted ? 0 : 1;
    const std::string_view per_node = text(fields, kPerNode);
    limited_ += is_given(per_node) && !per_node.starts_with('-') ? 1 : 0;
    return {};
  }

  int64_t before_ = 0;
  int64_t still_there_ = 0;
  int64_t limited_ = 0;
};

bool is_spot(const Header& header) { return has_columns(header, SpotParser::kNames); }
bool is_dlrm(const Header& header) { return has_columns(header, DlrmParser::kNames); }

}  // namespace

const RecordFormat kAlibabaSpot = {
    "alibaba-spot",
    "job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration,"
    "job_type",
    is_spot, [](const FormatInput& input) {
      return open_named<SpotParser>("alibaba-spot", SpotParser::kNames, input);
    }};

const RecordFormat kAlibabaDlrm = {
    "alibaba-dlrm",
    "instance_sn,role,app_name,cpu_request,gpu_request,memory_request,max_instance_per_node,"
    "creation_time,scheduled_time,deletion_time,...",
    is_dlrm, [](const FormatInput& input) {
      return open_named<DlrmParser>("alibaba-dlrm", DlrmParser::kNames, input);
    }};

}  // namespace goban::site::records
