// Elastic jobs of the laboratory: measured speeds, and a trace fitted to them on a cluster.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/model/cluster.hpp"
#include "core/model/job_history.hpp"
#include "core/model/job_speeds.hpp"
#include "study/history/rates.hpp"

namespace goban::study::lab {

/// Measured speeds of a trace, on whatever cluster it will run.
struct Rates {
  std::vector<history::RateRow> rows;
  std::string file;          ///< for messages
  bool interpolate = false;  ///< also between measured numbers of GPUs
  bool elasticflow = false;  ///< ranges of GPUs follow the rules of that trace's authors
};

/// Reads a file of rates. Errors: Failed if it cannot be read; those of history::parse_rates().
[[nodiscard]] base::Result<Rates> read_rates(const std::string& path, bool interpolate);

/// A trace whose elastic jobs can run on a cluster.
struct Fitted {
  core::model::JobHistory history;
  std::shared_ptr<const core::model::JobSpeeds> speeds{};
  /// By JobId: the trace states the steps. Those of other jobs follow from their true run times.
  std::vector<bool> states_steps{};
  std::vector<std::string> notes{};  ///< what differs from the trace, a sentence each
};

/// Errors: those of history::make_speeds() and history::fit_jobs().
[[nodiscard]] base::Result<Fitted> fit(const core::model::JobHistory& history,
                                       const core::model::Cluster& cluster, const Rates& rates);

/// Some job with a range of GPUs states no steps.
[[nodiscard]] bool lacks_steps(const core::model::JobHistory& history);

}  // namespace goban::study::lab
