// Format `records`: a complete AccountingRecord, as written by `goban history export`
// (records_columns.hpp). Times are seconds since 1970 UTC, or since the start of a trace; empty =
// unknown. gpus = node|gpu|utilisation %|peak bytes|bytes of the GPU, separated by semicolons;
// software = names separated by semicolons.
#include <fmt/format.h>

#include "site/records/formats/named_parser.hpp"
#include "site/records/formats/records_columns.hpp"
#include "site/records/record_csv.hpp"

namespace goban::site::records {
namespace {

class RecordsParser final : public NamedParser {
 public:
  using enum RecordsColumn;
  explicit RecordsParser(const Header& header) : NamedParser(header, kRecordsColumns) {}

  std::string parse(ColumnReader& fields, AccountingRecord& record) override {
    fields_ = &fields;
    record.id = get(Id);
    record.job_number = whole(JobNumber, -1, INT64_MAX);
    record.array_task = whole(ArrayTask, -1, INT64_MAX);
    record.het_part = small(HetPart, -1);
    record.run = small(Run, 0);
    record.restarts = small(Restarts, -1);
    record.cluster = get(Cluster);
    record.user = get(User);
    record.account = get(Account);
    record.group = get(Group);
    record.partition = get(Partition);
    record.qos = get(Qos);
    record.reservation = get(Reservation);
    record.resource_type = get(ResourceType);
    record.type_may_be_left_out = true;
    record.model = get(Model);
    record.job_name = get(JobName);
    record.command_line = get(CommandLine);
    record.submit_ns = time(Submit, -1);
    record.eligible_ns = time(Eligible, -1);
    record.start_ns = time(Start, -1);
    record.end_ns = time(End, -1);
    record.work_s = real(Work);
    record.walltime_limit_ns = time(Walltime, 0);
    read_sizes(record);
    if (std::string problem = read_words(record); !problem.empty()) return problem;
    read_usage(record.usage);
    return read_lists(record);
  }
  bool has_walltimes() const override { return has(static_cast<size_t>(Walltime)); }

 private:
  std::string_view get(RecordsColumn column) const {
    return text(*fields_, static_cast<size_t>(column));
  }
  [[nodiscard]] size_t at(RecordsColumn column) const {
    return position(static_cast<size_t>(column));
  }
  int64_t whole(RecordsColumn column, int64_t missing, int64_t most, int64_t least = 0) {
    if (get(column).empty()) return missing;
    return fields_->whole(at(column), kRecordsColumns[static_cast<size_t>(column)], least, most);
  }
  int32_t small(RecordsColumn column, int32_t missing) {
    return static_cast<int32_t>(whole(column, missing, INT32_MAX));
  }
  TimeNs time(RecordsColumn column, TimeNs missing) {
    if (get(column).empty()) return missing;
    return fields_->seconds(at(column), kRecordsColumns[static_cast<size_t>(column)]);
  }
  double real(RecordsColumn column) {
    if (get(column).empty()) return -1;
    return fields_->number(at(column), kRecordsColumns[static_cast<size_t>(column)]);
  }

  void read_sizes(AccountingRecord& record) {
    record.exit_code = small(ExitCode, -1);
    record.signal = small(Signal, -1);
    record.failed_code = small(FailedCode, -1);
    if (!get(NumGpus).empty()) record.num_gpus = small(NumGpus, -1);
    record.gpu_milli = small(GpuMilli, 0);
    record.gpu_share = whole(GpuShare, 0, 1) == 1;
    record.gpu_type = get(GpuType);
    record.instances = small(Instances, 0);
    record.num_nodes = small(NumNodes, -1);
    record.cpu_cores = small(CpuCores, 0);
    record.mem_bytes = whole(Mem, -1, INT64_MAX);
    record.priority = static_cast<int32_t>(whole(Priority, 0, INT32_MAX, INT32_MIN));
    record.node_list = get(NodeList);
    record.array_tasks = static_cast<int32_t>(whole(ArrayTasks, 0, kArrayTasksMax));
  }

  std::string read_words(AccountingRecord& record) {
    if (std::string problem = read_end(*fields_, static_cast<size_t>(State), record);
        !problem.empty()) {
      return problem;
    }
    const std::string_view kind = get(Kind);
    if (kind == "batch") record.kind = JobKind::Batch;
    if (kind == "interactive") record.kind = JobKind::Interactive;
    if (kind.empty() || record.kind != JobKind::Unknown) return {};
    return fmt::format("kind \"{}\" is neither batch nor interactive", kind.substr(0, 40));
  }

  void read_usage(UsageMarks& usage) {
    usage.gpu_util_pct_max = static_cast<float>(real(UtilMax));
    usage.gpu_mem_bytes_max = whole(GpuMemMax, -1, INT64_MAX);
    usage.mem_bytes_max = whole(MemMax, -1, INT64_MAX);
    usage.read_bytes = whole(Read, -1, INT64_MAX);
    usage.write_bytes = whole(Write, -1, INT64_MAX);
    usage.cpu_s = real(CpuSeconds);
    usage.energy_j = real(Energy);
  }

  std::string read_lists(AccountingRecord& record) {
    parse_software(get(Software), software_);
    record.software = software_;
    if (!parse_gpu_list(get(Gpus), gpus_)) {
      return "gpus is not a list of node|gpu|utilisation|used|total";
    }
    record.gpus = gpus_;
    return {};
  }

  ColumnReader* fields_ = nullptr;
  std::vector<HeldGpu> gpus_;
  std::vector<std::string_view> software_;
};

constexpr std::array<std::string_view, 4> kRequired = {"job_id", "submit_unix_s", "start_unix_s",
                                                       "end_unix_s"};

}  // namespace

const RecordFormat kRecordsCsv = {
    "records", "job_id,...,submit_unix_s,...,start_unix_s,end_unix_s,...,num_gpus,...",
    [](const Header& header) { return has_columns(header, kRequired); },
    [](const FormatInput& input) {
      return open_named<RecordsParser>("records", kRequired, input);
    }};

}  // namespace goban::site::records
