// Filler jobs (PAL: simulated time, docs/papers.md): after its last job a trace is replayed
// cyclically, at given inter-arrival times, so that the cluster stays busy while the counted jobs
// finish.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/model/job_history.hpp"

namespace goban::study::history {

/// The inter-arrival times of a CSV `k,inter_arrival_s`, k = 0, 1, 2, ...
class FillerSource {
 public:
  /// Reads a file, plain or gzip. Errors: Failed if it cannot be read, BadData with the place.
  [[nodiscard]] static base::Result<FillerSource> read(const std::string& path);
  /// Reads text; `file` is its name in messages.
  [[nodiscard]] static base::Result<FillerSource> parse(std::string_view text,
                                                        const std::string& file);

  /// Number of fillers.
  [[nodiscard]] size_t size() const { return since_last_ns_.size(); }

  /// Filler k of a history of n jobs: a copy of job k mod n, submitted after the last job by the
  /// sum of the first k + 1 inter-arrival times. Its id is n + k. Errors: BadData if there is no
  /// such filler.
  [[nodiscard]] base::Result<core::model::Job> job(size_t k,
                                                   const core::model::JobHistory& history) const;

 private:
  std::string file_;
  std::vector<base::TimeNs> since_last_ns_;  ///< submit time after the last job of the history
};

}  // namespace goban::study::history
