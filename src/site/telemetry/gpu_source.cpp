#include "site/telemetry/gpu_source.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace goban::site::telemetry {
namespace {

bool is_address(const std::string& source) {
  return source.starts_with("http://") || source.starts_with("https://");
}

base::Status read_server(const std::string& url, const GpuSourceOptions& options,
                         series::Intake& intake, GpuSourceReport& report) {
  if (options.from_ms == INT64_MIN || options.to_ms == INT64_MAX) {
    return base::usage_error(
        fmt::format("{}: a server requires a period", base::http::without_password(url)),
        "set its start and end");
  }
  PrometheusOptions server;
  server.url = url;
  server.matchers = options.matchers;
  server.adapters = options.import.adapters;
  server.adapters.short_node_names = options.import.short_node_names;
  server.metrics = options.import.metrics;
  server.from_ms = options.from_ms;
  server.to_ms = options.to_ms;
  server.http = options.http;
  auto read = read_prometheus(server, intake);
  if (!read) return base::failure(read.error());
  report.warnings.insert(report.warnings.end(), read->warnings.begin(), read->warnings.end());
  report.gaps.insert(report.gaps.end(), read->gaps.begin(), read->gaps.end());
  return {};
}

}  // namespace

GpuSources::GpuSources(GpuSources&& other) noexcept
    : stores_(std::move(other.stores_)),
      temporary_(std::exchange(other.temporary_, {})),
      report_(std::move(other.report_)) {}

GpuSources::~GpuSources() {
  std::error_code ignored;
  if (!temporary_.empty()) std::filesystem::remove_all(temporary_, ignored);
}

base::Result<GpuSources> GpuSources::open(std::span<const std::string> sources,
                                          const GpuSourceOptions& options) {
  GpuSources opened;
  std::vector<std::string> others;
  std::error_code ignored;
  for (const std::string& source : sources) {
    if (!is_address(source) && std::filesystem::is_directory(source, ignored)) {
      opened.stores_.push_back(source);
    } else {
      others.push_back(source);
    }
  }
  if (!others.empty()) {
    if (const auto done = opened.import(others, options); !done) {
      return base::failure(done.error());
    }
  }
  return opened;
}

base::Status GpuSources::import(std::span<const std::string> sources,
                                const GpuSourceOptions& options) {
  std::string folder = (std::filesystem::temp_directory_path() / "goban-gpu-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    return base::failed(fmt::format("cannot create a temporary folder: {}", std::strerror(errno)),
                        "set TMPDIR to a folder with free space");
  }
  temporary_ = folder;
  stores_.push_back(folder);
  const auto writer = series::StoreWriter::open(folder, {options.step_ms, false});
  if (!writer) return base::failure(writer.error());
  series::Intake intake(**writer);
  intake.interrupted = options.interrupted;
  intake.on_progress = options.on_progress;
  intake.from_ms = options.from_ms;
  intake.to_ms = options.to_ms;
  intake.on_reject = [&](const series::Reject& reject) {
    constexpr size_t kExamplesMax = 20;
    if (report_.rejects.size() >= kExamplesMax) return;
    report_.rejects.push_back(fmt::format("{}:{}: {}", reject.file, reject.line, reject.reason));
  };
  for (const std::string& source : sources) {
    auto done = is_address(source) ? read_server(source, options, intake, report_)
                                   : series::import_file(source, options.import, intake);
    if (!done) return done;
    if (intake.stopped()) return base::failed("interrupted");
  }
  const auto finished = (*writer)->finish();
  report_.input = std::move(intake.counts);
  report_.written = (*writer)->counts();
  return finished;
}

base::Result<series::StoreReader> GpuSources::reader(series::Metric metric, int64_t from_ms,
                                                     int64_t to_ms) const {
  return series::StoreReader::open(stores_, metric, from_ms, to_ms);
}

}  // namespace goban::site::telemetry
