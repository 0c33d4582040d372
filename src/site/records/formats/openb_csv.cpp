// Format `openb`: the pods of Alibaba's cluster-trace-gpu-v2023, `name,cpu_milli,memory_mib,
// num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time`. Seconds
// from the start of the trace.
//
// The duration is deletion - scheduled, or deletion - creation for pods that were never scheduled
// (phase Pending). gpu_milli below 1000 requests that share of one GPU: such a pod is counted as
// one GPU and as a share. num_gpu 0 = a CPU-only pod. Phases Succeeded and Failed are final states;
// Running (at the end of the trace) and Pending are not. gpu_spec, the GPU models a pod accepts, is
// not used. The lists without times (multigpu50) cannot be read as a history.
#include <fmt/format.h>

#include "site/records/formats/named_parser.hpp"

namespace goban::site::records {
namespace {

class OpenbParser final : public NamedParser {
 public:
  enum Column : size_t {
    kName,
    kGpus,
    kGpuMilli,
    kCreated,
    kDeleted,
    kScheduled,
    kCpuMilli,
    kQos,
    kPhase
  };
  static constexpr std::array<std::string_view, 9> kNames = {
      "name",           "num_gpu",   "gpu_milli", "creation_time", "deletion_time",
      "scheduled_time", "cpu_milli", "qos",       "pod_phase"};
  explicit OpenbParser(const Header& header) : NamedParser(header, kNames) {}

  std::string parse(ColumnReader& fields, AccountingRecord& record) override {
    constexpr int64_t kMilli = 1000;
    record.id = text(fields, kName);
    record.qos = text(fields, kQos);
    record.num_gpus = count(fields, kGpus);
    record.gpu_share = *record.num_gpus > 0 && count(fields, kGpuMilli) < kMilli;
    record.cpu_cores = (count(fields, kCpuMilli) + kMilli - 1) / kMilli;
    record.submit_ns = seconds(fields, kCreated);
    base::TimeNs begin_ns = record.submit_ns;
    if (!text(fields, kScheduled).empty()) {
      begin_ns = record.start_ns = seconds(fields, kScheduled);
    }
    const base::TimeNs end_ns = seconds(fields, kDeleted);
    if (!fields.problem().empty()) return {};
    if (end_ns < begin_ns) return "deletion_time is before the pod started";
    record.work_s = base::to_seconds(end_ns - begin_ns);
    return read_phase(text(fields, kPhase), record);
  }

 private:
  static std::string read_phase(std::string_view phase, AccountingRecord& record) {
    if (phase == "Succeeded") {
      record.state = RecordedState::Completed;
    } else if (phase == "Failed") {
      record.state = RecordedState::Failed;
    } else if (phase != "Running" && phase != "Pending" && phase != "Unknown" && !phase.empty()) {
      return fmt::format(
          "pod_phase \"{}\" is not one of Running, Pending, Succeeded, Failed, Unknown",
          phase.substr(0, 40));
    }
    return {};
  }
};

bool recognises_openb(const Header& header) { return has_columns(header, OpenbParser::kNames); }

}  // namespace

const RecordFormat kOpenb = {
    "openb",
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
    "deletion_time,scheduled_time",
    recognises_openb, [](const FormatInput& input) {
      return open_named<OpenbParser>("openb", OpenbParser::kNames, input);
    }};

}  // namespace goban::site::records
