#include "history/recorded_end.hpp"

#include <algorithm>
#include <array>
#include <boost/algorithm/string/predicate.hpp>

namespace goban::history {
namespace {

using model::RecordedEnd;

struct Word {
  std::string_view text;
  RecordedEnd end;
};

constexpr std::array kWords = {
    Word{"COMPLETED", RecordedEnd::Completed},  Word{"Pass", RecordedEnd::Completed},
    Word{"FAILED", RecordedEnd::Failed},        Word{"OUT_OF_MEMORY", RecordedEnd::Failed},
    Word{"CANCELLED", RecordedEnd::Cancelled},  Word{"Killed", RecordedEnd::Cancelled},
    Word{"PREEMPTED", RecordedEnd::Cancelled},  Word{"TIMEOUT", RecordedEnd::TimedOut},
    Word{"DEADLINE", RecordedEnd::TimedOut},    Word{"NODE_FAIL", RecordedEnd::NodeFailed},
    Word{"BOOT_FAIL", RecordedEnd::NodeFailed},
};

}  // namespace

std::optional<RecordedEnd> parse_recorded_end(std::string_view word) {
  const std::string_view first = word.substr(0, word.find(' '));
  const auto found = std::ranges::find_if(
      kWords, [&](const Word& each) { return boost::algorithm::iequals(each.text, first); });
  if (found == kWords.end()) return std::nullopt;
  return found->end;
}

}  // namespace goban::history
