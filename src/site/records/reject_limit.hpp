// The share of records that may be rejected before a command fails (option --max-rejects).
#pragma once

#include <string>

#include "base/result.hpp"
#include "site/records/record_reader.hpp"

namespace goban::site::records {

inline constexpr double kMaxRejectsPct = 1;

/// Errors: BadData if more than `max_pct` percent of the records of `name` were rejected.
[[nodiscard]] base::Status check_rejects(const ReadSummary& read, const std::string& name,
                                         double max_pct);

}  // namespace goban::site::records
