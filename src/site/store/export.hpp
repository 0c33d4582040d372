// What leaves a store: jobs as files that every reader takes, and sums of days, with pseudonyms for
// names unless they are to be plain. What `goban history export` and `goban history sums` do.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "site/store/job_store.hpp"
#include "site/store/pseudonyms.hpp"

namespace goban::site::store {

/// How names appear.
struct NameOptions {
  bool plain = false;
  std::string salt_file{};  ///< key of the pseudonyms; empty: the store's own
};

/// Pseudonyms with the key of a file, or the store's own; none if names are to be plain. Errors:
/// Failed; Usage if the key is too short.
[[nodiscard]] base::Result<std::optional<Pseudonyms>> open_pseudonyms(JobStore& jobs,
                                                                      const NameOptions& options);

enum class ExportFormat : uint8_t {
  Records,  ///< CSV that records_csv.cpp reads: nothing is lost
  Swf,      ///< Standard Workload Format, with columns of GPUs
};

struct ExportSummary {
  int64_t written = 0;
  int64_t left_out = 0;  ///< SWF needs a run time and a size
};

/// Takes text in pieces.
using TextSink = std::function<void(std::string_view piece)>;

/// Gives the selected jobs to `sink`. Errors: those of JobStore::read().
[[nodiscard]] base::Result<ExportSummary> export_jobs(JobStore& jobs, const Selection& selection,
                                                      ExportFormat format,
                                                      std::optional<Pseudonyms> names,
                                                      const TextSink& sink);

/// Gives the sums of days as CSV to `sink`. Errors: those of JobStore::daily_sums().
[[nodiscard]] base::Status export_sums(JobStore& jobs, std::optional<Pseudonyms> names,
                                       const TextSink& sink);

}  // namespace goban::site::store
