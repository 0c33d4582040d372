// A job's output file, read with the permissions of its owner: it must be a regular file that the
// owner owns, and no symbolic link.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "live/job/job_spec.hpp"

namespace goban::serve::api {

class LogFile {
 public:
  LogFile() = default;
  LogFile(LogFile&& other) noexcept;
  LogFile& operator=(LogFile&& other) noexcept;
  ~LogFile();

  /// Returns a LogFile without there() if nothing was written yet. Errors: Failed if the file must
  /// not be shown: a link, a device, another user's file, not readable.
  [[nodiscard]] static base::Result<LogFile> open(const live::job::Owner& owner,
                                                  const std::string& path);
  [[nodiscard]] bool there() const { return descriptor_ >= 0; }
  [[nodiscard]] int64_t size() const;
  /// Appends at most `bytes_max` bytes from `offset` to `out`. Returns the number of bytes read.
  int64_t read(int64_t offset, size_t bytes_max, std::string& out) const;

 private:
  int descriptor_ = -1;
};

}  // namespace goban::serve::api
