// ElasticFlow's simulator with three of its policies, decision by decision (ElasticFlow: artifact,
// docs/studies/rivals.md, which states the quirks that are kept).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "study/rivals/decisions.hpp"
#include "study/rivals/rival_files.hpp"

namespace goban::study::rivals {

inline constexpr double kElasticSlotS = 240;
inline constexpr int32_t kElasticNodeGpus = 8;

struct ElasticInputs {
  std::vector<ElasticJob> jobs;
  RateTable rates;
  int32_t num_nodes = 16;               ///< of 8 GPUs; GPU id = 8 node + index
  std::optional<ShareRecord> shares{};  ///< themis: instead of one's own solutions
};

/// A row of the published job log, in order of logging. Times in seconds.
struct ElasticRow {
  double logged_s = 0;
  int32_t job = 0;
  int32_t gpus = 0;
  std::optional<double> start_s{};  ///< themis does not say
  double end_s = 0;
  double pending_s = 0;
};

struct ElasticRun {
  std::vector<Decision> maps;  ///< jobs and GPU ids ascending; empty maps as well
  std::vector<ElasticRow> rows;
  std::vector<ShareSet> shares;  ///< themis: all computations
  double makespan_s = 0;
  double mean_jct_s = 0;

  /// The log of `rows` with the published header, numbers and zero columns.
  [[nodiscard]] std::string rows_csv(const std::vector<ElasticJob>& jobs) const;
  /// Sets makespan and mean JCT from the rows.
  void finish(const std::vector<ElasticJob>& jobs);
};

// All three: Errors: BadData for a rate or number of GPUs that the policy cannot use, or a record
// of shares that does not fit; Failed if a job never ends.

/// Elastic, earliest deadline first, without admission control.
[[nodiscard]] base::Result<ElasticRun> run_elastic_edf(const ElasticInputs& inputs);
/// Time slicing with the GPUs that jobs asked for.
[[nodiscard]] base::Result<ElasticRun> run_elastic_gandiva(const ElasticInputs& inputs);
/// Leases of a slot by finish-time fairness.
[[nodiscard]] base::Result<ElasticRun> run_elastic_themis(const ElasticInputs& inputs);

}  // namespace goban::study::rivals
