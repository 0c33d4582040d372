#include "study/history/write_generic.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <span>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "base/csv.hpp"
#include "base/number.hpp"
#include "core/knowledge/app_class.hpp"

namespace goban::study::history {
namespace {

using base::append_number;
using core::model::Job;
using core::model::JobHistory;
using core::model::JobRequest;
using core::model::Recorded;
using core::model::RecordedEnd;
using core::model::SharingRequest;

/// By RecordedEnd.
constexpr std::array<std::string_view, 6> kEndWords = {"",          "COMPLETED", "FAILED",
                                                       "CANCELLED", "TIMEOUT",   "NODE_FAIL"};

/// By SharingRequest.
constexpr std::array<std::string_view, 3> kWishWords = {"", "no", "yes"};

/// The optional columns that at least one job fills.
struct Columns {
  bool user = false, model = false, app_class = false, priority = false, walltime = false;
  bool resource_type = false, array = false, account = false, partition = false, qos = false;
  bool start = false, finish = false, end = false;
  bool range = false, steps = false, resize_cost = false;
  bool batch_size = false, epochs = false, mem = false, util = false, deadline = false;
  bool max_slowdown = false, max_wait = false, share = false, preemptible = false;
  bool stage_in = false, stage_out = false, data_set = false;
};

bool has_names(const base::NameTable& names) {
  return names.size() > 1 || (names.size() == 1 && !names[0].empty());
}

using RunTimes = std::function<Recorded(size_t)>;

std::vector<core::model::AppClass> classes_of_models(const JobHistory& history) {
  std::vector<core::model::AppClass> classes;
  for (size_t i = 0; i < history.models.size(); ++i) {
    classes.push_back(core::knowledge::class_of_model(history.models[i]));
  }
  return classes;
}

/// The names as fields of a CSV row, each with the comma in front of it.
std::vector<std::string> as_fields(const base::NameTable& names) {
  std::vector<std::string> fields;
  for (size_t i = 0; i < names.size(); ++i) {
    base::append_csv_field(fields.emplace_back(","), names[i]);
  }
  return fields;
}

/// `run`: null, or the times of a simulated run.
Columns columns_of(const JobHistory& history, const RunTimes* run,
                   std::span<const core::model::AppClass> classes) {
  Columns c;
  c.user = true;  // this column identifies the format
  c.model = has_names(history.models);
  c.account = has_names(history.accounts);
  c.partition = has_names(history.partitions);
  c.qos = has_names(history.qos);
  c.walltime = history.has_walltime_limits;
  c.array = run == nullptr && !history.arrays.empty();
  for (const Job& job : history.jobs) {
    c.app_class |= job.request.app_class != classes[job.request.model.index()];
    c.priority |= job.request.priority != 0;
    c.preemptible |= job.request.stays;
    c.resource_type |= job.request.resource_type.valid();
  }
  const size_t recorded_jobs = run != nullptr ? history.jobs.size() : history.recorded.size();
  for (size_t i = 0; i < recorded_jobs && !(c.start && c.finish && c.end); ++i) {
    const Recorded recorded = run != nullptr ? (*run)(i) : history.recorded[i];
    c.start |= recorded.start_ns >= 0;
    c.finish |= recorded.finish_ns >= 0;
    c.end |= recorded.end != RecordedEnd::Unknown;
  }
  for (const core::model::TrainingFacts& training : history.training) {
    c.batch_size |= training.batch_size > 0;
    c.epochs |= training.epochs > 0;
    c.mem |= training.gpu_mem_bytes > 0;
    c.util |= training.gpu_util_pct >= 0;
    c.deadline |= training.deadline_ns >= 0;
    c.max_slowdown |= training.max_slowdown > 0;
    c.max_wait |= training.max_wait_ns >= 0;
    c.share |= training.sharing != SharingRequest::Unsaid;
    c.range |= training.gpus_max > 0;
    c.steps |= training.steps > 0;
    c.resize_cost |= training.resize_cost_ns >= 0;
  }
  for (const core::model::StagedData& data : history.staging) {
    c.stage_in |= data.in_bytes > 0;
    c.stage_out |= data.out_bytes > 0;
    c.data_set |= !history.data_sets[data.set].empty();
  }
  return c;
}

std::string header_line(const Columns& c) {
  std::string line = "job_id,submit_time,duration,num_gpus";
  const auto add = [&line](bool there, std::string_view name) {
    if (there) line += "," + std::string(name);
  };
  add(c.user, "user");
  add(c.model, "model");
  add(c.app_class, "class");
  add(c.priority, "priority");
  add(c.preemptible, "preemptible");
  add(c.walltime, "walltime_s");
  add(c.resource_type, "resource_type");
  add(c.resource_type, "instances");
  add(c.array, "array_tasks");
  add(c.array, "array_limit");
  add(c.account, "account");
  add(c.partition, "partition");
  add(c.qos, "qos");
  add(c.start, "start_time");
  add(c.finish, "end_time");
  add(c.end, "state");
  add(c.batch_size, "batch_size");
  add(c.epochs, "epochs");
  add(c.mem, "gpu_mem_bytes");
  add(c.util, "gpu_util_pct");
  add(c.deadline, "deadline_s");
  add(c.max_slowdown, "max_slowdown");
  add(c.max_wait, "max_wait_s");
  add(c.share, "share");
  add(c.range, "gpus_min");
  add(c.range, "gpus_max");
  add(c.steps, "steps");
  add(c.resize_cost, "resize_cost_s");
  add(c.stage_in, "stage_in_bytes");
  add(c.stage_out, "stage_out_bytes");
  add(c.data_set, "data_set");
  return line + "\n";
}

class Writer {
 public:
  Writer(const JobHistory& history, const core::model::Cluster* cluster, const RunTimes* run)
      : history_(history),
        cluster_(cluster),
        run_(run),
        classes_(classes_of_models(history)),
        users_(as_fields(history.users)),
        models_(as_fields(history.models)),
        columns_(columns_of(history, run, classes_)) {}

