#include "base/line_reader.hpp"

#include <algorithm>
#include <cstring>

namespace goban::base {

LineReader::LineReader(ByteSource& source, std::function<void()> on_block)
    : source_(source),
      on_block_(std::move(on_block)),
      buffer_(std::make_unique_for_overwrite<char[]>(kFirstBytes)) {}

bool LineReader::fill() {
  if (at_end_) return false;
  std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (is_full_) grow();
  const size_t room = std::min(capacity_ - end_, kBlockBytes);
  const auto got = source_.read(buffer_.get() + end_, room);
  if (!got) {
    status_ = failure(got.error());
    at_end_ = true;
    begin_ = end_ = 0;
    return false;
  }
  if (*got == 0) at_end_ = true;
  is_full_ = *got == room;
  end_ += *got;
  if (on_block_) on_block_();
  return *got > 0;
}

void LineReader::grow() {
  if (capacity_ == kBufferBytes) return;
  const size_t capacity = std::min(4 * capacity_, kBufferBytes);
  auto buffer = std::make_unique_for_overwrite<char[]>(capacity);
  std::memcpy(buffer.get(), buffer_.get(), end_);
  buffer_ = std::move(buffer);
  capacity_ = capacity;
}

void LineReader::finish(Line& line, size_t length, size_t line_end) {
  line.text = std::string_view(buffer_.get() + begin_, length);
  begin_ += length + line_end;
  text_bytes_ += static_cast<int64_t>(length + line_end);
  line.number = ++line_number_;
  line.too_long = false;
  if (line.number == 1 && line.text.starts_with("\xEF\xBB\xBF")) line.text.remove_prefix(3);
  if (line.text.ends_with('\r')) line.text.remove_suffix(1);
}

void LineReader::skip_to_line_end() {
  do {
    const void* stop = std::memchr(buffer_.get() + begin_, '\n', end_ - begin_);
    const size_t skipped =
        stop == nullptr
            ? end_ - begin_
            : static_cast<size_t>(static_cast<const char*>(stop) - buffer_.get()) + 1 - begin_;
    begin_ += skipped;
    text_bytes_ += static_cast<int64_t>(skipped);
    if (stop != nullptr) return;
  } while (fill());
}

bool LineReader::next(Line& line) {
  if (skip_rest_) skip_to_line_end();
  skip_rest_ = false;
  size_t searched = 0;
  while (true) {
    const char* unread = buffer_.get() + begin_;
    const void* stop = std::memchr(unread + searched, '\n', end_ - begin_ - searched);
    if (stop != nullptr) {
      const auto length = static_cast<size_t>(static_cast<const char*>(stop) - unread);
      if (length > kLineBytesMax) break;
      finish(line, length, 1);
      return true;
    }
    searched = end_ - begin_;
    if (searched > kLineBytesMax) break;
    if (!fill()) {
      if (begin_ == end_) return false;
      finish(line, end_ - begin_, 0);
      return true;
    }
  }
  finish(line, kLineBytesMax, 0);
  line.too_long = skip_rest_ = true;
  return true;
}

}  // namespace goban::base
