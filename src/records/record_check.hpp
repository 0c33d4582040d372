// What no consumer of records takes.
#pragma once

#include <string>

#include "records/accounting_record.hpp"

namespace goban::records {

/// Why the record cannot be: no id, an end before its start, numbers out of range; empty = it can.
[[nodiscard]] std::string problem_of(const AccountingRecord& record);

}  // namespace goban::records
