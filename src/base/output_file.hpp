// A file that appears complete or not at all: written under a temporary name, then renamed. Devices
// and pipes are written to directly.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace goban::base {

/// Buffered writer. Nothing appears under `path` before commit(), unless it is a device or a pipe.
class OutputFile {
 public:
  /// Creates missing folders. A link stays, and the file that it names is replaced. Errors: Failed
  /// if the file cannot be created.
  [[nodiscard]] static Result<OutputFile> create(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  /// The buffer to append to; write_out() flushes it when it is large.
  [[nodiscard]] std::string& buffer() { return buffer_; }
  /// Writes the buffer to disk if it is large. commit() reports a failure.
  void write_out() {
    if (buffer_.size() >= kChunk) flush();
  }
  /// Writes the remainder and renames the file to `path`. Errors: Failed (disk full, no
  /// permission).
  [[nodiscard]] Status commit();

 private:
  static constexpr size_t kChunk = 1 << 20;
  OutputFile(std::string path, std::string temporary, std::FILE* file)
      : path_(std::move(path)), temporary_(std::move(temporary)), file_(file) {}
  void flush();

  std::string path_;
  std::string temporary_;  ///< empty: `path` itself is written
  std::FILE* file_ = nullptr;
  std::string buffer_;
  bool failed_ = false;
};

/// Creates or replaces a file. Errors: Failed; an existing file is then unchanged.
[[nodiscard]] Status write_file(const std::string& path, std::string text);

}  // namespace goban::base
