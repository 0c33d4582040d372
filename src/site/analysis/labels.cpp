#include "site/analysis/labels.hpp"

#include <algorithm>
#include <vector>

namespace goban::site::analysis {

std::optional<Language> parse_language(std::string_view name) {
  if (name == "en") return Language::English;
  if (name == "ja") return Language::Japanese;
  return std::nullopt;
}

std::string Labels::operator()(std::string_view key) const {
  static const std::vector<LabelText> sorted = [] {
    std::vector<LabelText> texts(label_catalogue().begin(), label_catalogue().end());
    std::ranges::sort(texts, {}, &LabelText::key);
    return texts;
  }();
  const auto found = std::ranges::lower_bound(sorted, key, {}, &LabelText::key);
  if (found == sorted.end() || found->key != key) return std::string(key);
  return std::string(language_ == Language::Japanese ? found->japanese : found->english);
}

}  // namespace goban::site::analysis