  [[nodiscard]] const Columns& columns() const { return columns_; }
  /// Its tasks share one record.
  [[nodiscard]] bool is_array(const JobRequest& request) const {
    return run_ == nullptr && request.array.valid();
  }

  /// Writes one record; it stands for `tasks` jobs from `first` on if these are an array.
  void append(std::string& out, size_t first, int64_t tasks) const {
    const Job& job = history_.jobs[first];
    const JobRequest& request = job.request;
    std::string_view id = history_.job_names[first];
    if (is_array(request)) id.remove_suffix(2);  // _0
    base::append_csv_field(out, id);
    out += ',';
    base::append_seconds(out, request.submit_ns);
    out += ',';
    append_number(out, job.work_s);
    out += ',';
    append_number(out, int64_t{request.num_gpus});
    if (columns_.user) out += users_[request.user.index()];
    if (columns_.model) out += models_[request.model.index()];
    append_request(out, request, tasks);
    append_name(out, columns_.account, history_.accounts[request.account.index()]);
    append_name(out, columns_.partition, history_.partitions[request.partition.index()]);
    append_name(out, columns_.qos, history_.qos[request.qos.index()]);
    const Recorded recorded = recorded_of(first);
    append_time(out, columns_.start, recorded.start_ns);
    append_time(out, columns_.finish, recorded.finish_ns);
    append_name(out, columns_.end, kEndWords[static_cast<size_t>(recorded.end)]);
    append_training(out, first);
    append_staging(out, first);
    out += '\n';
  }

 private:
  static void append_name(std::string& out, bool there, std::string_view name) {
    if (!there) return;
    out += ',';
    base::append_csv_field(out, name);
  }
  static void append_time(std::string& out, bool there, core::model::TimeNs time_ns) {
    if (!there) return;
    out += ',';
    if (time_ns >= 0) base::append_seconds(out, time_ns);
  }
  /// Appends a number; an empty field for 0, which is what an empty field means.
  static void append_if_any(std::string& out, bool there, int64_t value) {
    if (!there) return;
    out += ',';
    if (value != 0) append_number(out, value);
  }

