#include "report/history_csv.hpp"

#include "base/output_file.hpp"
#include "history/write_generic.hpp"

namespace goban::report {

base::Status write_history_csv(const std::string& path, const model::JobHistory& history,
                               const model::Cluster& cluster,
                               const engine::SimulationResult& result) {
  auto file = base::OutputFile::create(path);
  if (!file) return base::failure(file.error());
  model::JobHistory run = history;
  run.arrays.clear();
  run.recorded.clear();
  for (size_t i = 0; i < run.jobs.size(); ++i) {
    const engine::JobOutcome& outcome = result.outcomes[i];
    run.jobs[i].request.array = {};
    run.recorded.push_back({.start_ns = outcome.start_ns,
                            .finish_ns = outcome.finish_ns,
                            .end = outcome.end == engine::JobEnd::TimedOut
                                       ? model::RecordedEnd::TimedOut
                                       : model::RecordedEnd::Completed});
  }
  history::write_generic(run, &cluster, [&file](std::string_view text) {
    file->buffer() += text;
    file->write_out();
  });
  return file->commit();
}

}  // namespace goban::report
