#include "site/records/job_state.hpp"

#include <algorithm>
#include <array>

namespace goban::site::records {
namespace {

using core::model::RecordedEnd;

struct Word {
  std::string_view text;  ///< upper case
  JobState state;
};

/// The first word listed for a state is its name.
constexpr std::array kWords = {
    Word{"UNKNOWN", JobState::Unknown},
    Word{"PENDING", JobState::Pending},
    Word{"RUNNING", JobState::Running},
    Word{"SUSPENDED", JobState::Suspended},
    Word{"REQUEUED", JobState::Requeued},
    Word{"COMPLETED", JobState::Completed},
    Word{"FAILED", JobState::Failed},
    Word{"CANCELLED", JobState::Cancelled},
    Word{"TIMEOUT", JobState::TimedOut},
    Word{"NODE_FAIL", JobState::NodeFailed},
    Word{"OUT_OF_MEMORY", JobState::OutOfMemory},
    Word{"PREEMPTED", JobState::Preempted},
    Word{"BOOT_FAIL", JobState::BootFailed},
    Word{"DEADLINE", JobState::DeadlineMissed},
    Word{"PASS", JobState::Completed},
    Word{"SUCCEEDED", JobState::Completed},
    Word{"TERMINATED", JobState::Completed},  // Alibaba PAI
    Word{"KILLED", JobState::Cancelled},
    Word{"REVOKED", JobState::Cancelled},
    Word{"CONFIGURING", JobState::Running},
    Word{"COMPLETING", JobState::Running},
    Word{"RESIZING", JobState::Running},
    Word{"STAGE_OUT", JobState::Running},
    Word{"STOPPED", JobState::Suspended},
    Word{"REQUEUE_HOLD", JobState::Requeued},
    Word{"SPECIAL_EXIT", JobState::Requeued},
    Word{"WAITING", JobState::Pending},
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

std::optional<JobState> parse_job_state(std::string_view word) {
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

std::string_view job_state_name(JobState state) {
  return std::ranges::find(kWords, state, &Word::state)->text;
}

std::string_view job_kind_name(JobKind kind) {
  constexpr std::array<std::string_view, 3> kNames = {"unknown", "batch", "interactive"};
  return kNames[static_cast<size_t>(kind)];
}

RecordedEnd recorded_end(JobState state) {
  switch (state) {
    case JobState::Completed:
      return RecordedEnd::Completed;
    case JobState::Failed:
    case JobState::OutOfMemory:
      return RecordedEnd::Failed;
    case JobState::Cancelled:
    case JobState::Preempted:
      return RecordedEnd::Cancelled;
    case JobState::TimedOut:
    case JobState::DeadlineMissed:
      return RecordedEnd::TimedOut;
    case JobState::NodeFailed:
    case JobState::BootFailed:
      return RecordedEnd::NodeFailed;
    case JobState::Unknown:
    case JobState::Pending:
    case JobState::Running:
    case JobState::Suspended:
    case JobState::Requeued:
      return RecordedEnd::Unknown;
  }
  return RecordedEnd::Unknown;
}

}  // namespace goban::site::records
