// Reads WebDataset's tar shards (libarchive), plain or packed by gzip or zstd (packed_bytes). A
// sample is a run of adjacent files with equal keys.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "train/data/sample.hpp"

namespace goban::train::data {

/// Errors: Failed if the file cannot be opened.
[[nodiscard]] base::Result<std::unique_ptr<ShardReader>> open_tar(const std::string& path);

/// The same from memory, which must outlive the reader. `name` is for messages.
[[nodiscard]] base::Result<std::unique_ptr<ShardReader>> read_tar(std::string_view bytes,
                                                                  const std::string& name);

}  // namespace goban::train::data
