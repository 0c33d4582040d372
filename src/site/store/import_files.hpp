// Accounting files into a store. What `goban history import` does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "site/store/job_store.hpp"

namespace goban::site::store {

/// Files of accounting records, and of what hooks saw of jobs (seen.hpp).
struct ImportRequest {
  std::string store;               ///< location; made if it is not there
  std::vector<std::string> files;  ///< "-" is standard input
  std::vector<std::string> software;
  records::ReadOptions reading;  ///< without rejects and progress
  std::string rejects;           ///< refused records; of several files: with .1, .2, ... behind
  bool again = false;            ///< as in ImportOptions
  int fiscal_month = kFiscalMonthDefault;
};

/// What came of one file.
struct ImportedFile {
  std::string file;
  std::string rejects;  ///< where its refused records are; or empty
  ImportSummary summary;
};

/// Imports one file after the other and tells of each once it is in the store. Errors: those of
/// JobStore::open(), import_file() and import_seen_file(); files before stay imported.
[[nodiscard]] base::Status import_files(const ImportRequest& request, base::Progress& progress,
                                        const std::function<void(const ImportedFile&)>& imported);

}  // namespace goban::site::store
