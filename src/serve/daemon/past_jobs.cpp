#include "serve/daemon/past_jobs.hpp"

#include <chrono>

#include "serve/daemon/store_accounting.hpp"
#include "site/store/details.hpp"
#include "site/store/job_store.hpp"

namespace goban::serve::daemon {

base::Result<std::vector<live::controller::LiveJob>> StoredJobs::find(const api::PastQuery& query) {
  constexpr auto kPatience = std::chrono::seconds(2);
  const std::unique_lock lock(mutex_, kPatience);
  if (!lock.owns_lock()) return base::failed("the history store is busy", "try again");
  auto store = site::store::JobStore::open(store_, true);
  if (!store) return base::failure(store.error());
  site::store::DetailsQuery asked{.cluster = cluster_,
                                  .user = query.user,
                                  .from_ns = query.from_ns,
                                  .to_ns = query.to_ns,
                                  .limit = query.limit};
  for (const api::JobName& name : query.names) {
    asked.jobs.push_back({.number = static_cast<int64_t>(live::job::job_number(name.first)),
                          .task = name.task.value_or(-1)});
  }
  const auto found = read_details(store->connection(), asked);
  if (!found) return base::failure(found.error());
  std::vector<live::controller::LiveJob> jobs;
  for (const std::string& text : *found) {
    // What a newer release wrote differently is left out.
    auto job = parse_stored_details(text);
    if (!job) continue;
    // The store's end, by which it sorts: that of the run, not of the decision that followed.
    if (!job->past.empty()) job->end_ns = job->past.back().end_ns;
    jobs.push_back(std::move(*job));
  }
  return jobs;
}

}  // namespace goban::serve::daemon
