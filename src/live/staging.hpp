// Copies between storage tiers: what the controller orders, and what is reported. Whoever carries
// them out (live/staging) acts with the rights of the job's owner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "live/job/job_spec.hpp"

namespace goban::live {

enum class StageTask : uint8_t {
  Measure,  ///< how much it is, and which version
  In,       ///< copy to the fast tier, before the job starts
  Out,      ///< copy from where the job wrote it, after the job has ended
  Remove,   ///< from the fast tier: others need the room
  Look,     ///< whether what was copied in is still there; a problem: it is not
};

/// A file, or a folder with all that is in it.
struct StagePath {
  std::string from{};
  std::string to{};
  friend bool operator==(const StagePath&, const StagePath&) = default;
};

/// Every order may be repeated: what was done is found and not done again.
struct StageOrder {
  StageTask task = StageTask::Measure;
  core::model::JobId job{};        ///< for whom; Remove: invalid
  bool withdrawn = false;          ///< nothing of the job is to be copied any more
  bool gives_up = false;           ///< Out: nothing is copied, and what is incomplete is removed
  job::Owner owner{};              ///< with whose rights
  std::vector<StagePath> paths{};  ///< Measure: only `from`; Look: only `to`; Remove: one `to`
  std::string folder{};  ///< of the owner on the fast tier: In and Remove write only there
  std::string
      job_folder{};        ///< of the job in it; In creates it, Out removes what it copied from it
  std::string gateway{};   ///< node that copies; empty: this machine
  double bytes_per_s = 0;  ///< most, of this order; 0 = no limit
  friend bool operator==(const StageOrder&, const StageOrder&) = default;
};

/// One path of a Measure.
struct StageFound {
  int64_t bytes = 0;
  int64_t files = 0;
  /// Equal as long as names, sizes and times of change of all its files are: hexadecimal digits.
  std::string version{};
  friend bool operator==(const StageFound&, const StageFound&) = default;
};

struct StageReport {
  StageTask task = StageTask::Measure;
  core::model::JobId job{};
  std::string key{};     ///< Remove: StagePath::to
  bool is_over = false;  ///< otherwise it goes on, and this is its progress
  int64_t all_bytes = 0;
  int64_t done_bytes = 0;    ///< copied or found there
  int64_t copied_bytes = 0;  ///< of these, copied by this attempt
  std::vector<StageFound> found{};
  std::string sha256{};   ///< In, Out: of the list of all files with their checksums
  std::string problem{};  ///< over, without success: for users
  bool is_final = false;  ///< the problem does not go away by itself
  friend bool operator==(const StageReport&, const StageReport&) = default;
};

}  // namespace goban::live
