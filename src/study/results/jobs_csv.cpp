#include "base/number.hpp"
#include "base/output_file.hpp"
#include "base/sheet_field.hpp"
#include "base/units.hpp"
#include "study/results/simulate_report.hpp"

namespace goban::study::results {

using base::append_number;
using base::append_seconds;

namespace {

/// Of a job that is not elastic, its GPUs as requested.
void append_sizes(std::string& out, const simulator::SimulationResult& result, size_t job,
                  int32_t requested) {
  const simulator::ElasticOutcome sizes = result.elastic_of(job);
  const bool sized = sizes.gpus_min > 0;
  for (const int32_t value :
       {sizes.resizes, sized ? sizes.gpus_min : requested, sized ? sizes.gpus_max : requested}) {
    out += ',';
    append_number(out, int64_t{value});
  }
  out += ',';
  append_number(out, result.held_gpu_s(job, requested) / 3600);
  out += sizes.interpolated ? ",yes" : ",no";
}

}  // namespace

base::Status write_jobs_csv(const std::string& path, const core::model::JobHistory& history,
                            const simulator::SimulationResult& result, const JobColumns& columns) {
  auto file = base::OutputFile::create(path);
  if (!file) return base::failure(file.error());
  std::string& out = file->buffer();
  out += "job_id,submit_s,start_s,finish_s,jct_s,wait_s,num_gpus,preemptions";
  if (columns.energy != nullptr) out += ",energy_kwh";
  if (columns.sharing != nullptr) out += ",predicted_by";
  const bool elastic = !result.elastic.empty();
  if (elastic) out += ",resizes,gpus_least,gpus_most,gpu_hours,interpolated";
  out += '\n';
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    const core::model::JobRequest& request = history.jobs[i].request;
    const simulator::JobOutcome& outcome = result.outcomes[i];
    const base::TimeNs jct_ns = outcome.finish_ns - request.submit_ns;
    base::append_sheet_field(out, history.job_names[i]);
    for (const base::TimeNs time : {request.submit_ns, outcome.start_ns, outcome.finish_ns, jct_ns,
                                    jct_ns - outcome.held_ns}) {
      out += ',';
      append_seconds(out, time);
    }
    out += ',';
    append_number(out, int64_t{request.num_gpus});
    out += ',';
    append_number(out, int64_t{outcome.preemptions});
    if (columns.energy != nullptr) {
      out += ',';
      append_number(out, columns.energy->job_j[i] / 3.6e6);
    }
    if (columns.sharing != nullptr) {
      out += ',';
      out += level_name(columns.sharing->level_of()[i]);
    }
    if (elastic) append_sizes(out, result, i, request.num_gpus);
    out += '\n';
    file->write_out();
  }
  return file->commit();
}

}  // namespace goban::study::results
