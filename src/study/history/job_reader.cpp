#include "study/history/job_reader.hpp"

namespace goban::study::history {
namespace {

using base::Result;

Result<ReadResult> finish(Result<site::records::ReadSummary> summary, HistoryBuilder& builder) {
  if (!summary) return base::failure(summary.error());
  ReadResult result;
  static_cast<site::records::ReadSummary&>(result) = std::move(*summary);
  result.unsorted = !builder.is_sorted();
  result.counts = builder.counts();
  result.history = builder.finish();
  return result;
}

}  // namespace

Result<ReadResult> read_jobs(base::ByteSource& source, const std::string& name,
                             const ReadOptions& options) {
  HistoryBuilder builder(options.cluster, options.jobs_max, options.cpu_jobs);
  return finish(site::records::read_records(source, name, options, builder), builder);
}

Result<ReadResult> read_jobs(const std::string& path, const ReadOptions& options) {
  HistoryBuilder builder(options.cluster, options.jobs_max, options.cpu_jobs);
  return finish(site::records::read_records(path, options, builder), builder);
}

Result<ReadResult> read_jobs(
    const std::function<Result<site::records::ReadSummary>(site::records::RecordSink& sink)>& read,
    const ReadOptions& options) {
  HistoryBuilder builder(options.cluster, options.jobs_max, options.cpu_jobs);
  return finish(read(builder), builder);
}

}  // namespace goban::study::history
