#include "train/trainer/test_images.hpp"

#include <fstream>
#include <string>

#include "base/random.hpp"

namespace goban::train::trainer {

void write_images(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const auto big_endian = [](int64_t value) {
    std::string out;
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
    return out;
  };
  base::Random random(5);
  for (const auto& [name, count] : {std::pair("train", 240), std::pair("t10k", 40)}) {
    std::string images("\0\0\x08\x03", 4), labels("\0\0\x08\x01", 4);
    images += big_endian(count) + big_endian(28) + big_endian(28);
    labels += big_endian(count);
    for (int i = 0; i < count; ++i) {
      const auto label = static_cast<int>(random.below(10));
      std::string image(784, '\0');
      for (size_t p = 0; p < 784; ++p) {
        const bool bright =
            static_cast<int>(p / 28 / 5) * 5 + static_cast<int>(p % 28 / 6) == label * 2 + 3;
        image[p] = static_cast<char>(bright ? 220 : random.below(40));
      }
      images += image;
      labels += static_cast<char>(label);
    }
    const std::string stem = (folder / name).string();
    std::ofstream(stem + "-images-idx3-ubyte", std::ios::binary) << images;
    std::ofstream(stem + "-labels-idx1-ubyte", std::ios::binary) << labels;
  }
}

}  // namespace goban::train::trainer
