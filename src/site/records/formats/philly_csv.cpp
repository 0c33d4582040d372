// Three tables derived from Microsoft's Philly traces (msr-fiddle/philly-traces). None has the
// original job ids; two of them have virtual clusters in place of users.
//
// `philly-attempts` (DIR-LAB/lumos): `,run_time,wait_time,submit_time,gpu_num`. One row per attempt
// of a job; the unnamed column is the row number and becomes the job id. Unix times.
//
// `philly-sia` (siasosp23/artifacts): `timestamp,duration,num_gpus,gpu_time,cluster`. The row
// number, from 0, becomes the job id. `timestamp` is a local time without a time zone, read as UTC;
// `cluster` is the virtual cluster: account and partition.
//
// `chronus` (S-Lab-System-Group/ChronusArtifact): job_id,user,num_gpu,submit_time,model_name,
// duration,... Real arrivals and durations; models and deadlines are synthetic. `user` is the
// virtual cluster: account and partition. `submit_time` counts from the start of the trace.
#include "site/records/formats/named_parser.hpp"

namespace goban::site::records {
namespace {

void set_virtual_cluster(AccountingRecord& record, std::string_view name) {
  record.account = name;
  record.partition = name;
}

class AttemptsParser final : public NamedParser {
 public:
  enum Column : size_t { kId, kRun, kWait, kSubmit, kGpus };
  static constexpr std::array<std::string_view, 5> kNames = {"", "run_time", "wait_time",
                                                             "submit_time", "gpu_num"};
  explicit AttemptsParser(const Header& header) : NamedParser(header, kNames) {}

  std::string parse(ColumnReader& fields, AccountingRecord& record) override {
    record.id = text(fields, kId);
    record.submit_ns = seconds(fields, kSubmit);
    record.work_s = number(fields, kRun);
    record.num_gpus = count(fields, kGpus);
    record.start_ns = record.submit_ns + seconds(fields, kWait);
    return {};
  }
};

class SiaParser final : public NamedParser {
 public:
  enum Column : size_t { kSubmit, kDuration, kGpus, kCluster, kGpuTime };
  static constexpr std::array<std::string_view, 5> kNames = {"timestamp", "duration", "num_gpus",
                                                             "cluster", "gpu_time"};
  explicit SiaParser(const Header& header) : NamedParser(header, kNames) {}

  std::string parse(ColumnReader& fields, AccountingRecord& record) override {
    record.id = row_id(fields);
    const base::DateTime submit = date_time(fields, kSubmit);
    record.submit_ns = submit.unix_ns;
    without_zone_ |= !submit.has_zone;
    record.work_s = number(fields, kDuration);
    record.num_gpus = count(fields, kGpus);
    set_virtual_cluster(record, text(fields, kCluster));
    return {};
  }
  std::vector<std::string> notes() const override {
    if (!without_zone_) return {};
    return {"timestamp has no time zone and was read as UTC (it is local time)"};
  }

 private:
  bool without_zone_ = false;
};

class ChronusParser final : public NamedParser {
 public:
  enum Column : size_t { kId, kUser, kGpus, kSubmit, kModel, kDuration };
  static constexpr std::array<std::string_view, 6> kNames = {
      "job_id", "user", "num_gpu", "submit_time", "model_name", "duration"};
  explicit ChronusParser(const Header& header) : NamedParser(header, kNames) {}

  std::string parse(ColumnReader& fields, AccountingRecord& record) override {
    record.id = text(fields, kId);
    record.submit_ns = seconds(fields, kSubmit);
    record.work_s = number(fields, kDuration);
    record.num_gpus = count(fields, kGpus);
    record.model = text(fields, kModel);
    set_virtual_cluster(record, text(fields, kUser));
    return {};
  }
  std::vector<std::string> notes() const override {
    return {"user contains virtual clusters: used as account and partition; users are unknown"};
  }
};

/// Exactly these columns: other tables of the same source have them too, among others.
bool is_attempts(const Header& header) {
  return header.size() == AttemptsParser::kNames.size() &&
         has_columns(header, AttemptsParser::kNames);
}

template <typename Parser>
bool recognises_philly(const Header& header) {
  return has_columns(header, Parser::kNames);
}

}  // namespace

const RecordFormat kPhillyAttempts = {
    .name = "philly-attempts",
    .header = ",run_time,wait_time,submit_time,gpu_num",
    .recognises = is_attempts,
    .open =
        [](const FormatInput& input) {
          return open_named<AttemptsParser>("philly-attempts", AttemptsParser::kNames, input);
        },
    .ids_are_rows = true,
};

const RecordFormat kPhillySia = {
    .name = "philly-sia",
    .header = "timestamp,duration,num_gpus,gpu_time,cluster",
    .recognises = recognises_philly<SiaParser>,
    .open =
        [](const FormatInput& input) {
          return open_named<SiaParser>("philly-sia", SiaParser::kNames, input);
        },
    .ids_are_rows = true,
};

const RecordFormat kChronus = {"chronus", "job_id,user,num_gpu,submit_time,model_name,duration,...",
                               recognises_philly<ChronusParser>, [](const FormatInput& input) {
                                 return open_named<ChronusParser>("chronus", ChronusParser::kNames,
                                                                  input);
                               }};

}  // namespace goban::site::records
