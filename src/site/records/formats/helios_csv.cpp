// Format `helios`: SenseTime's Helios (HeliosData, cluster_log.csv), and InternLM's AcmeTrace where
// columns that the format `acme` requires are missing, according to their READMEs:
// job_id,user,gpu_num,state,submit_time,duration and, where present, vc, type, cpu_num, start_time,
// end_time. gpu_num 0 = a CPU-only job.
//
// Helios has local times (UTC+8) without a time zone. They are read as UTC unless a zone is given,
// which only shifts the hours of the day by eight. Acme's times have a zone. If start_time and
// end_time are both present, the duration is their difference: Kalos' `duration` includes the time
// in the queue. vc (Acme: type) = account and partition. mem_per_pod_GB is per node.
#include "base/units.hpp"
#include "site/records/formats/acme_csv.hpp"
#include "site/records/formats/named_parser.hpp"

namespace goban::site::records {
namespace {

class HeliosParser final : public NamedParser {
 public:
  enum Column : size_t {
    kId,
    kUser,
    kGpus,
    kState,
    kSubmit,
    kDuration,
    kVc,
    kType,
    kCpus,
    kStart,
    kEnd,
    kNodes,
    kPodMem
  };
  static constexpr std::array<std::string_view, 13> kNames = {
      "job_id", "user",    "gpu_num",    "state",    "submit_time", "duration",      "vc",
      "type",   "cpu_num", "start_time", "end_time", "node_num",    "mem_per_pod_GB"};
  static constexpr size_t kNumRequired = kDuration + 1;
  static constexpr double kGibMax = 1e9;
  explicit HeliosParser(const Header& header) : NamedParser(header, kNames) {}

  std::string parse(ColumnReader& fields, AccountingRecord& record) override {
    record.id = text(fields, kId);
    record.user = text(fields, kUser);
    record.account = record.partition = text(fields, has(kVc) ? kVc : kType);
    record.num_gpus = count(fields, kGpus);
    if (has(kCpus)) record.cpu_cores = count(fields, kCpus);
    if (is_given(text(fields, kNodes))) record.num_nodes = count(fields, kNodes);
    if (is_given(text(fields, kPodMem))) {
      const double gib = number(fields, kPodMem) * static_cast<double>(record.num_nodes);
      if (gib > 0 && gib < kGibMax) record.mem_bytes = static_cast<int64_t>(gib * base::kGib);
    }
    const base::DateTime submit = date_time(fields, kSubmit);
    record.submit_ns = submit.unix_ns;
    without_zone_ |= !submit.has_zone;
    const bool started = is_given(text(fields, kStart));
    if (started) record.start_ns = date_time(fields, kStart).unix_ns;
    if (started && is_given(text(fields, kEnd))) {
      const base::TimeNs end_ns = date_time(fields, kEnd).unix_ns;
      if (!fields.problem().empty()) return {};
      if (end_ns < record.start_ns) return "end_time is before start_time";
      record.work_s = base::to_seconds(end_ns - record.start_ns);
    } else {
      record.work_s = number(fields, kDuration);
    }
    return read_end(fields, kState, record);
  }
  std::vector<std::string> notes() const override {
    if (!without_zone_) return {};
    return {"submit_time has no time zone and was read as UTC (Helios uses UTC+8: set --zone)"};
  }

 private:
  static bool is_given(std::string_view time) {
    return !time.empty() && time != "None" && time != "nan" && time != "NaT";
  }

  bool without_zone_ = false;
};

constexpr std::span<const std::string_view> required() {
  return std::span(HeliosParser::kNames).first<HeliosParser::kNumRequired>();
}

bool recognises_helios(const Header& header) {
  return has_columns(header, required()) && !is_acme(header);
}

}  // namespace

const RecordFormat kHelios = {"helios",
                              "job_id,user,gpu_num,state,submit_time,duration[,vc,type,cpu_num,"
                              "start_time,end_time,node_num,mem_per_pod_GB]",
                              recognises_helios, [](const FormatInput& input) {
                                return open_named<HeliosParser>("helios", required(), input);
                              }};

}  // namespace goban::site::records
