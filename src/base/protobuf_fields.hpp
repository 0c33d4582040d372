// Walks the fields of a protobuf message (protobuf.dev, "Encoding"), without its schema. Messages
// are untrusted: nothing is read beyond their end.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace goban::base {

class ProtobufFields {
 public:
  static constexpr uint32_t kVarint = 0;
  static constexpr uint32_t kFixed64 = 1;
  static constexpr uint32_t kBytes = 2;
  static constexpr uint32_t kFixed32 = 5;

  /// `bytes` outlives this object and the parts.
  explicit ProtobufFields(std::string_view bytes) : rest_(bytes) {}

  struct Part {
    uint64_t number = 0;
    uint32_t wire = 0;         ///< one of the constants above
    uint64_t value = 0;        ///< of a varint
    std::string_view bytes{};  ///< of the others
  };
  [[nodiscard]] bool damaged() const { return damaged_; }
  [[nodiscard]] bool at_end() const { return rest_.empty() || damaged_; }

  /// nullopt at the end, and where the message is damaged. Groups count as damage.
  std::optional<Part> next() {
    if (at_end()) return std::nullopt;
    Part out;
    const uint64_t tag = varint();
    out.number = tag >> 3;
    out.wire = static_cast<uint32_t>(tag & 7);
    switch (out.wire) {
      case kVarint:
        out.value = varint();
        break;
      case kFixed64:
        out.bytes = taken(sizeof(uint64_t));
        break;
      case kBytes:
        out.bytes = taken(varint());
        break;
      case kFixed32:
        out.bytes = taken(sizeof(uint32_t));
        break;
      default:
        damaged_ = true;
    }
    if (damaged_) return std::nullopt;
    return out;
  }

  /// The next varint, for packed lists; 0 where the message is damaged.
  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    damaged_ = true;
    return 0;
  }

 private:
  std::string_view taken(uint64_t size) {
    if (size > rest_.size()) {
      damaged_ = true;
      return {};
    }
    const std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }
  std::string_view rest_;
  bool damaged_ = false;
};

/// The first bytes as a number, little-endian; nullopt if there are fewer.
template <typename T>
[[nodiscard]] std::optional<T> number_in(std::string_view bytes) {
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace goban::base
