#include "report/history_csv.hpp"

#include <algorithm>

#include "base/csv.hpp"
#include "base/number.hpp"
#include "base/output_file.hpp"

namespace goban::report {
namespace {

using base::append_csv_field;
using base::append_number;
using base::append_seconds;

/// Which columns beyond the least the jobs need; without walltimes the column must be absent, for
/// in it an empty field means the default of the resource type.
struct Columns {
  bool priority = false;
  bool walltime = false;
  bool resource_type = false;
  bool account = false;
  bool partition = false;
  bool qos = false;
};

bool has_names(const base::NameTable& names) {
  return names.size() > 1 || (names.size() == 1 && !names[0].empty());
}

Columns columns_of(const model::JobHistory& history) {
  Columns columns;
  columns.walltime = history.has_walltime_limits;
  columns.account = has_names(history.accounts);
  columns.partition = has_names(history.partitions);
  columns.qos = has_names(history.qos);
  for (const model::Job& job : history.jobs) {
    columns.priority |= job.request.priority != 0;
    columns.resource_type |= job.request.resource_type.valid();
  }
  return columns;
}

std::string header(const Columns& columns) {
  std::string out = "job_id,submit_time,duration,num_gpus,user,model,class";
  if (columns.priority) out += ",priority";
  if (columns.walltime) out += ",walltime_s";
  if (columns.resource_type) out += ",resource_type,instances";
  if (columns.account) out += ",account";
  if (columns.partition) out += ",partition";
  if (columns.qos) out += ",qos";
  return out + ",start_time,end_time,state\n";
}

void append_name(std::string& out, const base::NameTable& names, uint32_t id) {
  out += ',';
  if (id < names.size()) append_csv_field(out, names[id]);
}

void append_request(std::string& out, const model::JobRequest& request, const Columns& columns,
                    const model::JobHistory& history, const model::Cluster& cluster) {
  append_name(out, history.users, request.user.value);
  append_name(out, history.models, request.model.value);
  out += ',';
  out += request.app_class.letter();
  if (columns.priority) {
    out += ',';
    append_number(out, int64_t{request.priority});
  }
  if (columns.walltime) {
    out += ',';
    if (request.walltime_limit_ns > 0) append_seconds(out, request.walltime_limit_ns);
  }
  if (columns.resource_type) {
    out += ',';
    const bool typed = request.resource_type.valid();
    if (typed) append_csv_field(out, cluster.resource_type(request.resource_type).name);
    out += ',';
    if (typed) append_number(out, int64_t{request.instances});
  }
  if (columns.account) append_name(out, history.accounts, request.account.value);
  if (columns.partition) append_name(out, history.partitions, request.partition.value);
  if (columns.qos) append_name(out, history.qos, request.qos.value);
}

}  // namespace

base::Status write_history_csv(const std::string& path, const model::JobHistory& history,
                               const model::Cluster& cluster,
                               const engine::SimulationResult& result) {
  auto file = base::OutputFile::create(path);
  if (!file) return base::failure(file.error());
  std::string& out = file->buffer();
  const Columns columns = columns_of(history);
  out += header(columns);
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    const model::Job& job = history.jobs[i];
    const engine::JobOutcome& outcome = result.outcomes[i];
    append_csv_field(out, history.job_names[i]);
    out += ',';
    append_seconds(out, job.request.submit_ns);
    out += ',';
    append_number(out, job.work_s);
    out += ',';
    append_number(out, int64_t{job.request.num_gpus});
    append_request(out, job.request, columns, history, cluster);
    for (const base::TimeNs time : {outcome.start_ns, outcome.finish_ns}) {
      out += ',';
      append_seconds(out, time);
    }
    out += outcome.end == engine::JobEnd::TimedOut ? ",TIMEOUT\n" : ",COMPLETED\n";
    file->write_out();
  }
  return file->commit();
}

}  // namespace goban::report
