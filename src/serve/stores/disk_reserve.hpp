// The share of the state folder's disk that submissions leave free, so that the journal and the
// records of running jobs can still be written.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.hpp"

namespace goban::serve::stores {

/// The smaller of both counts; 0 = none.
struct DiskReserve {
  int64_t bytes = int64_t{1} << 30;
  double share = 0.05;  ///< of the disk, and of its files
  friend bool operator==(const DiskReserve&, const DiskReserve&) = default;
};

struct DiskSpace {
  int64_t bytes = 0;  ///< of the disk
  int64_t bytes_free = 0;
  int64_t files = 0;  ///< that the disk can hold; 0 = no fixed number
  int64_t files_free = 0;
};

/// Why `more` bytes would leave less than the reserve; empty = they would not.
[[nodiscard]] std::string shortage(const DiskSpace& space, const DiskReserve& reserve,
                                   int64_t more);

/// Checks the disk before each submission. Thread-safe.
class DiskGuard {
 public:
  /// `say` gets a log line when the reserve is reached, and when there is space again.
  DiskGuard(std::string folder, DiskReserve reserve, std::function<void(const std::string&)> say);
  /// Errors: Failed if `more` bytes would leave less than the reserve, or the disk cannot be asked.
  [[nodiscard]] base::Status check(size_t more);

 private:
  std::string folder_;
  DiskReserve reserve_;
  std::function<void(const std::string&)> say_;
  std::atomic<bool> is_short_ = false;
};

}  // namespace goban::serve::stores
