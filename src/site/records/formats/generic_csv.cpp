// Format `generic`: named columns in any order, times in seconds.
//
//   job_id         text, unique                                                      required
//   submit_time    seconds from any origin, >= 0                                     required
//   duration       seconds of work at PM score 1, locality penalty 1; 0 = ends at once  required
//   num_gpus       of all instances; empty if resource_type is given                  required
//   user, model    text; the model determines the class if there is no column `class`
//   class          A (most sensitive to GPU variability) to Z; empty = by model, unknown = A
//   priority       integer, larger first; empty = 0
//   walltime_s     limit in seconds; empty = default of the resource type, or none
//   resource_type  a name from the cluster file; required for jobs without GPUs
//   instances      of the resource type; empty = num_gpus / its GPUs, or 1
//   array_tasks    the record stands for N jobs, named <job_id>_0, <job_id>_1, ...
//   array_limit    maximum number of them that hold resources at once; empty = unlimited
//   account        text: the account to charge
//   partition      text: the queue
//   qos            text: the quality of service
//   start_time     when the site started it, on the clock of submit_time; empty = unknown
//   end_time       when it ended there, same clock; empty = start_time + duration
//   state          final state: COMPLETED FAILED CANCELLED TIMEOUT NODE_FAIL; empty = unknown
//   batch_size     samples per step; empty = unknown
//   epochs         of the entire job; empty = unknown
//   gpu_mem_bytes  peak memory per GPU; empty = unknown
//   gpu_util_pct   utilisation per GPU when alone, 0 to 100; empty = unknown
//   deadline_s     deadline in seconds after submit_time; empty = none
//   max_slowdown   maximum of (finish - submit) / duration, 1 to 1e6; empty = none
//   max_wait_s     maximum seconds without resources; empty = none
//   share          yes or no: whether co-location is allowed; empty = default of the partition
//   gpus_min       elastic job: the fewest GPUs that it runs on; empty = 1
//   gpus_max       elastic job: the most; empty = it runs on num_gpus only
//   steps          of the entire job; empty = as many as it takes in `duration` (docs/elastic.md)
//   resize_cost_s  seconds that a start on another number of GPUs costs; empty = as a restart
//   preemptible    yes or no: whether a running job may be stopped for another; empty = yes
//   stage_in_bytes   bytes that must be on the fast storage tier before the start; empty = none
//   stage_out_bytes  bytes that are copied from there after the end; empty = none
//   data_set         name of what is staged in; jobs of the same name share it; empty = its own
// Other columns are ignored and listed in the result.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/knowledge/app_class.hpp"
#include "site/records/record_format.hpp"
#include "site/records/recorded_state.hpp"

namespace goban::site::records {
namespace {

enum Column : size_t {
  kJobId,
  kSubmit,
  kDuration,
  kNumGpus,
  kUser,
  kModel,
  kClass,
  kPriority,
  kWalltime,
  kResourceType,
  kInstances,
  kArrayTasks,
  kArrayLimit,
  kAccount,
  kPartition,
  kQos,
  kStartTime,
  kEndTime,
  kState,
  kBatchSize,
  kEpochs,
  kGpuMem,
  kGpuUtil,
  kDeadline,
  kMaxSlowdown,
  kMaxWait,
  kShare,
  kGpusMin,
  kGpusMax,
  kSteps,
  kResizeCost,
  kPreemptible,
  kStageIn,
  kStageOut,
  kDataSet,
  kNumColumns,
};
constexpr size_t kNumRequired = kNumGpus + 1;
constexpr std::array<std::string_view, kNumColumns> kNames = {
    "job_id",        "submit_time",   "duration",       "num_gpus",        "user",
    "model",         "class",         "priority",       "walltime_s",      "resource_type",
    "instances",     "array_tasks",   "array_limit",    "account",         "partition",
    "qos",           "start_time",    "end_time",       "state",           "batch_size",
    "epochs",        "gpu_mem_bytes", "gpu_util_pct",   "deadline_s",      "max_slowdown",
    "max_wait_s",    "share",         "gpus_min",       "gpus_max",        "steps",
    "resize_cost_s", "preemptible",   "stage_in_bytes", "stage_out_bytes", "data_set"};

bool recognises_generic(const Header& header) {
  return find_column(header, kNames[kUser]).has_value();
}

class GenericParser final : public RecordParser {
 public:
  explicit GenericParser(const Header& header) {
    for (size_t i = 0; i < kNumColumns; ++i) at_[i] = find_column(header, kNames[i]);
    for (size_t i = kModel + 1; i < kNumColumns; ++i) has_options_ |= at_[i].has_value();
    for (const std::string& column : header) {
      if (std::ranges::find(kNames, column) == kNames.end()) ignored_.push_back(column);
    }
  }

