// What a fast storage tier holds, and what leaves it for what a job needs. Pure: the driver (the
// live scheduler or the simulator) says what was copied and what was removed.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/time.hpp"

namespace goban::core::staging {

using base::TimeNs;

/// Data as one unit: all of it is on the tier, or none of it counts.
struct DataItem {
  std::string key{};
  int64_t bytes = 0;
  friend bool operator==(const DataItem&, const DataItem&) = default;
};

/// The contents of a fast tier, by key. Least recently used data leaves first; data in use never
/// does.
class FastTier {
 public:
  explicit FastTier(int64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  struct Entry {
    int64_t bytes = 0;
    TimeNs used_ns = 0;       ///< last use; orders those that may leave
    uint32_t users = 0;       ///< jobs that were admitted and have not released it
    bool is_there = false;    ///< completely copied
    bool is_leaving = false;  ///< to be removed; its bytes count until left()
  };

  enum class Admission : uint8_t {
    Admitted,  ///< in use by the job from now on; what is missing may be copied once has_room()
    Waits,     ///< data in use takes the room, or a part of it is just being removed
    TooLarge,  ///< the tier never has room for all of it
  };
  struct Verdict {
    Admission admission = Admission::Waits;
    std::vector<std::string> leaving{};  ///< to be removed, least recently used first
    int64_t missing_bytes = 0;           ///< Admitted: not on the tier yet
  };
  /// All items of one job, or none, so that two jobs never wait for each other's halves.
  [[nodiscard]] Verdict admit(std::span<const DataItem> items, TimeNs now);
  /// The item is completely copied. Unknown keys are ignored.
  void arrived(const std::string& key);
  /// The item is gone.
  void left(const std::string& key);
  /// The item could not be removed: it stays, as the most recently used.
  void stays(const std::string& key, TimeNs now);
  /// A job needs the item no longer. It stays until something else needs the room.
  void release(const std::string& key, TimeNs now);
  /// An entry as it was, after a restart.
  void restore(const std::string& key, const Entry& entry);

  /// What was admitted fits beside what is still being removed.
  [[nodiscard]] bool has_room() const { return used_bytes_ <= capacity_bytes_; }
  [[nodiscard]] bool has(const std::string& key) const;
  [[nodiscard]] int64_t used_bytes() const { return used_bytes_; }
  [[nodiscard]] int64_t capacity_bytes() const { return capacity_bytes_; }
  [[nodiscard]] const std::map<std::string, Entry>& entries() const { return entries_; }

 private:
  using Place = std::pair<TimeNs, std::string>;
  [[nodiscard]] static bool may_leave(const Entry& entry) {
    return entry.users == 0 && !entry.is_leaving;
  }
  void list(const std::string& key, const Entry& entry);
  void unlist(const std::string& key, const Entry& entry);

  int64_t capacity_bytes_;
  int64_t used_bytes_ = 0;
  std::map<std::string, Entry> entries_;
  std::set<Place> idle_;  ///< may leave, by last use
};

}  // namespace goban::core::staging
