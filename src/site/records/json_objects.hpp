// Cuts a stream of JSON into its records without holding more than one of them: the objects of an
// array, of `items` in a list object (kubectl), or objects one behind the other (JSON lines).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/byte_source.hpp"
#include "base/result.hpp"

namespace goban::site::records {

/// Finds where objects begin and end; what is inside is not checked.
class JsonObjects {
 public:
  static constexpr size_t kObjectBytesMax = size_t{64} << 20;

  /// `first` are bytes of the source that were read before; `line` is the number of their line.
  JsonObjects(base::ByteSource& source, std::string_view first, int64_t line);

  /// Steps to the next object; false at the end or after a failure (see status()).
  [[nodiscard]] bool next();
  /// The object, braces included; valid until the next step.
  [[nodiscard]] std::string_view text() const { return text_; }
  /// The line on which it begins, from 1.
  [[nodiscard]] int64_t line() const { return object_line_; }
  /// Errors: BadData if the text is no JSON, ends too early or has a giant object; what the source
  /// says.
  [[nodiscard]] const base::Status& status() const { return status_; }

 private:
  bool fill();
  /// Takes one byte; true if an object ends with it.
  bool take(char c);
  bool take_in_string(char c);
  void open(char c);
  bool close();
  bool fail(std::string message, std::string remedy);

  base::ByteSource& source_;
  std::string block_;
  size_t at_ = 0;
  std::string text_;
  std::string last_string_;  ///< ended last, at depth 1
  std::string key_;          ///< likewise, before a colon
  int64_t line_;
  int64_t object_line_ = 0;
  int depth_ = 0;         ///< open brackets
  int record_depth_ = 0;  ///< a brace at this depth begins a record
  bool capturing_ = false;
  bool in_string_ = false;
  bool escaped_ = false;
  base::Status status_;
};

}  // namespace goban::site::records
