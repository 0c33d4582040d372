// A file written complete or not at all, packed as its name says: .gz and .tgz by gzip, .zst by
// zstd, with its checksum of the content.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::train::data {

/// Equal input gives equal bytes: gzip's header has no time and no name.
class PackedFile {
 public:
  /// Errors: Failed.
  [[nodiscard]] static base::Result<std::unique_ptr<PackedFile>> create(const std::string& path);
  ~PackedFile();
  PackedFile(const PackedFile&) = delete;
  PackedFile& operator=(const PackedFile&) = delete;
  /// Errors: Failed.
  [[nodiscard]] base::Status write(std::string_view bytes);
  /// The file appears under its name. Errors: Failed (disk full); nothing appears then.
  [[nodiscard]] base::Status finish();

 private:
  struct Impl;
  explicit PackedFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Whether a file that is written to `path` takes the place of one of `sources`.
[[nodiscard]] bool would_replace(const std::string& path, const std::vector<std::string>& sources);

}  // namespace goban::train::data
