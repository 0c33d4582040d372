// What every consumer of records asks of them: can it be, and is it over?
#pragma once

#include <string>

#include "site/records/accounting_record.hpp"

namespace goban::site::records {

/// Why the record cannot be: no id, an end before its start, numbers out of range; empty = it can.
[[nodiscard]] std::string problem_of(const AccountingRecord& record);

/// The run will not change any more, as far as its record says: it ended, was requeued, or the
/// source gives its run time.
[[nodiscard]] bool is_over(const AccountingRecord& record);

}  // namespace goban::site::records
