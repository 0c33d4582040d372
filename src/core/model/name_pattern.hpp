// Patterns for the names of numbered nodes: "g{:04}" with number 7 is "g0007".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace goban::core::model {

/// A text with at most one placeholder for a number; `{{` and `}}` denote braces.
class NamePattern {
 public:
  /// nullopt if braces do not match or there are several placeholders.
  [[nodiscard]] static std::optional<NamePattern> parse(std::string_view pattern);
  /// Replaces the last run of digits in `name` by a placeholder and sets `number` to its value. No
  /// placeholder if there are no digits, or too many.
  [[nodiscard]] static NamePattern of_name(std::string_view name, int64_t& number);

  [[nodiscard]] bool has_number() const { return has_number_; }
  [[nodiscard]] std::string name(int64_t number) const;
  /// As in a cluster file; parse() is the inverse.
  [[nodiscard]] std::string text() const;
  friend bool operator==(const NamePattern&, const NamePattern&) = default;

 private:
  static constexpr int kWidthMax = 12;  ///< longer runs of digits are plain text
  std::string before_;
  std::string after_;
  bool has_number_ = false;
  int width_ = 0;  ///< minimum number of digits, with leading zeros
};

}  // namespace goban::core::model
