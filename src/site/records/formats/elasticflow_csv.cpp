// Two formats of ElasticFlow's traces.
//
// `itp-raw` (microsoft/elasticflow-traces, raw-traces): exactly job_id,submission_time,duration,
// num_gpu. Seconds from the start of each of ten clusters' traces, without users.
//
// `elasticflow` (the same repository's elasticflow-traces, and those of pkusys/ElasticFlow):
// job_id; submission_time or submit_time; num_iteration or iteration; model_name; deadline or ddl;
// batch_size; num_gpu; duration; optionally best_effort. The deadline is on the clock of the
// submissions; before submission + duration it can only be kept with more or faster GPUs, which is
// no error. best_effort 1 = no deadline. Models, batch sizes and iterations are invented by the
// authors. Jobs are rigid, num_gpu GPUs for duration seconds, unless rates make them elastic
// (study/history/trace_ranges.hpp).
#include "site/records/formats/named_parser.hpp"

namespace goban::site::records {
namespace {

class RawParser final : public NamedParser {
 public:
  enum Column : size_t { kId, kSubmit, kDuration, kGpus };
  static constexpr std::array<std::string_view, 4> kNames = {"job_id", "submission_time",
                                                             "duration", "num_gpu"};
  explicit RawParser(const Header& header) : NamedParser(header, kNames) {}

  std::string parse(ColumnReader& fields, AccountingRecord& record) override {
    record.id = text(fields, kId);
    record.submit_ns = seconds(fields, kSubmit);
    record.work_s = number(fields, kDuration);
    record.num_gpus = count(fields, kGpus);
    return {};
  }
};

/// Exactly these columns: other tables have them too, among others.
bool is_raw(const Header& header) {
  return header.size() == RawParser::kNames.size() && has_columns(header, RawParser::kNames);
}

class ElasticParser final : public NamedParser {
 public:
  enum Column : size_t {
    kId,
    kGpus,
    kDuration,
    kModel,
    kBatch,
    kSubmission,
    kSubmit,
    kIterations,
    kIteration,
    kDeadline,
    kDdl,
    kBestEffort
  };
  static constexpr std::array<std::string_view, 12> kNames = {
      "job_id",      "num_gpu",       "duration",  "model_name", "batch_size", "submission_time",
      "submit_time", "num_iteration", "iteration", "deadline",   "ddl",        "best_effort"};
  static constexpr size_t kNumCommon = kBatch + 1;
  explicit ElasticParser(const Header& header)
      : NamedParser(header, kNames),
        submit_(has(kSubmission) ? kSubmission : kSubmit),
        iterations_(has(kIterations) ? kIterations : kIteration),
        deadline_(has(kDeadline) ? kDeadline : kDdl) {}

  std::string parse(ColumnReader& fields, AccountingRecord& record) override {
    record.id = text(fields, kId);
    record.submit_ns = seconds(fields, submit_);
    record.work_s = number(fields, kDuration);
    record.num_gpus = count(fields, kGpus);
    record.model = text(fields, kModel);
    record.training.batch_size = static_cast<int32_t>(count(fields, kBatch));
    constexpr int64_t kStepsMax = int64_t{1} << 50;
    record.training.steps = fields.whole(position(iterations_), kNames[iterations_], 1, kStepsMax);
    const bool best_effort =
        has(kBestEffort) && fields.whole(position(kBestEffort), kNames[kBestEffort], 0, 1) == 1;
    if (best_effort || text(fields, deadline_).empty()) return {};
    const base::TimeNs deadline_ns = seconds(fields, deadline_);
    if (!fields.problem().empty()) return {};
    if (deadline_ns < record.submit_ns) return "the deadline is before the submission";
    record.training.deadline_ns = deadline_ns - record.submit_ns;
    return {};
  }
  std::vector<std::string> notes() const override {
    return {
        "models, batch sizes, iterations and deadlines are synthetic; without rates jobs are "
        "rigid: "
        "num_gpu GPUs for duration seconds"};
  }

 private:
  Column submit_;
  Column iterations_;
  Column deadline_;
};

constexpr std::span<const std::string_view> elastic_columns() {
  return std::span(ElasticParser::kNames).first<ElasticParser::kNumCommon>();
}

bool is_elasticflow(const Header& header) {
  const auto one_of = [&](std::string_view first, std::string_view second) {
    return find_column(header, first) || find_column(header, second);
  };
  return has_columns(header, elastic_columns()) && one_of("submission_time", "submit_time") &&
         one_of("num_iteration", "iteration") && one_of("deadline", "ddl");
}

base::Result<std::unique_ptr<RecordParser>> open_elasticflow(const FormatInput& input) {
  if (is_elasticflow(input.header)) return std::make_unique<ElasticParser>(input.header);
  return base::bad_data(input.place, "a column of elasticflow is missing",
                        "it requires job_id, num_gpu, duration, model_name, batch_size, "
                        "submission_time or submit_time, num_iteration or iteration, deadline or "
                        "ddl");
}

}  // namespace

const RecordFormat kItpRaw = {"itp-raw", "job_id,submission_time,duration,num_gpu", is_raw,
                              [](const FormatInput& input) {
                                return open_named<RawParser>("itp-raw", RawParser::kNames, input);
                              }};

const RecordFormat kElasticflow = {
    "elasticflow",
    "job_id,submission_time,num_iteration,model_name,deadline,batch_size,num_gpu,duration"
    "[,best_effort]",
    is_elasticflow, open_elasticflow};

}  // namespace goban::site::records