  std::string parse(ColumnReader& fields, AccountingRecord& record) override {
    record.id = fields.text(*at_[kJobId]);
    record.submit_ns = fields.seconds(*at_[kSubmit], kNames[kSubmit]);
    record.work_s = fields.number(*at_[kDuration], kNames[kDuration]);
    if (!fields.text(*at_[kNumGpus]).empty()) {
      record.num_gpus = fields.whole(*at_[kNumGpus], kNames[kNumGpus], 0, INT32_MAX);
    }
    if (at_[kUser]) record.user = fields.text(*at_[kUser]);
    if (at_[kModel]) record.model = fields.text(*at_[kModel]);
    return has_options_ ? parse_options(fields, record) : std::string();
  }

  bool has_walltimes() const override { return at_[kWalltime].has_value(); }
  std::vector<std::string> ignored_columns() const override { return ignored_; }

 private:
  /// True if the file has the column and the record fills it.
  bool given(const ColumnReader& fields, Column column) const {
    return at_[column] && !fields.text(*at_[column]).empty();
  }
  int32_t whole(ColumnReader& fields, Column column, int64_t least, int64_t most) const {
    return static_cast<int32_t>(fields.whole(*at_[column], kNames[column], least, most));
  }

  std::string parse_options(ColumnReader& fields, AccountingRecord& record) const {
    if (given(fields, kClass)) {
      record.app_class = fields.text(*at_[kClass]);
      if (!core::knowledge::parse_app_class(record.app_class)) {
        return fmt::format("class \"{}\" is not a letter from A to Z",
                           record.app_class.substr(0, 40));
      }
    }
    if (given(fields, kPriority)) record.priority = whole(fields, kPriority, INT32_MIN, INT32_MAX);
    if (given(fields, kWalltime)) {
      record.walltime_limit_ns = fields.seconds(*at_[kWalltime], kNames[kWalltime]);
      if (fields.problem().empty() && record.walltime_limit_ns == 0) {
        return "walltime_s is zero (leave it empty for no limit)";
      }
    }
    if (given(fields, kPreemptible)) {
      const std::string_view may = fields.text(*at_[kPreemptible]);
      if (may != "yes" && may != "no") {
        return fmt::format("preemptible \"{}\" is neither yes nor no (empty = yes)",
                           may.substr(0, 40));
      }
      record.stays = may == "no";
    }
    if (at_[kResourceType]) record.resource_type = fields.text(*at_[kResourceType]);
    if (given(fields, kInstances)) record.instances = whole(fields, kInstances, 1, INT32_MAX);
    if (given(fields, kArrayTasks)) {
      record.array_tasks = whole(fields, kArrayTasks, 1, kArrayTasksMax);
    }
    if (at_[kAccount]) record.account = fields.text(*at_[kAccount]);
    if (at_[kPartition]) record.partition = fields.text(*at_[kPartition]);
    if (at_[kQos]) record.qos = fields.text(*at_[kQos]);
    if (given(fields, kStartTime)) {
      record.start_ns = fields.seconds(*at_[kStartTime], kNames[kStartTime]);
    }
    if (given(fields, kEndTime)) {
      record.end_ns = fields.seconds(*at_[kEndTime], kNames[kEndTime]);
    }
    if (given(fields, kState)) {
      const std::string_view state = fields.text(*at_[kState]);
      const auto known = parse_job_state(state);
      if (!known) {
        return fmt::format("state \"{}\" is not one of {}", state.substr(0, 40), kEndStateNames);
      }
      record.state = *known;
    }
    if (std::string problem = parse_training(fields, record.training); !problem.empty()) {
      return problem;
    }
    if (std::string problem = parse_range(fields, record); !problem.empty()) return problem;
    constexpr int64_t kStagedMax = int64_t{1} << 60;
    if (given(fields, kStageIn)) {
      record.stage_in_bytes = fields.whole(*at_[kStageIn], kNames[kStageIn], 0, kStagedMax);
    }
    if (given(fields, kStageOut)) {
      record.stage_out_bytes = fields.whole(*at_[kStageOut], kNames[kStageOut], 0, kStagedMax);
    }
    if (at_[kDataSet]) record.data_set = fields.text(*at_[kDataSet]);
    if (given(fields, kArrayLimit)) record.array_limit = whole(fields, kArrayLimit, 1, INT32_MAX);
    return {};
  }

