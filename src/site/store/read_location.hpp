// Reads accounting records from a file or a store.
#pragma once

#include <string>

#include "site/records/record_reader.hpp"

namespace goban::site::store {

/// Passes the records of a file, a folder, standard input ("-") or a store to a sink. Errors: those
/// of records::read_records() and JobStore::open().
[[nodiscard]] base::Result<records::ReadSummary> read_location(const std::string& location,
                                                               const records::ReadOptions& options,
                                                               records::RecordSink& sink);

}  // namespace goban::site::store
