// Apart from job_reader.cpp, so that programs that read files only do not link the store.
#include "site/store/read_location.hpp"
#include "study/history/job_reader.hpp"

namespace goban::study::history {

base::Result<ReadResult> read_history(const std::string& location, const ReadOptions& options) {
  return read_jobs(
      [&](site::records::RecordSink& sink) {
        return site::store::read_location(location, options, sink);
      },
      options);
}

}  // namespace goban::study::history
