// Finished jobs from the history store, for the API.
#pragma once

#include <mutex>
#include <string>
#include <utility>

#include "serve/api/daemon_parts.hpp"

namespace goban::serve::daemon {

/// Opens the store for every query, so that other writers can use it in between. One query at a
/// time: a slow database must not occupy all workers of the service.
class StoredJobs final : public api::PastJobs {
 public:
  /// `store`: as in `goban history --store`; `cluster`: the name under which its jobs are stored.
  StoredJobs(std::string store, std::string cluster)
      : store_(std::move(store)), cluster_(std::move(cluster)) {}
  /// Errors: also Failed if another query takes too long.
  [[nodiscard]] base::Result<std::vector<live::controller::LiveJob>> find(
      const api::PastQuery& query) override;

 private:
  std::string store_;
  std::string cluster_;
  std::timed_mutex mutex_;
};

}  // namespace goban::serve::daemon
