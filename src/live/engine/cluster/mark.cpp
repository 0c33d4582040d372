#include "live/engine/cluster/mark.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/number.hpp"

namespace goban::live::engine::cluster {

namespace {

constexpr std::string_view kMark = "goban:";
constexpr std::string_view kOwnNodes = ":nodes";
constexpr std::string_view kOwnIndices = ":indices";

/// A number that ends at `end`, which is removed with it.
bool number(std::string_view& text, char end, uint64_t& out) {
  const size_t length = std::min(text.find(end), text.size());
  const auto value = base::parse_int(text.substr(0, length));
  text.remove_prefix(std::min(length + 1, text.size()));
  out = static_cast<uint64_t>(value.value_or(0));
  return value.has_value() && *value >= 0;
}

/// Removes `word` from the end; false if the text does not end so.
bool take_off(std::string_view& text, std::string_view word) {
  if (!text.ends_with(word)) return false;
  text.remove_suffix(word.size());
  return true;
}

}  // namespace

std::string mark_text(const Mark& mark) {
  return fmt::format("{}{}.{}.{}{}{}", kMark, mark.epoch, mark.run.job.value, mark.run.run,
                     mark.own_nodes ? kOwnNodes : "", mark.own_indices ? kOwnIndices : "");
}

bool parse_mark(std::string_view text, Mark& mark) {
  if (!text.starts_with(kMark)) return false;
  text.remove_prefix(kMark.size());
  const bool own_indices = take_off(text, kOwnIndices);
  const bool own_nodes = take_off(text, kOwnNodes);
  uint64_t job = 0;
  uint64_t run = 0;
  if (!number(text, '.', mark.epoch) || !number(text, '.', job) || !number(text, '\0', run) ||
      job > UINT32_MAX || run > UINT32_MAX) {
    return false;
  }
  mark.run = {JobId{static_cast<uint32_t>(job)}, static_cast<uint32_t>(run)};
  mark.own_nodes = own_nodes;
  mark.own_indices = own_indices;
  return true;
}

}  // namespace goban::live::engine::cluster
