#include "base/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace goban::base {
namespace {

/// Levenshtein's distance, in which a swap of two neighbours is one edit, too. One row at a time.
size_t num_edits(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  std::vector<size_t> last;
  std::vector<size_t> before_last;
  for (size_t i = 0; i < from.size(); ++i) {
    before_last = std::move(last);
    last = row;
    row[0] = i + 1;
    for (size_t j = 0; j < to.size(); ++j) {
      const size_t replaced = last[j] + (from[i] == to[j] ? 0 : 1);
      row[j + 1] = std::min({replaced, row[j] + 1, last[j + 1] + 1});
      if (i > 0 && j > 0 && from[i] == to[j - 1] && from[i - 1] == to[j]) {
        row[j + 1] = std::min(row[j + 1], before_last[j - 1] + 1);
      }
    }
  }
  return row.back();
}

/// With more edits than these nobody meant the other name: a third of the letters.
size_t edits_max(std::string_view name) {
  constexpr size_t kShort = 5;
  return name.size() < kShort ? 1 : (name.size() + 1) / 3;
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known) {
  constexpr size_t kNameBytesMax = 64;
  if (name.size() > kNameBytesMax) return {};
  std::string_view best;
  size_t best_edits = edits_max(name) + 1;
  for (const std::string_view candidate : known) {
    const size_t edits = num_edits(name, candidate);
    if (edits >= best_edits || edits >= candidate.size()) continue;
    best = candidate;
    best_edits = edits;
  }
  return best;
}

}  // namespace goban::base
