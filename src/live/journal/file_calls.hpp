// The system calls by which the live scheduler changes durable files. Tests inject faults.
#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>

#include "base/result.hpp"

namespace goban::live::journal {

/// Like the POSIX functions: negative and errno on failure.
class FileCalls {
 public:
  virtual ~FileCalls() = default;
  virtual ssize_t write(int fd, std::string_view bytes, int64_t at);
  virtual int sync(int fd);
  virtual int truncate(int fd, int64_t length);
  virtual int rename(const std::string& from, const std::string& to);
  virtual int remove(const std::string& path);
};
/// The system's calls.
[[nodiscard]] FileCalls& system_files();

/// Writes all bytes at offset `at`. False and errno if not all could be written.
[[nodiscard]] bool write_all(FileCalls& calls, int fd, std::string_view bytes, int64_t at);
/// Makes the names in a folder durable. Errors: Failed.
[[nodiscard]] base::Status sync_folder(FileCalls& calls, const std::string& folder);
/// Writes a file atomically: it is complete, synced and readable by its owner only, or does not
/// exist. Its name is durable after sync_folder(). Errors: Failed.
[[nodiscard]] base::Status write_safely(FileCalls& calls, const std::string& path,
                                        std::string_view bytes);
/// Errors: Failed if it does not exist or cannot be read.
[[nodiscard]] base::Result<std::string> read_whole(const std::string& path);

/// The error "cannot WHAT PATH: reason of errno", with a remedy.
[[nodiscard]] tl::unexpected<base::Error> file_failure(std::string_view what,
                                                       const std::string& path);

}  // namespace goban::live::journal
