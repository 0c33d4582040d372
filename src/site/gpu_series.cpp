#include "site/gpu_series.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/date_time.hpp"
#include "base/time.hpp"

namespace goban::site {
namespace {

using analysis::Population;
using analysis::ReportData;

/// Adds everything that is missing in the data to the remarks of the report.
void add_remarks(const telemetry::GpuSourceReport& said, ReportData& report) {
  constexpr size_t kGapsNamed = 20;
  const auto warn = [&report](std::string text) {
    report.remarks.push_back({true, std::move(text)});
  };
  for (const std::string& warning : said.warnings) warn(warning);
  for (const std::string& reject : said.rejects) warn("rejected: " + reject);
  for (size_t i = 0; i < std::min(said.gaps.size(), kGapsNamed); ++i) {
    const telemetry::Gap& gap = said.gaps[i];
    warn(fmt::format("no data for {} of {} nodes starting with {}, {} to {}: {}", gap.metric,
                     gap.nodes, gap.first_node,
                     base::date_time_text(gap.from_ms * base::kMillisecond),
                     base::date_time_text(gap.to_ms * base::kMillisecond), gap.reason));
  }
  if (said.gaps.size() > kGapsNamed) {
    warn(fmt::format("{} more gaps in the responses of servers", said.gaps.size() - kGapsNamed));
  }
}

base::Status open_reader(const telemetry::GpuSources& sources, series::Metric metric,
                         std::optional<series::StoreReader>& reader, ReportData& report) {
  auto opened = sources.reader(metric);
  if (!opened) return base::failure(opened.error());
  if (opened->tracks().empty()) return {};
  for (const series::StoreDamage& damage : opened->damage()) {
    report.remarks.push_back(
        {true, fmt::format("{}: {} bytes are damaged and were skipped", damage.file,
                           damage.torn_bytes + damage.damaged_bytes)});
  }
  reader.emplace(std::move(*opened));
  return {};
}

}  // namespace

std::optional<AskedTime> time_of_jobs(const Population& population, uint32_t step_ms) {
  int64_t first_ns = INT64_MAX;
  int64_t last_ns = 0;
  for (const analysis::Job& job : population.jobs) {
    const records::RecordRow& row = population.row(job);
    if (row.start_ns < 0 || row.end_ns < 0) continue;
    first_ns = std::min(first_ns, row.start_ns);
    last_ns = std::max(last_ns, row.end_ns);
  }
  if (first_ns > last_ns) return std::nullopt;
  return AskedTime{first_ns / base::kMillisecond - step_ms,
                   last_ns / base::kMillisecond + 2 * int64_t{step_ms}};
}

base::Result<GpuSeries> open_gpu_series(const std::vector<std::string>& sources,
                                        const Population& population, ReportData& report,
                                        base::Progress& progress) {
  telemetry::GpuSourceOptions options;
  if (const auto time = time_of_jobs(population, options.step_ms)) {
    options.from_ms = time->from_ms;
    options.to_ms = time->to_ms;
  }
  options.interrupted = progress.cancel();
  GpuSeries out;
  {
    const base::Phase opening(progress, "GPU series");
    options.on_progress = [&progress](int64_t done, int64_t total) {
      progress.update(done, total);
    };
    auto opened = telemetry::GpuSources::open(sources, options);
    if (!opened) return base::failure(opened.error());
    out.sources.emplace(std::move(*opened));
  }
  if (progress.is_cancelled()) return base::failed("interrupted");
  add_remarks(out.sources->report(), report);
  using Wanted = std::pair<series::Metric, std::optional<series::StoreReader>*>;
  for (const auto& [metric, reader] : {Wanted{series::Metric::GpuUtilization, &out.utilization},
                                       Wanted{series::Metric::GpuEngineActive, &out.engine_active},
                                       Wanted{series::Metric::GpuMemoryUsed, &out.memory},
                                       Wanted{series::Metric::GpuSmActive, &out.sm_active},
                                       Wanted{series::Metric::GpuTensorActive, &out.tensor_active},
                                       Wanted{series::Metric::GpuProcesses, &out.processes}}) {
    if (auto status = open_reader(*out.sources, metric, *reader, report); !status) {
      return base::failure(status.error());
    }
  }
  if (!out.utilization && !out.engine_active) {
    return base::bad_data({sources.front(), 0, 0, ""},
                          "has no GPU utilisation for the time of the jobs",
                          "check the store with goban series info; node names and times must match "
                          "those of the jobs");
  }
  return out;
}

}  // namespace goban::site
