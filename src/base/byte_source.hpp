// Where bytes come from: a file (plain or gzip), standard input, or memory (tests, fuzzing).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace goban::base {

/// A sequential input. One reader, one thread.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills `out` with 1 to `capacity` bytes; 0 = the end. Errors: Failed (I/O), BadData (gzip).
  [[nodiscard]] virtual Result<size_t> read(char* out, size_t capacity) = 0;
  /// Bytes taken from the input so far, as stored (compressed).
  [[nodiscard]] virtual int64_t consumed_bytes() const = 0;
  /// Size of the input as stored; 0 = unknown.
  [[nodiscard]] virtual int64_t total_bytes() const = 0;
};

/// Reads until `out` has `size` bytes or the input ends; returns how many it has. Errors: those of
/// ByteSource::read.
[[nodiscard]] Result<size_t> read_up_to(ByteSource& source, char* out, size_t size);

/// Opens a file, plain or gzip (detected from its first bytes); "-" is standard input.
/// Errors: Failed if it cannot be opened. The first read of other compressed data is BadData
/// (refuse_packed).
[[nodiscard]] Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path);

/// Opens a file whose bytes are taken as they are. Errors: Failed if it cannot be opened.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> open_plain(const std::string& path);

/// BadData if an input that begins with these bytes is zstd, xz, bzip2 or zip data; the error names
/// the program that unpacks it.
[[nodiscard]] Status refuse_packed(std::string_view beginning, const std::string& name);

/// Bytes in memory, which must outlive the source; `chunk` is the maximum size of one read, to
/// test block boundaries.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes, size_t chunk = SIZE_MAX)
      : bytes_(bytes), chunk_(chunk) {}
  [[nodiscard]] Result<size_t> read(char* out, size_t capacity) override;
  [[nodiscard]] int64_t consumed_bytes() const override { return static_cast<int64_t>(next_); }
  [[nodiscard]] int64_t total_bytes() const override { return static_cast<int64_t>(bytes_.size()); }

 private:
  std::string_view bytes_;
  size_t chunk_;
  size_t next_ = 0;
};

}  // namespace goban::base
