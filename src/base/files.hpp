// Small files that are replaced atomically, and file descriptors with an owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>

#include "base/result.hpp"

namespace goban::base {

/// Owns a file descriptor; -1 = none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int file) : file_(file) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) reset(std::exchange(other.file_, -1));
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int get() const { return file_; }
  explicit operator bool() const { return file_ >= 0; }
  void reset(int file = -1);
  [[nodiscard]] int release() { return std::exchange(file_, -1); }

 private:
  int file_ = -1;
};

/// Reads a file of at most `max_bytes`. Errors: Failed if it is missing, unreadable or larger.
[[nodiscard]] base::Result<std::string> read_small_file(const std::string& path,
                                                        size_t max_bytes = size_t{16} << 20);

/// Reads `text` from an open file, to its end or until it is longer than `max_bytes`. False: see
/// errno.
[[nodiscard]] bool read_all(int file, std::string& text, size_t max_bytes = SIZE_MAX);

enum class Durable : bool { No, Yes };

/// Replaces `folder/name` by `text`, mode 0600: temporary file, fsync (if durable), rename, fsync
/// of the folder. Errors: Failed (disk full, read-only); the old file is then unchanged.
[[nodiscard]] base::Status replace_file(const std::string& folder, const std::string& name,
                                        std::string_view text, Durable durable);

/// Sets the times of a file to now. Creates it, empty and with mode 0600, if it is missing; gives
/// up without a word if that is impossible.
void touch(const std::string& path);

/// Makes the entries of a folder durable (fsync).
[[nodiscard]] base::Status sync_folder(const std::string& folder);

/// Writes all of `text`. False: see errno.
[[nodiscard]] bool write_all(int file, std::string_view text);

[[nodiscard]] bool exists(const std::string& path);

/// An error from errno: `what 'path': text`.
[[nodiscard]] tl::unexpected<base::Error> system_error(std::string_view what,
                                                       const std::string& path,
                                                       std::string remedy = {});

}  // namespace goban::base
