// The texts of a report, by key and language.
#pragma once

#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace goban::site::analysis {

enum class Language : uint8_t { English, Japanese };
[[nodiscard]] std::optional<Language> parse_language(std::string_view name);

/// One text in both languages; Labels::with fills in each `{}`.
struct LabelText {
  std::string_view key;
  std::string_view english;
  std::string_view japanese;
};

/// Looks up texts. An unknown key is its own text (a test rejects that).
class Labels {
 public:
  explicit Labels(Language language) : language_(language) {}

  [[nodiscard]] Language language() const { return language_; }
  [[nodiscard]] std::string operator()(std::string_view key) const;
  /// The text with each `{}` filled in.
  template <typename... Values>
  [[nodiscard]] std::string with(std::string_view key, const Values&... values) const {
    return fmt::format(fmt::runtime((*this)(key)), values...);
  }

 private:
  Language language_;
};

/// All texts, by key.
[[nodiscard]] std::span<const LabelText> label_catalogue();

}  // namespace goban::site::analysis
