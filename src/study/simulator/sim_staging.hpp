// Staging in a simulation: jobs reach the core when their data is on the fast tier. What the tier
// holds is decided as in the live scheduler (core/staging).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/model/job_history.hpp"
#include "core/model/storage_tiers.hpp"
#include "core/staging/fast_tier.hpp"

namespace goban::study::simulator {

using base::TimeNs;
using core::model::JobId;

/// What staging did in a run; all jobs of the history.
struct StagingFigures {
  int64_t jobs = 0;        ///< with data to stage in
  int64_t hits = 0;        ///< of these, all data was on the fast tier, or on its way
  int64_t in_bytes = 0;    ///< copied in
  int64_t hit_bytes = 0;   ///< found there
  int64_t out_bytes = 0;   ///< copied out
  int64_t evictions = 0;   ///< data sets that left for others
  double stage_s_sum = 0;  ///< from submission until the data was there
  double stage_s_max = 0;
  double full_s_sum = 0;   ///< part of stage_s_sum in which the tier had no room
  double link_busy_s = 0;  ///< time in which something was copied
  double out_s_sum = 0;    ///< from the end of a job until its results were copied
  [[nodiscard]] double avg_stage_s() const {
    return jobs > 0 ? stage_s_sum / static_cast<double>(jobs) : 0;
  }
};

class SimStaging {
 public:
  /// The history has staged data. Errors: Usage if the cluster file lacks a fast tier or a
  /// bandwidth; BadData with a job whose data the tier cannot hold.
  [[nodiscard]] static base::Result<SimStaging> make(const core::model::JobHistory& history,
                                                     const core::model::StorageTiers& tiers);

  /// True if the job needs no data, or its data is there. Otherwise take_ready() returns it later.
  [[nodiscard]] bool submitted(JobId id, TimeNs now);
  /// The job ended. True if it was not ready yet, so that nobody else knows it.
  bool ended(JobId id, TimeNs now, bool ran);
  /// The job was submitted, and its data is not there.
  [[nodiscard]] bool waits(JobId id) const { return open_.contains(id); }
  /// When something is copied next; kNever = nothing is.
  [[nodiscard]] TimeNs next_ns() const {
    return copies_.empty() ? base::kNever : copies_.front().end_ns;
  }
  /// Jobs whose data is there, in order. Also what ended() made room for.
  [[nodiscard]] std::vector<JobId> take_ready(TimeNs now);
  [[nodiscard]] const StagingFigures& figures() const { return figures_; }

 private:
  SimStaging(const core::model::JobHistory& history, double bytes_per_s, int64_t fast_bytes);

  /// One copy at a time, in order, at the full bandwidth.
  struct Copy {
    TimeNs end_ns = 0;
    std::string key{};  ///< empty: results
  };
  struct Job {
    TimeNs submit_ns = 0;
    bool is_admitted = false;
  };
  [[nodiscard]] const core::model::StagedData& data_of(JobId id) const {
    return history_->staging[id.index()];
  }
  [[nodiscard]] std::string key_of(JobId id) const;
  /// True if the data is there.
  bool admit(JobId id, TimeNs now, bool& is_full);
  TimeNs copy(int64_t bytes, std::string key, TimeNs now);
  void count_ready(JobId id, TimeNs now);

  const core::model::JobHistory* history_;
  double bytes_per_s_;
  core::staging::FastTier tier_;
  std::deque<JobId> waiting_;                         ///< for room, by submission
  std::map<JobId, Job> open_;                         ///< submitted and not ready
  std::map<std::string, std::vector<JobId>> coming_;  ///< jobs that wait for a copy, by key
  std::deque<Copy> copies_;
  std::vector<JobId> ready_;
  TimeNs link_free_ns_ = 0;
  StagingFigures figures_;
};

}  // namespace goban::study::simulator
