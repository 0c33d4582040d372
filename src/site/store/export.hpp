// Output of a store: jobs as files that every reader accepts, and daily sums, with pseudonyms
// unless plain names are requested (`goban history export`, `goban history sums`).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "site/store/job_store.hpp"
#include "site/store/pseudonyms.hpp"

namespace goban::site::store {

/// Whether names are replaced by pseudonyms.
struct NameOptions {
  bool plain = false;
  std::string salt_file{};  ///< key of the pseudonyms; empty: the store's own
};

/// Pseudonyms with the key from a file, or the store's own; none if plain names are requested.
/// Errors: Failed; Usage if the key is too short.
[[nodiscard]] base::Result<std::optional<Pseudonyms>> open_pseudonyms(JobStore& jobs,
                                                                      const NameOptions& options);

enum class ExportFormat : uint8_t {
  Records,  ///< CSV of record_csv.hpp: lossless
  Swf,      ///< Standard Workload Format, with GPU columns
};

struct ExportSummary {
  int64_t written = 0;
  int64_t left_out = 0;  ///< omitted: SWF requires a run time and a size
};

/// Receives text in pieces.
using TextSink = std::function<void(std::string_view piece)>;

/// Writes the selected jobs to `sink`. Errors: those of JobStore::read().
[[nodiscard]] base::Result<ExportSummary> export_jobs(JobStore& jobs, const Selection& selection,
                                                      ExportFormat format,
                                                      std::optional<Pseudonyms> names,
                                                      const TextSink& sink);

/// Writes the daily sums as CSV to `sink`. Errors: those of JobStore::daily_sums().
[[nodiscard]] base::Status export_sums(JobStore& jobs, std::optional<Pseudonyms> names,
                                       const TextSink& sink);

}  // namespace goban::site::store
