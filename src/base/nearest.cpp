#include "base/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace goban::base {
namespace {

/// Levenshtein's distance, one row at a time.
size_t num_edits(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < from.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < to.size(); ++j) {
      const size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known) {
  constexpr size_t kNameBytesMax = 64;
  if (name.size() > kNameBytesMax) return {};
  std::string_view best;
  size_t best_edits = std::max<size_t>(2, name.size() / 2) + 1;
  for (const std::string_view candidate : known) {
    const size_t edits = num_edits(name, candidate);
    if (edits >= best_edits || edits >= candidate.size()) continue;
    best = candidate;
    best_edits = edits;
  }
  return best;
}

}  // namespace goban::base
