// Reading, writing and waiting of copies, with the errors of this module.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/result.hpp"

namespace goban::live::staging {

[[nodiscard]] int64_t mtime_of(const struct stat& facts);
/// The file was given this time of change, and nobody has changed it since. File systems that keep
/// whole seconds only, such as Lustre, or coarser times than nanoseconds round it down.
[[nodiscard]] bool has_mtime(const struct stat& facts, int64_t mtime_ns);

/// Reads up to the end of the file or of the buffer. -1: see errno.
[[nodiscard]] ssize_t read_at(int file, char* to, size_t size, int64_t at);
/// False: see errno.
[[nodiscard]] bool write_at(int file, std::string_view bytes, int64_t at);

/// Errors: Failed.
[[nodiscard]] base::Status make_folders(const std::string& path);

/// Takes the lock (flock) of an open file or folder, and waits for it for half
/// a minute. `go_on` is called meanwhile; false ends it. Errors: Failed; `busy`
/// says what holds the lock.
[[nodiscard]] base::Status take_lock(int file, const std::string& path, const std::string& busy,
                                     const std::function<bool()>& go_on);

}  // namespace goban::live::staging
