// A year of jobs under FIFO + packed, from CSV to per-job results: library calls, and the command
// as users run it, compared with a minimal loop.
// Usage: year_bench [JOBS = 2500000] [RUNS = 3]
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "bench/floor.hpp"
#include "bench/measure.hpp"
#include "bench/workload.hpp"
#include "core/model/cluster_presets.hpp"
#include "study/history/job_reader.hpp"
#include "study/results/simulate_report.hpp"

namespace goban::bench {
namespace {

constexpr const char* kCluster = "1088x4";

void run_goban(const std::string& csv, const std::string& out) {
  const core::model::Cluster cluster = core::model::make_preset(kCluster).value();
  study::history::ReadOptions read;
  read.cluster = &cluster;
  const study::history::ReadResult jobs = study::history::read_jobs(csv, read).value();
  const core::policy::Composition composition = core::policy::compose("fifo+packed").value();
  const core::knowledge::PmScores scores = core::knowledge::PmScores::uniform(cluster.num_gpus());
  const core::knowledge::LocalityPenalties penalties(cluster,
                                                     composition.settings.locality_penalty);
  study::simulator::SimulationOptions options;
  options.settings = composition.settings;
  const study::simulator::SimulationResult result =
      study::simulator::simulate(jobs.history, {&cluster, &scores, &penalties}, composition,
                                 options)
          .value();
  if (!study::results::write_jobs_csv(out, jobs.history, result)) std::abort();
  const study::results::RunMetrics metrics =
      study::results::measure(composition.name, jobs.history, cluster.num_gpus(), result);
  fmt::print("  {} jobs, average JCT {:.1f} s, occupancy {:.3f}\n", metrics.jobs, metrics.avg_jct_s,
             metrics.gpu_occupancy);
}

/// Runs `goban simulate --out`, which also writes history.csv; does not return.
void run_command(const std::string& goban, const std::string& csv, const std::string& out) {
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  execl(goban.c_str(), "goban", "simulate", "--cluster", kCluster, "--jobs", csv.c_str(),
        "--policy", "fifo+packed", "--threads", "1", "--out", out.c_str(), nullptr);
  std::abort();
}

void print(const char* what, const Cost& cost, const Cost& floor) {
  fmt::print("  {:26} {:6.2f} s CPU  {:6.2f} s wall  {:6.0f} MiB  {:5.2f} x the one-count floor\n",
             what, cost.cpu_s, cost.wall_s, cost.peak_mib, cost.cpu_s / floor.cpu_s);
}

int run(const std::string& command, uint64_t jobs, int runs) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("goban-year-{}", jobs);
  std::filesystem::create_directories(folder);
  const std::string csv = folder / "jobs.csv";
  for (const double mean_s : {9000.0, 20000.0}) {
    WorkloadShape shape{.jobs = jobs,
                        .horizon_s = 365.0 * 86400 * static_cast<double>(jobs) / 2.5e6,
                        .mean_duration_s = mean_s};
    write_generic_csv(make_history(shape), csv);
    fmt::print("{} jobs on {} GPUs ({}), {:.0f} s mean duration\n", jobs, 4352, kCluster, mean_s);
    const std::string out = folder / "out.csv";
    const Cost barest = median_of(runs, [&] { floor_simulate(csv, 1, 4352, out); });
    const Cost packed = median_of(runs, [&] { floor_simulate(csv, 1088, 4, out); });
    const Cost goban = median_of(runs, [&] { run_goban(csv, out); });
    print("floor, one free count", barest, barest);
    print("floor, free count per node", packed, barest);
    const Cost whole = median_of(runs, [&] { run_command(command, csv, folder / "out"); });
    print("goban fifo+packed, library", goban, barest);
    print("goban simulate --out", whole, barest);
    fmt::print("  goban / floor with a free count per node: {:.2f}\n", goban.cpu_s / packed.cpu_s);
  }
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace goban::bench

int main(int argc, char** argv) {
  const auto folder = std::filesystem::canonical("/proc/self/exe").parent_path();
  return goban::bench::run(folder / "goban",
                           argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2'500'000,
                           argc > 2 ? std::atoi(argv[2]) : 3);
}
