// How many bytes the payloads of each user occupy, and their maximum per user. A payload occupies
// its size in blocks, and a block for its folder.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "base/result.hpp"
#include "live/job/job_spec.hpp"

namespace goban::serve::stores {

/// Thread-safe.
class PayloadUse {
 public:
  /// `most_bytes` per user; 0 = no limit.
  explicit PayloadUse(int64_t most_bytes) : most_bytes_(most_bytes) {}

  /// Counts a payload before it is written. Errors: Usage if its user would have more than the
  /// limit, with the bytes in use, the limit and the remedy.
  [[nodiscard]] base::Status add(const live::job::Owner& owner, const std::string& name,
                                 size_t bytes);
  /// Counts a payload that is already stored, whatever the limit.
  void count(uint32_t uid, const std::string& name, size_t bytes);
  /// The payload is gone; unknown names are ignored.
  void remove(const std::string& name);
  /// Bytes of a user's payloads.
  [[nodiscard]] int64_t bytes_of(uint32_t uid) const;

 private:
  struct Stored {
    uint32_t uid = 0;
    int64_t bytes = 0;
  };
  int64_t most_bytes_;
  mutable std::mutex mutex_{};
  std::map<std::string, Stored> stored_{};  ///< by name
  std::map<uint32_t, int64_t> sums_{};      ///< by uid
};

}  // namespace goban::serve::stores