  void append_training(std::string& out, size_t job) const {
    const core::model::TrainingFacts training =
        history_.training.empty() ? core::model::TrainingFacts{} : history_.training[job];
    append_if_any(out, columns_.batch_size, training.batch_size);
    append_if_any(out, columns_.epochs, training.epochs);
    append_if_any(out, columns_.mem, training.gpu_mem_bytes);
    if (columns_.util) {
      out += ',';
      if (training.gpu_util_pct >= 0) out += fmt::to_string(training.gpu_util_pct);
    }
    append_time(out, columns_.deadline, training.deadline_ns);
    if (columns_.max_slowdown) {
      out += ',';
      if (training.max_slowdown > 0) out += fmt::to_string(training.max_slowdown);
    }
    append_time(out, columns_.max_wait, training.max_wait_ns);
    append_name(out, columns_.share, kWishWords[static_cast<size_t>(training.sharing)]);
    append_if_any(out, columns_.range, training.gpus_min);
    append_if_any(out, columns_.range, training.gpus_max);
    append_if_any(out, columns_.steps, training.steps);
    append_time(out, columns_.resize_cost, training.resize_cost_ns);
  }

  void append_staging(std::string& out, size_t job) const {
    if (history_.staging.empty()) return;
    const core::model::StagedData& data = history_.staging[job];
    append_if_any(out, columns_.stage_in, data.in_bytes);
    append_if_any(out, columns_.stage_out, data.out_bytes);
    append_name(out, columns_.data_set, history_.data_sets[data.set]);
  }

  void append_request(std::string& out, const JobRequest& request, int64_t tasks) const {
    const bool named = request.app_class != classes_[request.model.index()];
    append_name(out, columns_.app_class,
                named ? std::string(1, request.app_class.letter()) : std::string());
    append_if_any(out, columns_.priority, request.priority);
    append_name(out, columns_.preemptible, request.stays ? "no" : "yes");
    append_time(out, columns_.walltime,
                request.walltime_limit_ns > 0 ? request.walltime_limit_ns : -1);
    if (columns_.resource_type) {
      const bool typed = request.resource_type.valid();
      GOBAN_CHECK(!typed || cluster_ != nullptr);
      append_name(out, true, typed ? cluster_->resource_type(request.resource_type).name : "");
      append_if_any(out, true, typed ? request.instances : 0);
    }
    const bool array = is_array(request);
    append_if_any(out, columns_.array, array ? tasks : 0);
    append_if_any(out, columns_.array,
                  array ? history_.arrays[request.array.index()].max_running : 0);
  }

  [[nodiscard]] Recorded recorded_of(size_t job) const {
    if (run_ != nullptr) return (*run_)(job);
    return history_.recorded.empty() ? Recorded{} : history_.recorded[job];
  }

  const JobHistory& history_;
  const core::model::Cluster* cluster_;
  const RunTimes* run_;
  std::vector<core::model::AppClass> classes_;  ///< by model
  std::vector<std::string> users_;              ///< as_fields(), as are models_
  std::vector<std::string> models_;
  Columns columns_;
};

void write(const JobHistory& history, const Writer& writer,
           const std::function<void(std::string_view)>& sink) {
  constexpr size_t kPiece = size_t{1} << 20;
  std::string out = header_line(writer.columns());
  const core::model::JobList& jobs = history.jobs;
  for (size_t first = 0; first < jobs.size();) {
    const core::model::ArrayId array = jobs[first].request.array;
    const bool is_array = writer.is_array(jobs[first].request);
    size_t end = first + 1;  // the tasks of an array are contiguous: they have one submit time
    while (is_array && end < jobs.size() && jobs[end].request.array == array) ++end;
    writer.append(out, first, static_cast<int64_t>(end - first));
    first = end;
    if (out.size() >= kPiece) {
      sink(out);
      out.clear();
    }
  }
  sink(out);
}

}  // namespace

void write_generic(const JobHistory& history, const core::model::Cluster* cluster,
                   const std::function<void(std::string_view)>& sink) {
  write(history, Writer(history, cluster, nullptr), sink);
}

void write_run(const JobHistory& history, const core::model::Cluster* cluster,
               const RunTimes& recorded, const std::function<void(std::string_view)>& sink) {
  write(history, Writer(history, cluster, &recorded), sink);
}

}  // namespace goban::study::history
