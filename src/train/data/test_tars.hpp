// Tars with other headers than our writer's.
#pragma once

#include <fmt/format.h>
#include <string>
#include <vector>

#include "train/data/tar_writer.hpp"

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

/// A sparse member in GNU's format: pairs of where a piece is and its size, and the size of the
/// whole. `bytes`: its pieces.
inline std::string sparse_member(const std::string& name, const std::string& bytes,
                                 const std::vector<int64_t>& pieces, int64_t size) {
  constexpr size_t kMagic = 257, kType = 156, kPieces = 386, kNumber = 12, kRealSize = 483;
  const auto number = [](int64_t value) {
    return fmt::format("{:011o}", value) + std::string(1, '\0');
  };
  std::string member = tar_member(name, bytes);
  member.replace(kMagic, 8, std::string("ustar  \0", 8));
  for (size_t i = 0; i < pieces.size(); ++i) {
    member.replace(kPieces + i * kNumber, kNumber, number(pieces[i]));
  }
  return with_field(with_field(member, kType, "S"), kRealSize, number(size));
}

}  // namespace goban::train::data
