// Imports accounting files into a store (`goban history import`).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "site/store/job_store.hpp"

namespace goban::site::store {

/// Files of accounting records, and of hook records (seen.hpp).
struct ImportRequest {
  std::string store;               ///< location; created if it does not exist
  std::vector<std::string> files;  ///< "-" is standard input
  std::vector<std::string> software;
  records::ReadOptions reading;  ///< without rejects and progress
  std::string rejects;  ///< file for rejected records; with several inputs .1, .2, ... are appended
  bool again = false;   ///< as in JobImportOptions
  int fiscal_month = kFiscalMonthDefault;
};

/// Result for one file.
struct ImportedFile {
  std::string file;
  std::string rejects;  ///< file with its rejected records; empty = none
  ImportSummary summary;
};

/// Imports the files one by one and reports each once it is in the store. Errors: those of
/// JobStore::open(), import_file() and import_seen_file(); earlier files stay imported.
[[nodiscard]] base::Status import_files(const ImportRequest& request, base::Progress& progress,
                                        const std::function<void(const ImportedFile&)>& imported);

}  // namespace goban::site::store
