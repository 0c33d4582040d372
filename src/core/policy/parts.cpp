#include <algorithm>

#include "base/check.hpp"
#include "core/policy/part.hpp"

namespace goban::core::policy {

// Every part, by the name of the row that its file exports, in display order. The first of a kind
// is its standard part.
// clang-format off
#define GOBAN_POLICY_PARTS(ROW) \
  ROW(kFifo) ROW(kLas) ROW(kLasLevels) ROW(kSrtf) ROW(kFairShare) ROW(kMultifactor) ROW(kExpansion) \
  ROW(kFairExpansion) ROW(kPriority) \
  ROW(kPrefix) ROW(kSkip) ROW(kEasyBackfill) ROW(kConservativeBackfill) ROW(kPromiseBackfill) \
  ROW(kNonPreemptive) ROW(kSticky) ROW(kPriced) ROW(kNonSticky) ROW(kByPriority) \
  ROW(kPacked) ROW(kConsolidated) ROW(kSpread) ROW(kRandom) ROW(kAny) ROW(kPmFirst) ROW(kPal) \
  ROW(kPalPaper) ROW(kPalTight) \
  ROW(kExclusive) ROW(kShareBestPair) ROW(kShareRandomPair) ROW(kEacoPaper) ROW(kEacoPaperSimilar) \
  ROW(kEacoPaperComplementary) ROW(kEaco) ROW(kEacoSimilar) ROW(kEacoComplementary) \
  ROW(kShareWorth) \
  ROW(kAlwaysOn) ROW(kSleep) \
  ROW(kStay) ROW(kConsolidate) \
  ROW(kFixed) ROW(kEdf) ROW(kMaxMarginal)
// clang-format on

// NOLINTBEGIN(bugprone-macro-parentheses): a declared name takes none
#define GOBAN_DECLARE(row) extern const Part row;
GOBAN_POLICY_PARTS(GOBAN_DECLARE)
// NOLINTEND(bugprone-macro-parentheses)

namespace {

#define GOBAN_ADDRESS(row) &(row),
constexpr std::array kParts = {GOBAN_POLICY_PARTS(GOBAN_ADDRESS)};

}  // namespace

std::span<const Part* const> parts() { return kParts; }

const Part* find_part(std::string_view name) {
  const auto found = std::ranges::find(kParts, name, &Part::name);
  return found == kParts.end() ? nullptr : *found;
}

const Part& standard_part(PartKind kind) {
  const auto found = std::ranges::find(kParts, kind, &Part::kind);
  GOBAN_CHECK(found != kParts.end());
  return **found;
}

std::string part_names(PartKind kind) {
  std::string out;
  for (const Part* part : kParts) {
    if (part->kind != kind) continue;
    out += out.empty() ? "" : ", ";
    out += part->name;
  }
  return out;
}

}  // namespace goban::core::policy
