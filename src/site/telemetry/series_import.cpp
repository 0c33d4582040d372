#include "site/telemetry/series_import.hpp"

#include <fmt/format.h>
#include <memory>
#include <utility>

#include "base/output_file.hpp"
#include "base/sheet_field.hpp"

namespace goban::site::telemetry {
namespace {

/// Writes rejected lines as CSV.
class RejectsFile {
 public:
  base::Status open(const std::string& path) {
    auto file = base::OutputFile::create(path);
    if (!file) return base::failure(file.error());
    file_.emplace(std::move(*file));
    file_->buffer() = "file,line,reason,text\n";
    return {};
  }
  void add(const series::Reject& reject) {
    constexpr size_t kTextMax = 4096;
    std::string& out = file_->buffer();
    base::append_sheet_field(out, reject.file);
    out += fmt::format(",{},", reject.line);
    base::append_sheet_field(out, reject.reason);
    out += ',';
    base::append_sheet_field(out, reject.text.substr(0, kTextMax));
    out += '\n';
    file_->write_out();
  }
  base::Status commit() { return file_ ? file_->commit() : base::Status{}; }

 private:
  std::optional<base::OutputFile> file_;
};

/// An import in progress.
class Import {
 public:
  Import(const SeriesImportRequest& request, base::Progress& progress)
      : request_(request), progress_(progress) {}

  base::Result<SeriesImportReport> run() {
    if (const auto done = import(); !done) {
      if (progress_.is_cancelled()) return cancelled();
      if (writer_) (void)writer_->finish();
      return base::failure(done.error());
    }
    if (const auto finished = writer_->finish(); !finished) {
      return base::failure(finished.error());
    }
    if (progress_.is_cancelled()) return cancelled();
    if (const auto kept = rejects_.commit(); !kept) return base::failure(kept.error());
    report_.input = intake_->counts;
    report_.written = writer_->counts();
    return std::move(report_);
  }

 private:
  base::Status import() {
    if (request_.files.empty() && !request_.server) {
      return base::usage_error("nothing to import", "name files, or a server with --prometheus");
    }
    auto writer = series::StoreWriter::open(request_.store, request_.writing);
    if (!writer) return base::failure(writer.error());
    writer_ = std::move(*writer);
    if (!request_.rejects.empty()) {
      if (auto opened = rejects_.open(request_.rejects); !opened) return opened;
    }
    intake_.emplace(*writer_);
    intake_->interrupted = progress_.cancel();
    intake_->from_ms = request_.from_ms.value_or(INT64_MIN);
    intake_->to_ms = request_.to_ms.value_or(INT64_MAX);
    intake_->on_reject = [this](const series::Reject& reject) { take_reject(reject); };
    intake_->on_progress = [this](int64_t done, int64_t total) { progress_.update(done, total); };
    if (auto read = read_files(); !read || !request_.server) return read;
    return read_server();
  }

  base::Status read_files() {
    const size_t count = request_.files.size();
    for (size_t i = 0; i < count && !progress_.is_cancelled(); ++i) {
      const base::Phase importing(
          progress_, count == 1 ? "importing" : fmt::format("importing {} of {}", i + 1, count));
      auto read = series::import_file(request_.files[i], request_.reading, *intake_);
      if (!read) return read;
    }
    return {};
  }

  base::Status read_server() {
    if (!request_.from_ms || !request_.to_ms) {
      return base::usage_error("--prometheus requires a period", "add --from and --to");
    }
    PrometheusOptions server = *request_.server;
    server.adapters = request_.reading.adapters;
    server.adapters.short_node_names = request_.reading.short_node_names;
    server.adapters.default_node = request_.reading.node;
    server.metrics = request_.reading.metrics;
    server.from_ms = *request_.from_ms;
    server.to_ms = *request_.to_ms;
    const base::Phase reading(progress_, "reading Prometheus");
    auto read = read_prometheus(server, *intake_);
    if (!read) return base::failure(read.error());
    report_.server = std::move(*read);
    return {};
  }

  void take_reject(const series::Reject& reject) {
    constexpr size_t kExamples = 3;
    if (!request_.rejects.empty()) rejects_.add(reject);
    std::vector<std::string>& examples = report_.reject_examples;
    if (examples.size() < kExamples) {
      examples.push_back(fmt::format("{}:{}: {}", reject.file, reject.line, reject.reason));
    }
  }

  SeriesImportReport cancelled() {
    report_.was_cancelled = true;
    if (writer_) report_.written = writer_->counts();
    return std::move(report_);
  }

  const SeriesImportRequest& request_;
  base::Progress& progress_;
  std::unique_ptr<series::StoreWriter> writer_;
  std::optional<series::Intake> intake_;
  RejectsFile rejects_;
  SeriesImportReport report_;
};

}  // namespace

base::Result<SeriesImportReport> import_series(const SeriesImportRequest& request,
                                               base::Progress& progress) {
  return Import(request, progress).run();
}

}  // namespace goban::site::telemetry
