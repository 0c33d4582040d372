// A job's output file, read as far as its owner may: opened with the owner's rights, no link, a
// regular file that is the owner's.
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

  /// A LogFile that is not there() if nothing was written yet. Errors: Failed if it may not be
  /// shown: a link, a device, somebody else's, not readable.
  [[nodiscard]] static base::Result<LogFile> open(const live::job::Owner& owner,
                                                  const std::string& path);
  [[nodiscard]] bool there() const { return descriptor_ >= 0; }
  [[nodiscard]] int64_t size() const;
  /// Appends what stands from `offset` on, at most `bytes_max`. Returns how many bytes it was.
  int64_t read(int64_t offset, size_t bytes_max, std::string& out) const;

 private:
  int descriptor_ = -1;
};

}  // namespace goban::serve::api