  std::string parse_training(ColumnReader& fields, core::model::TrainingFacts& training) const {
    constexpr int64_t kMemMax = int64_t{1} << 50;
    constexpr double kSlowdownMax = 1e6;
    constexpr int64_t kStepsMax = int64_t{1} << 50;
    if (given(fields, kBatchSize)) training.batch_size = whole(fields, kBatchSize, 0, INT32_MAX);
    if (given(fields, kEpochs)) training.epochs = whole(fields, kEpochs, 0, INT32_MAX);
    if (given(fields, kGpuMem)) {
      training.gpu_mem_bytes = fields.whole(*at_[kGpuMem], kNames[kGpuMem], 0, kMemMax);
    }
    if (given(fields, kGpuUtil)) {
      const double util_pct = fields.number(*at_[kGpuUtil], kNames[kGpuUtil]);
      if (util_pct > 100) {
        return fmt::format("gpu_util_pct \"{}\" is above 100 percent",
                           fields.text(*at_[kGpuUtil]).substr(0, 40));
      }
      training.gpu_util_pct = static_cast<float>(util_pct);
    }
    if (given(fields, kDeadline)) {
      training.deadline_ns = fields.seconds(*at_[kDeadline], kNames[kDeadline]);
    }
    if (given(fields, kMaxSlowdown)) {
      const double slowdown = fields.number(*at_[kMaxSlowdown], kNames[kMaxSlowdown]);
      if (fields.problem().empty() && (slowdown < 1 || slowdown > kSlowdownMax)) {
        return fmt::format("max_slowdown \"{}\" is not from 1 to 1e6 (empty = none)",
                           fields.text(*at_[kMaxSlowdown]).substr(0, 40));
      }
      training.max_slowdown = static_cast<float>(slowdown);
    }
    if (given(fields, kMaxWait)) {
      training.max_wait_ns = fields.seconds(*at_[kMaxWait], kNames[kMaxWait]);
    }
    if (given(fields, kShare)) {
      const std::string_view share = fields.text(*at_[kShare]);
      if (share != "yes" && share != "no") {
        return fmt::format("share \"{}\" is neither yes nor no (empty = default of the partition)",
                           share.substr(0, 40));
      }
      training.sharing =
          share == "yes" ? core::model::SharingRequest::Yes : core::model::SharingRequest::No;
    }
    if (given(fields, kSteps)) {
      training.steps = fields.whole(*at_[kSteps], kNames[kSteps], 1, kStepsMax);
    }
    if (given(fields, kResizeCost)) {
      training.resize_cost_ns = fields.seconds(*at_[kResizeCost], kNames[kResizeCost]);
    }
    return {};
  }

  /// The range of GPUs of an elastic job, which contains those that it requests.
  std::string parse_range(ColumnReader& fields, AccountingRecord& record) const {
    core::model::TrainingFacts& training = record.training;
    if (given(fields, kGpusMax)) {
      training.gpus_max = whole(fields, kGpusMax, 1, INT32_MAX);
      training.gpus_min = given(fields, kGpusMin) ? whole(fields, kGpusMin, 1, INT32_MAX) : 1;
    } else if (given(fields, kGpusMin)) {
      return "gpus_min needs gpus_max";
    }
    if (training.gpus_max == 0 || !fields.problem().empty()) return {};
    const int64_t gpus = record.num_gpus.value_or(0);
    if (gpus < training.gpus_min || gpus > training.gpus_max) {
      return fmt::format("num_gpus {} is not from gpus_min {} to gpus_max {}", gpus,
                         training.gpus_min, training.gpus_max);
    }
    return {};
  }

  std::array<std::optional<size_t>, kNumColumns> at_;
  bool has_options_ = false;
  std::vector<std::string> ignored_;
};

base::Result<std::unique_ptr<RecordParser>> open_generic(const FormatInput& input) {
  for (size_t i = 0; i < kNumRequired; ++i) {
    if (find_column(input.header, kNames[i])) continue;
    return base::bad_data(input.place, fmt::format("the column {} is missing", kNames[i]),
                          "generic requires job_id, submit_time, duration and num_gpus");
  }
  return std::make_unique<GenericParser>(input.header);
}

}  // namespace

const RecordFormat kGenericCsv = {
    "generic",
    "job_id,submit_time,duration,num_gpus,user,model[,class,priority,walltime_s,resource_type,"
    "instances,array_tasks,array_limit,account,partition,qos,start_time,end_time,state,"
    "batch_size,epochs,gpu_mem_bytes,gpu_util_pct,deadline_s,max_slowdown,"
    "max_wait_s,share,gpus_min,gpus_max,steps,resize_cost_s,preemptible,stage_in_bytes,"
    "stage_out_bytes,data_set]",
    recognises_generic, open_generic};

}  // namespace goban::site::records
