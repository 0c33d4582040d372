// For parametrised tests: names from the texts that they are run with.
#pragma once

#include <string>
#include <string_view>

namespace goban::base {

/// The letters and digits of a text, with one underscore for what lies between them:
///     test_name("#SBATCH -t 1:30:00") == "SBATCH_t_1_30_00"
/// "Empty" if it has none. Without it GTest numbers the tests, and prints the bytes of a parameter,
/// which contain addresses.
[[nodiscard]] inline std::string test_name(std::string_view text) {
  constexpr std::string_view kKept =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::string name;
  bool gap = false;
  for (const char c : text) {
    const bool kept = kKept.find(c) != std::string_view::npos;
    if (kept && gap && !name.empty()) name += '_';
    if (kept) name += c;
    gap = !kept;
  }
  return name.empty() ? "Empty" : name;
}

}  // namespace goban::base
