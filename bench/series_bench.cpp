// A month of GPU series of an ABCI-like cluster: bytes per sample, and the time to compute the
// values of all its jobs, projected to the paper's year (497,730 jobs; 2.29e9 samples).
// Usage: series_bench [DAYS = 30] [NODES = 1088] [FOLDER = a temporary one, removed afterwards]
//
// Every GPU is sampled once a minute, with jitter; one in a thousand samples is missing or stale.
// Nodes (4 GPUs) run one job after another, busy 80 % of the time, with durations like Table 2 of
// the paper (log-normal, median 0.4 h, mean 2.8 h, at least 300 s). 49 % of the jobs hold one GPU,
// the others all four; each GPU of a job follows one of five shapes. This is more than five times
// the number of jobs that the paper evaluates, so more samples are read.
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

#include "base/random.hpp"
#include "bench/measure.hpp"
#include "site/series/job_values.hpp"
#include "site/series/store_writer.hpp"

namespace goban::bench {
namespace {

using namespace site::series;

constexpr int64_t kMonth_ms = 1'554'076'800'000;  // 2019-04-01 00:00 UTC
constexpr int64_t kMinute_ms = 60'000;
constexpr double kYearSamples = 2.29e9;
constexpr double kYearJobs = 497'730;

double normal(base::Random& random) {
  const double u = 1 - random.uniform();
  return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * random.uniform());
}

struct NodeJob {
  int64_t begin = 0;  ///< minute
  int64_t end = 0;
  bool whole_node = false;
};

std::vector<NodeJob> jobs_of_node(uint64_t node, int64_t minutes) {
  base::Random random(node * 2 + 1);
  std::vector<NodeJob> jobs;
  for (int64_t at = static_cast<int64_t>(random.below(120)); at < minutes;) {
    const double hours = std::min(72.0, 0.4 * std::exp(1.97 * normal(random)));
    const auto length = std::max<int64_t>(5, std::llround(hours * 60));
    jobs.push_back({at, std::min(minutes, at + length), random.uniform() > 0.49});
    at += length + static_cast<int64_t>(-std::log(1 - random.uniform()) * 42);
  }
  return jobs;
}

/// Utilisation of one GPU of a job in percent, minute by minute.
class Shape {
 public:
  explicit Shape(uint64_t seed) : random_(seed), kind_(random_.below(100)) {
    level_ = 20 + static_cast<double>(random_.below(75));
    period_ = 4 + random_.below(40);
  }
  double next(int64_t minute) {
    const auto noise = [&](double width) { return (random_.uniform() - 0.5) * width; };
    double value = 0;
    if (kind_ < 30) {
      value = 97 + noise(8);  // steady
    } else if (kind_ < 55) {
      value = level_ + noise(30);
    } else if (kind_ < 75) {  // epochs: training, then validation or input
      value =
          (static_cast<uint64_t>(minute) % period_) * 4 < period_ ? noise(6) : level_ + noise(20);
    } else if (kind_ < 85) {
      value = noise(200);  // anything
    }  // otherwise allocated and idle
    return std::clamp(value, 0.0, 100.0);
  }

