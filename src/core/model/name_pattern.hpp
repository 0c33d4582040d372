// Names of numbered nodes: "g{:04}" with number 7 is "g0007".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace goban::core::model {

/// A text with at most one place for a number; `{{` and `}}` stand for braces.
class NamePattern {
 public:
  /// Nothing if braces do not match, or there are several places for a number.
  [[nodiscard]] static std::optional<NamePattern> parse(std::string_view pattern);
  /// The pattern that makes `name` from the last run of digits in it, and that number; a pattern
  /// without a place if there are none (or too many).
  [[nodiscard]] static NamePattern of_name(std::string_view name, int64_t& number);

  [[nodiscard]] bool has_number() const { return has_number_; }
  [[nodiscard]] std::string name(int64_t number) const;
  /// As a cluster file states it; parse() gives it back.
  [[nodiscard]] std::string text() const;
  friend bool operator==(const NamePattern&, const NamePattern&) = default;

 private:
  static constexpr int kWidthMax = 12;  ///< names with longer numbers are plain text
  std::string before_;
  std::string after_;
  bool has_number_ = false;
  int width_ = 0;  ///< digits at least, with leading zeros
};

}  // namespace goban::core::model
