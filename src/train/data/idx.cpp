#include "train/data/idx.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <span>
#include <system_error>

#include "base/byte_source.hpp"

namespace goban::train::data {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 32;
constexpr uint8_t kClasses = 10;

/// Fills `into`. False if the file ends first.
base::Result<bool> fill(base::ByteSource& file, std::span<uint8_t> into) {
  while (!into.empty()) {
    const auto count = file.read(reinterpret_cast<char*>(into.data()), into.size());
    if (!count) return base::failure(count.error());
    if (*count == 0) return false;
    into = into.subspan(*count);
  }
  return true;
}

}  // namespace

base::Result<IdxArray> read_idx(const std::string& path) {
  const auto file = base::open_bytes(path);
  if (!file) return base::failure(file.error());
  const auto bad = [&](const std::string& message) {
    return base::bad_data({path, 0, 0, ""}, message);
  };
  const auto take = [&](std::span<uint8_t> into, const std::string& if_short) -> base::Status {
    const auto whole = fill(**file, into);
    if (!whole) return base::failure(whole.error());
    if (!*whole) return bad(if_short);
    return {};
  };
  std::array<uint8_t, 4> magic{};
  if (auto s = take(magic, "is too short for an IDX header"); !s) return base::failure(s.error());
  if (magic[0] != 0 || magic[1] != 0) return bad("is not an IDX file");
  if (magic[2] != 0x08)
    return bad(fmt::format("has elements of type {:#x}; must be bytes (0x08)", magic[2]));
  IdxArray out;
  int64_t total = 1;
  for (int i = 0; i < magic[3]; ++i) {
    std::array<uint8_t, 4> size{};
    if (auto s = take(size, "ends inside the header"); !s) return base::failure(s.error());
    const int64_t value = int64_t{size[0]} << 24 | size[1] << 16 | size[2] << 8 | size[3];
    if (value == 0 || total > kMaxBytes / value) return bad("has an invalid size");
    total *= value;
    out.sizes.push_back(value);
  }
  out.bytes.resize(static_cast<size_t>(total));
  if (auto s = take(out.bytes, fmt::format("is truncated: its header declares {} bytes", total));
      !s) {
    return base::failure(s.error());
  }
  std::array<uint8_t, 1> more{};
  const auto longer = fill(**file, more);
  if (!longer) return base::failure(longer.error());
  if (*longer) return bad("has extra bytes after its end");
  return out;
}

base::Result<ImageSet> read_image_set(const std::string& folder) {
  ImageSet set;
  const auto load = [&](const char* name) -> base::Result<IdxArray> {
    const std::string plain = folder + "/" + name;
    std::error_code error;
    const bool there = std::filesystem::exists(plain, error);
    if (error) {
      return base::failed(fmt::format("cannot read '{}': {}", plain, error.message()),
                          "the folder and its files must be readable by this user");
    }
    return read_idx(there ? plain : plain + ".gz");
  };
  const std::array<std::pair<const char*, IdxArray*>, 4> files = {
      {{"train-images-idx3-ubyte", &set.train_images},
       {"train-labels-idx1-ubyte", &set.train_labels},
       {"t10k-images-idx3-ubyte", &set.test_images},
       {"t10k-labels-idx1-ubyte", &set.test_labels}}};
  for (const auto& [name, into] : files) {
    auto array = load(name);
    if (!array) return base::failure(array.error());
    *into = std::move(*array);
  }
  const auto check = [&](const IdxArray& images, const IdxArray& labels) {
    return images.sizes.size() == 3 && labels.sizes.size() == 1 && images.sizes[1] == 28 &&
           images.sizes[2] == 28 && images.sizes[0] == labels.sizes[0];
  };
  if (!check(set.train_images, set.train_labels) || !check(set.test_images, set.test_labels)) {
    return base::bad_data({folder, 0, 0, ""}, "images must be 28x28, with one label each");
  }
  for (const auto& [name, array] : files) {
    if (array != &set.train_labels && array != &set.test_labels) continue;
    const auto bad = std::ranges::find_if(array->bytes, [](uint8_t x) { return x >= kClasses; });
    if (bad == array->bytes.end()) continue;
    return base::bad_data({folder + "/" + name, 0, 0, ""},
                          fmt::format("label {} of image {} is not one of the {} classes, 0 to {}",
                                      *bad, bad - array->bytes.begin(), kClasses, kClasses - 1),
                          "the file is damaged, or of another data set: replace it");
  }
  return set;
}

}  // namespace goban::train::data
