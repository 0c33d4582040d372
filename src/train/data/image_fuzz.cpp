// Decodes arbitrary bytes as an image: as many pixels as its size says.
#include "train/data/image.hpp"

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::train::data;
  constexpr int64_t kSlow = 1 << 22;
  const auto image = decode_grey({reinterpret_cast<const char*>(data), size});
  if (!image || image->width * image->height > kSlow) return 0;
  GOBAN_CHECK(image->pixels.size() == static_cast<size_t>(image->width * image->height));
  return 0;
}
