// Format `swf`: the Standard Workload Format 2.2 of the Parallel Workloads Archive. No header line;
// `;` starts a comment, and `; Key: value` comments describe the log. Fields, where -1 = unknown:
//
//    1 job            id
//    2 submit         seconds after UnixStartTime, which is added if present in the comments
//    3 wait           determines the recorded start
//    4 run            duration; a record without it is rejected
//    5, 8 processors  allocated, requested: the requested ones are used if known. --procs-per-gpu
//                     processors are one GPU, rounded up
//    9 time           requested: the walltime limit
//   11 status         0 failed, 1 completed, 5 cancelled. 2, 3 and 4 are parts of a job that has a
//                     summary record of its own: rejected
//   12 user, 13 group (account), 14 executable (model)
//   15 queue          the partition; if unknown, field 16
//   17, 18 preceding job and think time, 6, 7, 10 and fields after 18: not used
//
// `; GpuFields: 19 20`, as written by `goban history export`: field 19 is the number of GPUs and
// field 20 the thousandths that each part holds if parts were requested (held_gpus); processors are
// then cores.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/field_splitter.hpp"
#include "base/number.hpp"
#include "site/records/formats/named_parser.hpp"

namespace goban::site::records {
namespace {

enum SwfField : size_t {
  kJob = 0,
  kSubmit = 1,
  kWait = 2,
  kRun = 3,
  kProcsAllocated = 4,
  kProcsRequested = 7,
  kTimeRequested = 8,
  kStatus = 10,
  kUser = 11,
  kGroup = 12,
  kExecutable = 13,
  kQueue = 14,
  kPartition = 15,
  kGpus = 18,
  kGpuMilli = 19,
};

/// True for -1 in any notation.
bool is_unknown(std::string_view text) {
  if (!text.starts_with('-')) return false;
  const auto value = base::parse_double(text);
  return value && *value == -1;
}

class SwfParser final : public RecordParser {
 public:
  explicit SwfParser(int64_t procs_per_gpu) : procs_per_gpu_(procs_per_gpu) {}

  std::string take_comment(std::string_view line) override {
    constexpr std::string_view kKey = "UnixStartTime:";
    constexpr std::string_view kBlanks = "; \t";
    const size_t begin = line.find_first_not_of(kBlanks);
    if (begin != line.npos && line.substr(begin).starts_with("GpuFields: 19 20")) {
      has_gpu_fields_ = true;
      return {};
    }
    if (begin == line.npos || !line.substr(begin).starts_with(kKey)) return {};
    std::string_view value = line.substr(begin + kKey.size());
    value.remove_prefix(std::min(value.find_first_not_of(kBlanks), value.size()));
    value = value.substr(0, value.find_first_of(kBlanks));
    if (value.empty() || is_unknown(value)) return {};
    const std::array fields{value};
    ColumnReader reader(fields);
    start_ns_ = reader.seconds(0, "UnixStartTime");
    return reader.problem();
  }

  std::string parse(ColumnReader& fields, AccountingRecord& record) override {
    record.id = fields.text(kJob);
    if (std::string problem = read_times(fields, record); !problem.empty()) return problem;
    if (std::string problem = read_procs(fields, record); !problem.empty()) return problem;
    record.user = name(fields, kUser);
    record.account = name(fields, kGroup);
    record.model = name(fields, kExecutable);
    record.partition = name(fields, is_unknown(fields.text(kQueue)) ? kPartition : kQueue);
    return read_status(fields, record);
  }

  std::vector<std::string> notes() const override {
    if (procs_per_gpu_ > 1 || has_gpu_fields_) return {};
    return {
        "swf counts processors, not GPUs: each processor was read as one GPU "
        "(set --procs-per-gpu N to change this)"};
  }

 private:
  static std::string_view name(const ColumnReader& fields, SwfField field) {
    const std::string_view text = fields.text(field);
    return is_unknown(text) ? std::string_view() : text;
  }

