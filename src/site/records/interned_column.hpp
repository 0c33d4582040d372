// Names of a column: each distinct one is stored once; runs of equal names cost one comparison.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/name_table.hpp"

namespace goban::site::records {

/// Numbers of names in order of first appearance; the empty name is kNoName and takes no number.
class InternedColumn {
 public:
  static constexpr uint32_t kNoName = UINT32_MAX;

  uint32_t intern(std::string_view name) {
    if (name.empty()) return kNoName;
    if (last_ != kNoName && names_[last_] == name) return last_;
    last_ = names_.intern(name);
    return last_;
  }
  [[nodiscard]] uint32_t find(std::string_view name) const { return names_.find(name, kNoName); }
  /// The name; empty for kNoName.
  [[nodiscard]] std::string_view operator[](uint32_t number) const {
    return number == kNoName ? std::string_view() : std::string_view(names_[number]);
  }
  [[nodiscard]] size_t size() const { return names_.size(); }

 private:
  base::NameTable names_;
  uint32_t last_ = kNoName;
};

}  // namespace goban::site::records
