// What users are told of data and results that are being copied.
#pragma once

#include <string>

#include "live/controller/job_book.hpp"

namespace goban::live::controller {

/// "it waits for its data: 1.2 of 4.0 GB are copied"; empty if it does not wait
/// for it.
[[nodiscard]] std::string data_words(const LiveJob& job, const JobBook& book);

/// Why a job that depends on no other job waits, in a few words: what its engine says, that the
/// cluster cannot run it, or its data. Empty: nothing of this.
[[nodiscard]] std::string blocked_words(const LiveJob& job);

/// "its results are being copied: ..."; empty if they are not, or no longer.
[[nodiscard]] std::string result_words(const LiveJob& job);

}  // namespace goban::live::controller
