// Protocol of `tty.sock`, in both directions: frames of a type, a length and the content.
//   byte 0     type: 'd' data of the terminal, 'w' window size, 'x' the job has ended,
//              'l' the client detaches on purpose: the job continues without a client
//   byte 1, 2  length of the content in bytes, big endian
//   'w': rows and columns, two bytes each, big endian; 'x': exit code as decimal text
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace goban::live::terminal {

enum class FrameType : char { Data = 'd', Window = 'w', Exit = 'x', Leave = 'l' };

struct WindowSize {
  uint16_t rows = 24;
  uint16_t columns = 80;
  friend bool operator==(const WindowSize&, const WindowSize&) = default;
};

/// Appends the text as frames: several if it is long, none if it is empty.
inline void append_frames(std::string& out, FrameType type, std::string_view text) {
  constexpr size_t kPartMax = 65535;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, kPartMax);
    out += static_cast<char>(type);
    out += static_cast<char>(part.size() >> 8);
    out += static_cast<char>(part.size() & 255);
    out += part;
    text.remove_prefix(part.size());
  }
}

[[nodiscard]] inline std::string window_frame(WindowSize size) {
  std::string text;
  for (const uint16_t value : {size.rows, size.columns}) {
    text += static_cast<char>(value >> 8);
    text += static_cast<char>(value & 255);
  }
  std::string out;
  append_frames(out, FrameType::Window, text);
  return out;
}

[[nodiscard]] inline WindowSize window_of(std::string_view text) {
  const auto value = [&](size_t at) {
    return static_cast<uint16_t>((static_cast<uint8_t>(text[at]) << 8) |
                                 static_cast<uint8_t>(text[at + 1]));
  };
  return text.size() == 4 ? WindowSize{value(0), value(2)} : WindowSize{};
}

/// Collects bytes until frames are complete.
class FrameReader {
 public:
  void feed(std::string_view bytes) { bytes_ += bytes; }
  /// Takes the next complete frame; false if there is none yet.
  [[nodiscard]] bool next(FrameType& type, std::string& text) {
    constexpr size_t kHead = 3;
    if (bytes_.size() < kHead) return false;
    const size_t length =
        static_cast<size_t>(static_cast<uint8_t>(bytes_[1])) << 8 | static_cast<uint8_t>(bytes_[2]);
    if (bytes_.size() < kHead + length) return false;
    type = static_cast<FrameType>(bytes_[0]);
    text = bytes_.substr(kHead, length);
    bytes_.erase(0, kHead + length);
    return true;
  }

 private:
  std::string bytes_;
};

}  // namespace goban::live::terminal