 private:
  base::Random random_;
  uint64_t kind_;
  double level_;
  uint64_t period_;
};

DeviceKey device(uint64_t node, int gpu) {
  return {fmt::format("g{:04}", node), std::to_string(gpu), ""};
}

void write_gpu(StoreWriter& store, uint64_t node, int gpu, const std::vector<NodeJob>& jobs,
               int64_t minutes) {
  const DeviceKey key = device(node, gpu);
  base::Random random(node * 8 + static_cast<uint64_t>(gpu) + 1'000'000);
  const auto phase_ms = static_cast<int64_t>(random.below(40'000));
  size_t job = 0;
  Shape shape(random());
  for (int64_t minute = 0; minute < minutes; ++minute) {
    while (job < jobs.size() && jobs[job].end <= minute) {
      ++job;
      shape = Shape(random());
    }
    const bool busy =
        job < jobs.size() && minute >= jobs[job].begin && (gpu == 0 || jobs[job].whole_node);
    Reading reading{State::Value, busy ? shape.next(minute) : 0};
    const uint64_t luck = random.below(2000);
    if (luck == 0) continue;
    if (luck == 1) reading = {State::Stale, 0};
    const int64_t jitter_ms = static_cast<int64_t>(random.below(4000));
    const int64_t time_ms = kMonth_ms + minute * kMinute_ms + phase_ms + jitter_ms;
    if (!store.add(key, Metric::GpuUtilization, time_ms, reading)) std::abort();
  }
}

void write_month(const std::string& folder, uint64_t nodes, int64_t minutes) {
  auto store = StoreWriter::open(folder, {60'000, true});
  if (!store) std::abort();
  for (uint64_t node = 0; node < nodes; ++node) {
    const auto jobs = jobs_of_node(node, minutes);
    for (int gpu = 0; gpu < 4; ++gpu) write_gpu(**store, node, gpu, jobs, minutes);
  }
  if (!(*store)->finish()) std::abort();
  fmt::print("  {} samples written\n", (*store)->counts().written);
}

std::vector<SeriesJob> jobs_of_cluster(uint64_t nodes, int64_t minutes) {
  std::vector<SeriesJob> result;
  for (uint64_t node = 0; node < nodes; ++node) {
    for (const NodeJob& job : jobs_of_node(node, minutes)) {
      SeriesJob& made = result.emplace_back();
      made.id = std::to_string(result.size());
      made.start_ms = kMonth_ms + job.begin * kMinute_ms;
      made.end_ms = kMonth_ms + job.end * kMinute_ms;
      for (int gpu = 0; gpu < (job.whole_node ? 4 : 1); ++gpu) {
        made.devices.push_back(device(node, gpu));
      }
    }
  }
  // Accounting lists jobs by end time, not by node.
  std::ranges::stable_sort(result, {}, &SeriesJob::end_ms);
  return result;
}

ValueCounts value_jobs(const std::string& folder, const std::vector<SeriesJob>& jobs) {
  const auto store = StoreReader::open(folder, Metric::GpuUtilization);
  if (!store) std::abort();
  JobValues values(*store, {});
  ValueCounts counts;
  for (const SeriesJob& job : jobs) counts.add(values.of(job));
  return counts;
}

int run(int64_t days, uint64_t nodes, std::string folder) {
  const bool temporary = folder.empty();
  if (temporary) folder = std::filesystem::temp_directory_path() / "goban-series-bench";
  if (temporary) std::filesystem::remove_all(folder);
  const int64_t minutes = days * 1440;
  fmt::print("{} days, {} nodes x 4 GPUs, one sample per minute\n", days, nodes);
  const Cost write = measure_in_child([&] { write_month(folder, nodes, minutes); });
  uint64_t bytes = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (file.is_regular_file()) bytes += file.file_size();
  }
  const double samples = static_cast<double>(nodes) * 4 * static_cast<double>(minutes);
  fmt::print("  generate and write: {:.1f} s CPU, {:.0f} MiB peak, {:.1f} M samples/s\n",
             write.cpu_s, write.peak_mib, samples / write.cpu_s / 1e6);
  fmt::print("  store: {:.1f} MB, {:.3f} bytes per sample\n", static_cast<double>(bytes) / 1e6,
             static_cast<double>(bytes) / samples);

  const Cost open = measure_in_child([&] { value_jobs(folder, {}); });
  const std::vector<SeriesJob> jobs = jobs_of_cluster(nodes, minutes);
  const ValueCounts counts = value_jobs(folder, jobs);
  const Cost base = measure_in_child([&] {});
  const Cost all = median_of(3, [&] { (void)value_jobs(folder, jobs); });
  const double job_samples = static_cast<double>(counts.samples);
  fmt::print("  open (index of all blocks): {:.2f} s CPU\n", open.cpu_s);
  fmt::print("  values of {} jobs, {} job-GPUs, {:.1f} M samples: {:.2f} s CPU, {:.0f} MiB peak\n",
             counts.jobs, counts.devices, job_samples / 1e6, all.cpu_s,
             all.peak_mib - base.peak_mib);
  fmt::print("    busy {}, idle {}, unknown {}\n", counts.by_activity[0], counts.by_activity[1],
             counts.by_activity[2]);
  const double year_open_s = open.cpu_s * kYearSamples / samples;
  const double per_job_s = (all.cpu_s - open.cpu_s) / static_cast<double>(counts.jobs);
  const double per_sample_s = (all.cpu_s - open.cpu_s) / job_samples;
  fmt::print(
      "  projected to a year: open {:.1f} s; {:.0f} jobs as here {:.1f} s; "
      "every sample of the year {:.1f} s\n",
      year_open_s, kYearJobs, year_open_s + per_job_s * kYearJobs,
      year_open_s + per_sample_s * kYearSamples);
  if (temporary) std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace goban::bench

int main(int argc, char** argv) {
  return goban::bench::run(argc > 1 ? std::atoi(argv[1]) : 30,
                           argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1088,
                           argc > 3 ? argv[3] : "");
}
