// Where the journal goes: records that are safe once commit() returned, and snapshots that replace
// what came before. The file behind it is journal_file.hpp; tests put faults in between.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::live::journal {

class RecordLog {
 public:
  virtual ~RecordLog() = default;
  /// Remembers a record until the next commit. Any text without a line break.
  virtual void append(std::string_view record) = 0;
  /// Makes all appended records safe, with one sync. Errors: Failed (disk full, read-only): then
  /// none of them counts; they are kept, and the next commit tries again.
  [[nodiscard]] virtual base::Status commit() = 0;
  /// Replaces everything by this snapshot, all or nothing. Errors: Failed; the old one stands then.
  [[nodiscard]] virtual base::Status compact(std::string_view snapshot) = 0;
  /// Bytes of records since the last snapshot.
  [[nodiscard]] virtual int64_t bytes_since_snapshot() const = 0;
  /// Another daemon writes from now on, so no commit succeeds any more. From any thread.
  [[nodiscard]] virtual bool was_taken_over() const { return false; }
};

/// What a log held when it was opened.
struct Recovered {
  std::string snapshot{};              ///< empty: there was none
  std::vector<std::string> records{};  ///< since then, in order
  std::vector<std::string> notes{};    ///< such as a torn tail that was cut off, a sentence each
};

}  // namespace goban::live::journal
