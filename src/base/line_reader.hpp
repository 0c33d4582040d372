// Lines of a large input, read in blocks of 1 MiB. Only lines that span two blocks are copied.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/byte_source.hpp"
#include "base/result.hpp"

namespace goban::base {

/// One line without its line end (LF or CRLF).
struct Line {
  std::string_view text;  ///< valid until the next call
  int64_t number = 0;     ///< from 1
  bool too_long = false;  ///< longer than kLineBytesMax: `text` is its beginning
};

/// Splits a source into lines. A byte order mark at the start is dropped; the last line may lack a
/// line end. A line break inside a quoted field ends the line, too.
class LineReader {
 public:
  static constexpr size_t kBlockBytes = size_t{1} << 20;
  static constexpr size_t kLineBytesMax = size_t{1} << 20;

  /// `on_block` is called after every block read. `source` must outlive the reader.
  explicit LineReader(ByteSource& source, std::function<void()> on_block = {});

  /// The next line; false at the end or after a failure (see status()).
  [[nodiscard]] bool next(Line& line);
  /// Bytes read so far, from the beginning of the line returned last; for inputs that turn out not
  /// to consist of lines. Later bytes are still in the source.
  [[nodiscard]] std::string_view unread_from(const Line& line) const {
    return {line.text.data(), static_cast<size_t>(buffer_.get() + end_ - line.text.data())};
  }
  /// The failure that ended the input, if one did.
  [[nodiscard]] const Status& status() const { return status_; }
  /// Bytes of text returned so far, including line ends.
  [[nodiscard]] int64_t text_bytes() const { return text_bytes_; }

 private:
  static constexpr size_t kBufferBytes = kBlockBytes + kLineBytesMax;
  static constexpr size_t kFirstBytes = size_t{64} << 10;
  bool fill();
  void grow();
  void finish(Line& line, size_t length, size_t line_end);
  void skip_to_line_end();

  ByteSource& source_;
  std::function<void()> on_block_;
  std::unique_ptr<char[]> buffer_;  ///< grows only while reads fill it
  size_t capacity_ = kFirstBytes;
  bool is_full_ = false;  ///< the last read left no room
  size_t begin_ = 0;      ///< unread bytes are [begin_, end_)
  size_t end_ = 0;
  bool at_end_ = false;
  bool skip_rest_ = false;  ///< the line returned last was too long
  int64_t line_number_ = 0;
  int64_t text_bytes_ = 0;
  Status status_;
};

}  // namespace goban::base
