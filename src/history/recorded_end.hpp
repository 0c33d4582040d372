// The words that accounting systems use for how a job ended.
#pragma once

#include <optional>
#include <string_view>

#include "model/job.hpp"

namespace goban::history {

/// The words of Slurm, in the order of RecordedEnd, for messages.
inline constexpr std::string_view kRecordedEndNames =
    "COMPLETED, FAILED, CANCELLED, TIMEOUT, NODE_FAIL";

/// Reads the words of Slurm and Helios (COMPLETED, CANCELLED by 123, OUT_OF_MEMORY, ...), of Philly
/// (Pass, Killed, Failed) in any case. None if the word is not known.
[[nodiscard]] std::optional<model::RecordedEnd> parse_recorded_end(std::string_view word);

}  // namespace goban::history