  std::string read_times(ColumnReader& fields, AccountingRecord& record) const {
    record.submit_ns = start_ns_ + fields.seconds(kSubmit, "submit time");
    if (record.submit_ns > base::from_seconds(base::kMaxSeconds)) {
      return "the submit time exceeds 4.6e9 seconds";
    }
    if (is_unknown(fields.text(kRun))) return "the run time is unknown";
    record.work_s = fields.number(kRun, "run time");
    if (!is_unknown(fields.text(kWait))) {
      record.start_ns = record.submit_ns + fields.seconds(kWait, "wait time");
    }
    if (!is_unknown(fields.text(kTimeRequested))) {
      record.walltime_limit_ns = fields.seconds(kTimeRequested, "requested time");
    }
    return {};
  }

  std::string read_gpus(ColumnReader& fields, AccountingRecord& record) const {
    if (fields.size() <= kGpuMilli) return "the GPU fields 19 and 20 are missing";
    if (is_unknown(fields.text(kGpus))) return "the number of GPUs is unknown";
    record.num_gpus = fields.whole(kGpus, "GPUs", 0, INT32_MAX);
    if (!is_unknown(fields.text(kGpuMilli))) {
      record.gpu_milli = static_cast<int32_t>(fields.whole(kGpuMilli, "GPU milli", 0, INT32_MAX));
      record.gpu_share = record.gpu_milli % 1000 != 0;
    }
    if (!is_unknown(fields.text(kProcsAllocated))) {
      record.cpu_cores = fields.whole(kProcsAllocated, "allocated processors", 0, INT32_MAX);
    }
    return {};
  }

  std::string read_procs(ColumnReader& fields, AccountingRecord& record) const {
    if (has_gpu_fields_) return read_gpus(fields, record);
    for (const auto& [field, label] : {std::pair{kProcsRequested, "requested processors"},
                                       std::pair{kProcsAllocated, "allocated processors"}}) {
      if (is_unknown(fields.text(field))) continue;
      const int64_t procs = fields.whole(field, label, 0, INT32_MAX);
      if (procs == 0 && fields.problem().empty()) continue;
      record.num_gpus = (procs + procs_per_gpu_ - 1) / procs_per_gpu_;
      return {};
    }
    return "neither requested nor allocated processors are known";
  }

  static std::string read_status(ColumnReader& fields, AccountingRecord& record) {
    if (is_unknown(fields.text(kStatus))) return {};
    const int64_t status = fields.whole(kStatus, "status", 0, 5);
    if (status >= 2 && status <= 4) {
      return fmt::format("status {}: a part of a job that has a record of its own", status);
    }
    record.state = status == 0   ? RecordedState::Failed
                   : status == 1 ? RecordedState::Completed
                                 : RecordedState::Cancelled;
    return {};
  }

  int64_t procs_per_gpu_;
  base::TimeNs start_ns_ = 0;
  bool has_gpu_fields_ = false;
};

/// The first line of an SWF file: a comment, or kSwfFields numbers and any further columns.
bool recognises_swf(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  if (first != line.npos && line[first] == ';') return true;
  base::FieldSplitter splitter;
  splitter.split_blanks(line);
  return splitter.fields().size() >= kSwfFields &&
         std::ranges::all_of(splitter.fields().first(kSwfFields), [](std::string_view field) {
           return base::parse_double(field).has_value();
         });
}

base::Result<std::unique_ptr<RecordParser>> open_swf(const FormatInput& input) {
  return std::make_unique<SwfParser>(std::max<int64_t>(1, input.options.procs_per_gpu));
}

}  // namespace

const RecordFormat kSwf = {
    .name = "swf",
    .header = "no header line: comments after ;, 18 fields separated by blanks",
    .open = open_swf,
    .layout = Layout::Swf,
    .recognises_text = recognises_swf,
};

}  // namespace goban::site::records
