// The calls by which the live scheduler changes files that must not get lost. Tests put faults in
// between.
#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>

#include "base/result.hpp"

namespace goban::live::journal {

/// As the functions of POSIX: negative and errno on failure.
class FileCalls {
 public:
  virtual ~FileCalls() = default;
  virtual ssize_t write(int fd, std::string_view bytes, int64_t at);
  virtual int sync(int fd);
  virtual int truncate(int fd, int64_t length);
  virtual int rename(const std::string& from, const std::string& to);
  virtual int remove(const std::string& path);
};
/// Those of the system.
[[nodiscard]] FileCalls& system_files();

/// An open file or folder, closed at the end.
class OpenFile {
 public:
  OpenFile() = default;
  explicit OpenFile(int fd) : fd_(fd) {}
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile();
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// Writes all bytes at that place. False and errno if not all could be written.
[[nodiscard]] bool write_all(FileCalls& calls, int fd, std::string_view bytes, int64_t at);
/// Makes the names in a folder safe. Errors: Failed.
[[nodiscard]] base::Status sync_folder(FileCalls& calls, const std::string& folder);
/// The file appears under `path` whole, safe and readable by its owner only, or not at all; its
/// name is safe after sync_folder(). Errors: Failed.
[[nodiscard]] base::Status write_safely(FileCalls& calls, const std::string& path,
                                        std::string_view bytes);
/// Errors: Failed if it is not there or cannot be read.
[[nodiscard]] base::Result<std::string> read_whole(const std::string& path);

/// "cannot WHAT PATH: reason of errno", with what helps against it.
[[nodiscard]] tl::unexpected<base::Error> file_failure(std::string_view what,
                                                       const std::string& path);

}  // namespace goban::live::journal
