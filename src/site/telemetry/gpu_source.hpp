// The arguments of `--gpu SOURCE...`: series stores, files of metrics, Prometheus servers; as one
// store.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "site/series/input/import_file.hpp"
#include "site/series/store_reader.hpp"
#include "site/series/store_writer.hpp"
#include "site/telemetry/prometheus.hpp"

namespace goban::site::telemetry {

struct GpuSourceOptions {
  series::SeriesImportOptions
      import{};  ///< for files; its adapters and metrics also apply to servers
  /// The period to query from servers, which require one, and to take from files: [from_ms, to_ms).
  int64_t from_ms = INT64_MIN;
  int64_t to_ms = INT64_MAX;
  std::string matchers{};  ///< for servers
  HttpOptions http{};
  uint32_t step_ms = 60'000;
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(int64_t, int64_t)> on_progress{};
};

/// Report on reading the sources, shown with the results.
struct GpuSourceReport {
  series::InputCounts
      input;  ///< of files and servers; samples of stores were counted when imported
  series::WriteCounts written;        ///< into the temporary store
  std::vector<std::string> warnings;  ///< of servers
  std::vector<Gap> gaps;              ///< of servers
  std::vector<std::string> rejects;   ///< the first 20, "file:line: reason"
};

/// Opened sources: stores are used in place, all others are imported into a temporary store that is
/// removed with this object.
class GpuSources {
 public:
  /// A source is a folder (a store), an address (http:// or https://), a file, or "-". Errors:
  /// Usage (no such source, a server without a period), Failed, BadData.
  [[nodiscard]] static base::Result<GpuSources> open(std::span<const std::string> sources,
                                                     const GpuSourceOptions& options);
  GpuSources(GpuSources&& other) noexcept;
  GpuSources& operator=(GpuSources&&) = delete;
  ~GpuSources();

  /// All samples of a metric in [from_ms, to_ms], of all sources. If no source has the metric, the
  /// reader is empty. Errors: Failed (I/O), BadData.
  [[nodiscard]] base::Result<series::StoreReader> reader(series::Metric metric,
                                                         int64_t from_ms = INT64_MIN,
                                                         int64_t to_ms = INT64_MAX) const;
  [[nodiscard]] const GpuSourceReport& report() const { return report_; }
  [[nodiscard]] const std::vector<std::string>& stores() const { return stores_; }

 private:
  GpuSources() = default;
  base::Status import(std::span<const std::string> sources, const GpuSourceOptions& options);

  std::vector<std::string> stores_;
  std::string temporary_;  ///< folder; empty if not used
  GpuSourceReport report_;
};

}  // namespace goban::site::telemetry
