#include "study/results/history_csv.hpp"

#include "base/output_file.hpp"
#include "study/history/write_generic.hpp"

namespace goban::study::results {

base::Status write_history_csv(const std::string& path, const core::model::JobHistory& history,
                               const core::model::Cluster& cluster,
                               const simulator::SimulationResult& result) {
  auto file = base::OutputFile::create(path);
  if (!file) return base::failure(file.error());
  core::model::JobHistory run = history;
  run.arrays.clear();
  run.recorded.clear();
  for (size_t i = 0; i < run.jobs.size(); ++i) {
    const simulator::JobOutcome& outcome = result.outcomes[i];
    run.jobs[i].request.array = {};
    run.recorded.push_back({.start_ns = outcome.start_ns,
                            .finish_ns = outcome.finish_ns,
                            .end = outcome.end == simulator::JobEnd::TimedOut
                                       ? core::model::RecordedEnd::TimedOut
                                       : core::model::RecordedEnd::Completed});
  }
  history::write_generic(run, &cluster, [&file](std::string_view text) {
    file->buffer() += text;
    file->write_out();
  });
  return file->commit();
}

}  // namespace goban::study::results
