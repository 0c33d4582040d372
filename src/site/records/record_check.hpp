// Checks that every consumer of records applies: is the record plausible, and is its run finished?
#pragma once

#include <string>
#include <string_view>

#include "site/records/accounting_record.hpp"

namespace goban::site::records {

/// Why the record is invalid: no id, an end before its start, numbers out of range; empty = valid.
[[nodiscard]] std::string problem_of(const AccountingRecord& record);

/// The part of problem_of() that concerns the work, and the order of submission, start and end.
[[nodiscard]] std::string problem_of_times(const AccountingRecord& record);

/// Why a second job with this id is refused.
[[nodiscard]] std::string used_before(std::string_view id);

/// True if the run is finished according to its record: it ended, was requeued, or the source gives
/// its run time.
[[nodiscard]] bool is_over(const AccountingRecord& record);

}  // namespace goban::site::records
