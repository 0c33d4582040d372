// The IDX format of MNIST and similar sets: a big-endian header and bytes, gzipped or not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace goban::train::data {

/// Unsigned bytes in row-major order.
struct IdxArray {
  std::vector<int64_t> sizes;
  std::vector<uint8_t> bytes;
};

/// Errors: Failed, if the file cannot be read; BadData, if elements are not bytes, or the file is
/// shorter or longer than its header declares.
[[nodiscard]] base::Result<IdxArray> read_idx(const std::string& path);

/// Images [n, 784] and labels [n], bytes, for training and test.
struct ImageSet {
  IdxArray train_images, train_labels, test_images, test_labels;
};

/// Reads the four files with MNIST's names from a folder, with or without ".gz". Errors: as above,
/// and BadData if images and labels differ in number or images are not 28x28.
[[nodiscard]] base::Result<ImageSet> read_image_set(const std::string& folder);

}  // namespace goban::train::data
