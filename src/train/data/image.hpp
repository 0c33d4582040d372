// Decodes JPEG (libjpeg-turbo), PNG (libpng) and binary PGM images to grey pixels, and writes PGM.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::train::data {

struct GreyImage {
  int64_t width = 0, height = 0;
  std::vector<uint8_t> pixels;  ///< rows from the top
};

/// Names of fields that hold images.
[[nodiscard]] bool is_image_field(std::string_view field);

/// Colours become grey (luminance). The format is detected from the first bytes. Errors: BadData
/// without a place: an unknown format, damaged or truncated data, more than 2^28 pixels.
[[nodiscard]] base::Result<GreyImage> decode_grey(std::string_view bytes);

/// A binary PGM (P5, maximum 255).
[[nodiscard]] std::string to_pgm(int64_t width, int64_t height, std::string_view pixels);

}  // namespace goban::train::data
