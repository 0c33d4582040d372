// The header of format `acme`, which `helios` must leave to it.
#pragma once

#include "site/records/record_format.hpp"

namespace goban::site::records {

/// True for the columns of AcmeTrace.
[[nodiscard]] bool is_acme(const Header& header);

}  // namespace goban::site::records
