// The text of journals and snapshots (docs/journal.md): one line per record, each with its checksum
// and its position, so that the remains of a crash are distinguished from damage by the disk.
//
//   <CRC-32 of the rest, 8 hex digits> <bytes of the record> <commit>.<index> <record>\n
//
// The header is line 0.0; records are numbered by commit from 1, and within a commit from 0.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::live::journal {

/// Identifies a journal or snapshot: epochs grow with every start of a daemon, generations with
/// every snapshot.
struct Generation {
  uint64_t epoch = 0;
  uint64_t number = 0;
  friend auto operator<=>(const Generation&, const Generation&) = default;
};

/// Configuration that decisions depend on, by name: policy, seed, digests of files.
using InputFacts = std::map<std::string, std::string>;

/// The records of a journal from index `from` on were made with these facts.
struct MadeWith {
  uint64_t from = 0;
  InputFacts facts{};
  friend bool operator==(const MadeWith&, const MadeWith&) = default;
};

/// The first line of a journal or snapshot.
struct JournalHeader {
  static constexpr int kVersion = 1;
  int version = kVersion;
  std::string kind{};       ///< "journal" or "snapshot"
  std::string build{};      ///< version of goban that wrote it
  Generation generation{};  ///< its own
  /// Journals only: the previous generation; epoch 0 = none, and no snapshot.
  Generation before{};
  /// Whether it repeats the records of `before` at its beginning; otherwise it continues after
  /// them.
  bool repeats = false;
  std::vector<MadeWith> made_with{};  ///< by record; unknown for records before the first entry
};
[[nodiscard]] std::string to_text(const JournalHeader& header);
/// Errors: BadData if it is not a header, or of a newer version.
[[nodiscard]] base::Result<JournalHeader> parse_header(std::string_view text,
                                                       const std::string& file);

struct LineNumber {
  uint64_t commit = 0;
  uint64_t index = 0;
  friend auto operator<=>(const LineNumber&, const LineNumber&) = default;
};
/// Appends a line; the record must not contain a line break.
void append_line(std::string& out, LineNumber number, std::string_view record);

/// The content of a file.
struct JournalLines {
  JournalHeader header{};
  std::vector<std::string_view> records{};  ///< into the text
  uint64_t last_commit = 0;
  size_t header_bytes = 0;
  /// Bytes of complete lines; the bytes after them are the remains of an unconfirmed commit.
  size_t good_bytes = 0;
};

/// Errors: BadData with the byte offset if the header is damaged, if intact lines of later commits
/// follow a damaged one, or if lines are missing.
[[nodiscard]] base::Result<JournalLines> read_journal_text(std::string_view text,
                                                           const std::string& file);

}  // namespace goban::live::journal
