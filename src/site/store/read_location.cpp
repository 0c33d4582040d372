#include "site/store/read_location.hpp"

#include "site/store/job_store.hpp"

namespace goban::site::store {

base::Result<records::ReadSummary> read_location(const std::string& location,
                                                 const records::ReadOptions& options,
                                                 records::RecordSink& sink) {
  if (!is_store_location(location)) return records::read_records(location, options, sink);
  auto jobs = JobStore::open(location, false);
  if (!jobs) return base::failure(jobs.error());
  return jobs->read({}, sink, options.rejects_path);
}

}  // namespace goban::site::store
