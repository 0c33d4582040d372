#include "series/input/line_source.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>
#include <vector>
#include <zlib.h>

#include "base/text_file.hpp"

namespace goban::series {
namespace {

constexpr size_t kLineBytesMax = size_t{1} << 20;

std::string_view without_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

class TextLines final : public LineSource {
 public:
  explicit TextLines(std::string_view text) : text_(text) {}
  base::Result<std::optional<std::string_view>> next() override {
    if (text_.empty()) return std::nullopt;
    ++line_;
    const size_t end = text_.find('\n');
    const std::string_view line = text_.substr(0, end);
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
    return without_return(line);
  }

 private:
  std::string_view text_;
};

/// zlib reads plain files as they are.
class GzipLines final : public LineSource {
 public:
  GzipLines(gzFile file, std::string name) : file_(file), name_(std::move(name)) {}
  ~GzipLines() override { gzclose(file_); }

  base::Result<std::optional<std::string_view>> next() override {
    for (;;) {
      const std::string_view held = std::string_view(buffer_).substr(begin_);
      if (const size_t end = held.find('\n'); end != std::string_view::npos) {
        begin_ += end + 1;
        ++line_;
        return without_return(held.substr(0, end));
      }
      if (held.size() > kLineBytesMax) {
        return base::bad_data({name_, line_ + 1, 0, {}}, "a line of over 1 MiB",
                              "is this a text file?");
      }
      if (ended_) {
        begin_ = buffer_.size();
        if (held.empty()) return std::nullopt;
        ++line_;
        return without_return(held);
      }
      if (const auto filled = fill(); !filled) return base::failure(filled.error());
    }
  }

 private:
  base::Status fill() {
    constexpr unsigned kChunk = 1U << 18;
    buffer_.erase(0, begin_);
    begin_ = 0;
    const size_t had = buffer_.size();
    buffer_.resize(had + kChunk);
    const int count = gzread(file_, buffer_.data() + had, kChunk);
    buffer_.resize(had + static_cast<size_t>(std::max(count, 0)));
    ended_ = count == 0;
    int code = Z_OK;
    const char* message = gzerror(file_, &code);
    if (count >= 0 && (code == Z_OK || (code == Z_BUF_ERROR && count > 0))) return {};
    if (code == Z_ERRNO) {
      return base::failed(fmt::format("cannot read {}: {}", name_, std::strerror(errno)));
    }
    return base::bad_data({name_, 0, 0, {}}, fmt::format("damaged or cut gzip data ({})", message),
                          "copy the file again");
  }

  gzFile file_;
  std::string name_;
  std::string buffer_;
  size_t begin_ = 0;
  bool ended_ = false;
};

}  // namespace

base::Result<std::unique_ptr<LineSource>> open_lines(const std::string& path) {
  gzFile file = path == "-" ? gzdopen(::dup(STDIN_FILENO), "rb") : gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    return base::failed(fmt::format("cannot open {}: {}", base::input_name(path),
                                    std::strerror(errno)));
  }
  gzbuffer(file, 1U << 18);
  return std::make_unique<GzipLines>(file, base::input_name(path));
}

std::unique_ptr<LineSource> lines_of(std::string_view text) {
  return std::make_unique<TextLines>(text);
}

}  // namespace goban::series
