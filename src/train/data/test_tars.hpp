// Tars with other headers than our writer's.
#pragma once

#include <fmt/format.h>
#include <string>

namespace goban::train::data {

/// A member whose header says `text` at `at`.
inline std::string with_field(std::string member, size_t at, const std::string& text) {
  constexpr size_t kSum = 148, kSumSize = 8;
  member.replace(at, text.size(), text);
  member.replace(kSum, kSumSize, kSumSize, ' ');
  unsigned sum = 0;
  for (size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(member[i]);
  return member.replace(kSum, kSumSize - 1, fmt::format("{:06o}", sum) + std::string(1, '\0'));
}

}  // namespace goban::train::data
