#include "study/results/column.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

#include "base/check.hpp"
#include "base/gzip.hpp"

namespace goban::study::results {

namespace {

std::string planes(std::span<const uint32_t> values, size_t width) {
  std::string bytes;
  bytes.reserve(values.size() * width);
  for (size_t plane = 0; plane < width; ++plane) {
    for (const uint32_t value : values) bytes += static_cast<char>(value >> (8 * plane) & 0xFFU);
  }
  return bytes;
}

std::string column(std::string_view type, std::span<const uint32_t> values, size_t width,
                   bool delta) {
  return fmt::format(R"({{"type": "{}", "count": {}, "delta": {}, "data": "{}"}})", type,
                     values.size(), delta, base::base64(base::gzip(planes(values, width))));
}

std::string narrowest(std::span<const uint32_t> values, bool delta) {
  const uint32_t most = values.empty() ? 0 : *std::ranges::max_element(values);
  if (most <= UINT8_MAX) return column("u8", values, 1, delta);
  if (most <= UINT16_MAX) return column("u16", values, 2, delta);
  return column("u32", values, 4, delta);
}

}  // namespace

std::string whole_column(std::span<const uint32_t> values) { return narrowest(values, false); }

std::string rising_column(std::span<const uint32_t> values) {
  std::vector<uint32_t> deltas;
  deltas.reserve(values.size());
  uint32_t before = 0;
  for (const uint32_t value : values) {
    GOBAN_CHECK(value >= before);
    deltas.push_back(value - before);
    before = value;
  }
  return narrowest(deltas, true);
}

std::string float_column(std::span<const float> values) {
  std::vector<uint32_t> bits;
  bits.reserve(values.size());
  for (const float value : values) bits.push_back(std::bit_cast<uint32_t>(value));
  return column("f32", bits, 4, false);
}

void TextColumn::add(std::string_view text) {
  text_ += text;
  lengths_.push_back(static_cast<uint32_t>(text.size()));
}

std::string TextColumn::json() const {
  return fmt::format(R"({{"type": "text", "count": {}, "lengths": {}, "data": "{}"}})",
                     lengths_.size(), whole_column(lengths_), base::base64(base::gzip(text_)));
}

}  // namespace goban::study::results
