// Splits a JSON stream into records without holding more than one of them: the objects of an array,
// of `items` in a list object (kubectl), or consecutive objects (JSON lines).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/byte_source.hpp"
#include "base/result.hpp"

namespace goban::site::records {

/// Finds the start and end of each object; the content is not checked.
class JsonObjects {
 public:
  static constexpr size_t kObjectBytesMax = size_t{64} << 20;

  /// `first`: bytes of the source that were already read; `line`: the number of their line.
  JsonObjects(base::ByteSource& source, std::string_view first, int64_t line);

  /// Advances to the next object; false at the end or after a failure (see status()).
  [[nodiscard]] bool next();
  /// The object, braces included; valid until the next call of next().
  [[nodiscard]] std::string_view text() const { return text_; }
  /// The line on which it starts, from 1.
  [[nodiscard]] int64_t line() const { return object_line_; }
  /// Errors: BadData if the text is not JSON, ends early or has an object that is too large; those
  /// of the source.
  [[nodiscard]] const base::Status& status() const { return status_; }

 private:
  bool fill();
  /// Takes one byte; true if it ends a record.
  bool take(char c);
  bool take_in_string(char c);
  void open(char c);
  bool close();
  bool fail(std::string message, std::string remedy);

  base::ByteSource& source_;
  std::string block_;
  size_t at_ = 0;
  std::string text_;
  std::string last_string_;  ///< the last complete string at depth 1
  std::string key_;          ///< the last string at depth 1 that was followed by a colon
  int64_t line_;
  int64_t object_line_ = 0;
  int depth_ = 0;         ///< open brackets
  int record_depth_ = 0;  ///< a brace at this depth starts a record
  bool capturing_ = false;
  bool in_string_ = false;
  bool escaped_ = false;
  base::Status status_;
};

}  // namespace goban::site::records
