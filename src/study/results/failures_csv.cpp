#include "study/results/failures_csv.hpp"

#include <fmt/format.h>

#include "base/number.hpp"
#include "base/output_file.hpp"
#include "base/sheet_field.hpp"

namespace goban::study::results {
namespace {

using core::model::JobHistory;
using core::model::JobId;

std::string name_of(const JobHistory& history, JobId job) {
  return job.index() < history.jobs.size() ? std::string(history.job_names[job.index()])
                                           : fmt::format("filler {}", job.value);
}

std::string_view model_of(const JobHistory& history, JobId job) {
  if (job.index() >= history.jobs.size()) return {};
  return history.models[history.jobs[job.index()].request.model.index()];
}

}  // namespace

base::Status write_failures_csv(const std::string& path, const JobHistory& history,
                                const simulator::SimulationResult& result) {
  auto file = base::OutputFile::create(path);
  if (!file) return base::failure(file.error());
  std::string& out = file->buffer();
  out += "at_s,job_id,model,beside_job_ids,beside_models,out_of_memory\n";
  for (const core::model::Breakage& each : result.breakages) {
    const std::string job = name_of(history, each.job);
    std::string jobs;
    std::string models;
    for (const JobId beside : each.beside) {
      jobs += (jobs.empty() ? "" : " ") + name_of(history, beside);
      models += (models.empty() ? "" : " ") + std::string(model_of(history, beside));
    }
    base::append_seconds(out, each.at_ns);
    const std::string_view model = model_of(history, each.job);
    for (const std::string_view field :
         {std::string_view(job), model, std::string_view(jobs), std::string_view(models)}) {
      out += ',';
      base::append_sheet_field(out, field);
    }
    out += each.out_of_memory ? ",yes\n" : ",no\n";
  }
  return file->commit();
}

}  // namespace goban::study::results
