// Strings numbered from zero: an append-only list, and a table of unique names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace goban::base {

/// Append-only list of strings in one buffer: 8 bytes of overhead per string.
class NameList {
 public:
  size_t add(std::string_view name) {
    text_.append(name);
    ends_.push_back(text_.size());
    return ends_.size() - 1;
  }
  /// Reserves memory for `count` names of `bytes` bytes in total.
  void reserve(size_t count, size_t bytes) {
    ends_.reserve(count);
    text_.reserve(bytes);
  }
  [[nodiscard]] std::string_view operator[](size_t index) const {
    const size_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::string_view(text_).substr(begin, ends_[index] - begin);
  }
  [[nodiscard]] size_t size() const { return ends_.size(); }

 private:
  std::string text_;
  std::vector<size_t> ends_;
};

/// Interned names: equal strings get equal numbers, in order of first appearance.
class NameTable {
 public:
  uint32_t intern(std::string_view name) {
    const auto found = numbers_.find(name);
    if (found != numbers_.end()) return found->second;
    const auto number = static_cast<uint32_t>(names_.size());
    numbers_.emplace(names_.emplace_back(name), number);
    return number;
  }
  /// The number of a known name, or `missing`.
  [[nodiscard]] uint32_t find(std::string_view name, uint32_t missing = UINT32_MAX) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? missing : found->second;
  }
  [[nodiscard]] const std::string& operator[](size_t number) const { return names_[number]; }
  [[nodiscard]] size_t size() const { return names_.size(); }

  NameTable() = default;
  NameTable(NameTable&&) = default;
  NameTable& operator=(NameTable&&) = default;
  NameTable(const NameTable& other) { *this = other; }
  NameTable& operator=(const NameTable& other) {
    if (this == &other) return *this;
    names_.clear();
    numbers_.clear();
    for (const std::string& name : other.names_) intern(name);
    return *this;
  }
  ~NameTable() = default;

 private:
  std::deque<std::string> names_;  // stable addresses for the keys below
  std::unordered_map<std::string_view, uint32_t> numbers_;
};

}  // namespace goban::base
