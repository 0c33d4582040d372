#include "study/results/history_csv.hpp"

#include "base/output_file.hpp"
#include "study/history/write_generic.hpp"

namespace goban::study::results {

base::Status write_history_csv(const std::string& path, const core::model::JobHistory& history,
                               const core::model::Cluster& cluster,
                               const simulator::SimulationResult& result) {
  auto file = base::OutputFile::create(path);
  if (!file) return base::failure(file.error());
  const auto times = [&result](size_t job) {
    const simulator::JobOutcome& outcome = result.outcomes[job];
    using core::model::RecordedEnd;
    auto end = RecordedEnd::Completed;
    if (outcome.end == simulator::JobEnd::TimedOut) end = RecordedEnd::TimedOut;
    if (outcome.end == simulator::JobEnd::Cancelled) end = RecordedEnd::Cancelled;
    return core::model::Recorded{
        .start_ns = outcome.start_ns, .finish_ns = outcome.finish_ns, .end = end};
  };
  history::write_run(history, &cluster, times, [&file](std::string_view text) {
    file->buffer() += text;
    file->write_out();
  });
  return file->commit();
}

}  // namespace goban::study::results
