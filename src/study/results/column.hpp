// Columns: long arrays of a report document, compact and fast to decode in a browser.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goban::study::results {

/// A column is the JSON object {"type", "count", "delta", "data"}. `data` is base64 of gzip of the
/// values, grouped by byte: the least significant bytes of all values, then all second bytes, and
/// so on. Similar bytes are adjacent and compress better. With "delta": true each value is the
/// difference to the previous one (the first to 0). docs/report.md describes the format.

/// Integers from 0 to 2^32 - 1 in the narrowest of "u8", "u16" and "u32".
[[nodiscard]] std::string whole_column(std::span<const uint32_t> values);
/// The same for values that never decrease, delta-coded.
[[nodiscard]] std::string rising_column(std::span<const uint32_t> values);
/// "f32": numbers to about 7 digits.
[[nodiscard]] std::string float_column(std::span<const float> values);

/// Strings: {"type": "text", "count", "lengths": a column of bytes, "data"}.
class TextColumn {
 public:
  void add(std::string_view text);
  [[nodiscard]] std::string json() const;

 private:
  std::string text_;
  std::vector<uint32_t> lengths_;
};

}  // namespace goban::study::results
