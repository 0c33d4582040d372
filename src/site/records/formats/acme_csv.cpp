// Format `acme`: InternLM's AcmeTrace (trace_seren.csv, trace_kalos.csv), March to August 2023,
// according to its README: job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,
// end_time,duration,queue,gpu_time; Kalos has mem_per_pod_GB and others as well.
//
// Times have a zone. The run time is end - start: Kalos' `duration` may include the time in the
// queue, and rows in which it differs are counted. A job without start_time was cancelled in the
// queue. `type` is the class of workload (Pretrain, SFT, Eval, Debug, ...): account and partition.
// gpu_num 0 = a CPU-only job. mem_per_pod_GB is per node.
#include "site/records/formats/acme_csv.hpp"

#include <cmath>
#include <fmt/format.h>

#include "base/units.hpp"
#include "site/records/formats/named_parser.hpp"

namespace goban::site::records {
namespace {

class AcmeParser final : public NamedParser {
 public:
  enum Column : size_t {
    kId,
    kUser,
    kNodes,
    kGpus,
    kCpus,
    kType,
    kState,
    kSubmit,
    kStart,
    kEnd,
    kDuration,
    kQueue,
    kGpuTime,
    kPodMem
  };
  static constexpr std::array<std::string_view, 14> kNames = {
      "job_id",      "user",       "node_num", "gpu_num",  "cpu_num", "type",     "state",
      "submit_time", "start_time", "end_time", "duration", "queue",   "gpu_time", "mem_per_pod_GB"};
  static constexpr size_t kNumRequired = kGpuTime + 1;
  explicit AcmeParser(const Header& header) : NamedParser(header, kNames) {}

  std::string parse(ColumnReader& fields, AccountingRecord& record) override {
    record.id = text(fields, kId);
    record.user = text(fields, kUser);
    record.account = record.partition = text(fields, kType);
    record.num_gpus = count(fields, kGpus);
    record.cpu_cores = count(fields, kCpus);
    if (is_given(text(fields, kNodes))) record.num_nodes = count(fields, kNodes);
    read_memory(fields, record);
    record.submit_ns = time(fields, kSubmit);
    if (std::string problem = read_end(fields, kState, record); !problem.empty()) return problem;
    if (!is_given(text(fields, kStart))) return {};  // never started
    record.start_ns = time(fields, kStart);
    if (!is_given(text(fields, kEnd))) return {};
    const base::TimeNs end_ns = time(fields, kEnd);
    if (!fields.problem().empty()) return {};
    if (end_ns < record.start_ns) return "end_time is before start_time";
    record.work_s = base::to_seconds(end_ns - record.start_ns);
    if (is_given(text(fields, kDuration))) {
      constexpr double kRounding = 1;  // times are whole seconds
      if (std::abs(number(fields, kDuration) - record.work_s) > kRounding) ++other_durations_;
    }
    return {};
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes;
    if (other_durations_ > 0) {
      notes.push_back(fmt::format(
          "duration differs from end_time - start_time in {} rows (it includes the time in the "
          "queue); the difference of the times was used",
          other_durations_));
    }
    if (without_zone_) notes.emplace_back("times without a time zone were read as UTC");
    return notes;
  }

 private:
  static bool is_given(std::string_view text) {
    return !text.empty() && text != "None" && text != "nan" && text != "NaT";
  }
  base::TimeNs time(ColumnReader& fields, Column column) {
    const base::DateTime read = date_time(fields, column);
    without_zone_ |= !read.has_zone;
    return read.unix_ns;
  }
  void read_memory(ColumnReader& fields, AccountingRecord& record) const {
    constexpr double kGibMax = 1e9;
    if (!is_given(text(fields, kPodMem)) || record.num_nodes < 0) return;
    const double gib = number(fields, kPodMem) * static_cast<double>(record.num_nodes);
    if (gib > 0 && gib < kGibMax) record.mem_bytes = static_cast<int64_t>(gib * base::kGib);
  }

  int64_t other_durations_ = 0;
  bool without_zone_ = false;
};

constexpr std::span<const std::string_view> acme_columns() {
  return std::span(AcmeParser::kNames).first<AcmeParser::kNumRequired>();
}

}  // namespace

bool is_acme(const Header& header) { return has_columns(header, acme_columns()); }

const RecordFormat kAcme = {
    "acme",
    "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,"
    "queue,gpu_time[,mem_per_pod_GB]",
    is_acme,
    [](const FormatInput& input) { return open_named<AcmeParser>("acme", acme_columns(), input); }};

}  // namespace goban::site::records
