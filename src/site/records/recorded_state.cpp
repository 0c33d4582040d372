#include "site/records/recorded_state.hpp"

#include <algorithm>
#include <array>

namespace goban::site::records {
namespace {

using core::model::RecordedEnd;

struct Word {
  std::string_view text;  ///< upper case
  RecordedState state;
};

/// The first word listed for a state is its name.
constexpr std::array kWords = {
    Word{"UNKNOWN", RecordedState::Unknown},
    Word{"PENDING", RecordedState::Pending},
    Word{"RUNNING", RecordedState::Running},
    Word{"SUSPENDED", RecordedState::Suspended},
    Word{"REQUEUED", RecordedState::Requeued},
    Word{"COMPLETED", RecordedState::Completed},
    Word{"FAILED", RecordedState::Failed},
    Word{"CANCELLED", RecordedState::Cancelled},
    Word{"TIMEOUT", RecordedState::TimedOut},
    Word{"NODE_FAIL", RecordedState::NodeFailed},
    Word{"OUT_OF_MEMORY", RecordedState::OutOfMemory},
    Word{"PREEMPTED", RecordedState::Preempted},
    Word{"BOOT_FAIL", RecordedState::BootFailed},
    Word{"DEADLINE", RecordedState::DeadlineMissed},
    Word{"PASS", RecordedState::Completed},
    Word{"SUCCEEDED", RecordedState::Completed},
    Word{"TERMINATED", RecordedState::Completed},  // Alibaba PAI
    Word{"KILLED", RecordedState::Cancelled},
    Word{"REVOKED", RecordedState::Cancelled},
    Word{"CONFIGURING", RecordedState::Running},
    Word{"COMPLETING", RecordedState::Running},
    Word{"RESIZING", RecordedState::Running},
    Word{"STAGE_OUT", RecordedState::Running},
    Word{"STOPPED", RecordedState::Suspended},
    Word{"REQUEUE_HOLD", RecordedState::Requeued},
    Word{"SPECIAL_EXIT", RecordedState::Requeued},
    Word{"WAITING", RecordedState::Pending},
    Word{"LAUNCH_FAILED", RecordedState::BootFailed},
    Word{"RECONFIG_FAIL", RecordedState::BootFailed},
    Word{"EXPEDITING", RecordedState::Requeued},
    Word{"RESV_DEL_HOLD", RecordedState::Pending},
    Word{"POWER_UP_NODE", RecordedState::Running},
    Word{"SIGNALING", RecordedState::Running},
};

/// Minimum length of a truncated name; sacct's narrow columns end in '+'.
constexpr size_t kCutLengthMin = 4;

bool same_letters(std::string_view upper, std::string_view word) {
  return upper.size() == word.size() &&
         std::equal(upper.begin(), upper.end(), word.begin(), [](char u, char c) {
           return u == (c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
         });
}

}  // namespace

std::optional<RecordedState> parse_job_state(std::string_view word) {
  word = word.substr(0, word.find(' '));
  const bool is_cut = word.ends_with('+');
  if (is_cut) word.remove_suffix(1);
  for (const Word& each : kWords) {
    if (same_letters(each.text, word)) return each.state;
    const bool may_be_cut = is_cut && word.size() >= kCutLengthMin;
    if (may_be_cut && same_letters(each.text.substr(0, word.size()), word)) return each.state;
  }
  return std::nullopt;
}

std::string_view job_state_name(RecordedState state) {
  return std::ranges::find(kWords, state, &Word::state)->text;
}

std::string_view job_kind_name(JobKind kind) {
  constexpr std::array<std::string_view, 3> kNames = {"unknown", "batch", "interactive"};
  return kNames[static_cast<size_t>(kind)];
}

RecordedEnd recorded_end(RecordedState state) {
  switch (state) {
    case RecordedState::Completed:
      return RecordedEnd::Completed;
    case RecordedState::Failed:
    case RecordedState::OutOfMemory:
      return RecordedEnd::Failed;
    case RecordedState::Cancelled:
    case RecordedState::Preempted:
      return RecordedEnd::Cancelled;
    case RecordedState::TimedOut:
    case RecordedState::DeadlineMissed:
      return RecordedEnd::TimedOut;
    case RecordedState::NodeFailed:
    case RecordedState::BootFailed:
      return RecordedEnd::NodeFailed;
    case RecordedState::Unknown:
    case RecordedState::Pending:
    case RecordedState::Running:
    case RecordedState::Suspended:
    case RecordedState::Requeued:
      return RecordedEnd::Unknown;
  }
  return RecordedEnd::Unknown;
}

}  // namespace goban::site::records
