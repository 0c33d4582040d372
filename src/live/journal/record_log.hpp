// The interface of the journal: records that are durable once commit() has returned, and snapshots
// that replace what came before. Implemented by journal_file.hpp; tests inject faults.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::live::journal {

class RecordLog {
 public:
  virtual ~RecordLog() = default;
  /// Buffers a record until the next commit. Any text without a line break.
  virtual void append(std::string_view record) = 0;
  /// Makes all appended records durable, with one sync. Errors: Failed (disk full, read-only): then
  /// none of them is committed; they are kept, and the next commit retries.
  [[nodiscard]] virtual base::Status commit() = 0;
  /// Replaces everything by this snapshot, all or nothing. Errors: Failed; then the old state stays
  /// valid.
  [[nodiscard]] virtual base::Status compact(std::string_view snapshot) = 0;
  /// Bytes of records since the last snapshot.
  [[nodiscard]] virtual int64_t bytes_since_snapshot() const = 0;
  /// Whether another daemon has taken over, so that no commit succeeds any more. From any thread.
  [[nodiscard]] virtual bool was_taken_over() const { return false; }
};

/// The content of a log when it was opened.
struct Recovered {
  std::string snapshot{};              ///< empty: no snapshot
  std::vector<std::string> records{};  ///< since then, in order
  std::vector<std::string> notes{};    ///< such as a discarded torn tail, a sentence each
};

}  // namespace goban::live::journal
