// A year of a site under its current policy: ABCI-like jobs with resource types and walltime limits
// under slurm-multifactor, at the recorded load and at higher ones (compressed submit times).
// Usage: site_bench [JOBS PER YEAR = 2500000]
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

#include "bench/measure.hpp"
#include "core/model/cluster_presets.hpp"
#include "study/history/generate/abci.hpp"
#include "study/history/job_reader.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::bench {
namespace {

class Depth final : public study::simulator::Observer {
 public:
  void decided(const core::scheduler::Decision&, const core::scheduler::Core& core) override {
    deepest = std::max(deepest, core.num_waiting());
  }
  size_t deepest = 0;
};

/// Compresses the submit times so that the offered load is `load`.
void squeeze(core::model::JobHistory& history, double load, uint32_t num_gpus) {
  double gpu_s = 0;
  for (const core::model::Job& job : history.jobs) gpu_s += job.work_s * job.request.num_gpus;
  const base::TimeNs span_ns = history.jobs.back().request.submit_ns;
  const double factor = gpu_s / (load * num_gpus * base::to_seconds(span_ns));
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    core::model::Job job = history.jobs[i];
    job.request.submit_ns =
        static_cast<base::TimeNs>(static_cast<double>(job.request.submit_ns) * factor);
    history.jobs.put(i, job);
  }
}

void run(const std::string& csv, double load) {
  const core::model::Cluster cluster = core::model::make_preset("abci").value();
  study::history::ReadOptions read;
  read.cluster = &cluster;
  core::model::JobHistory history = study::history::read_jobs(csv, read).value().history;
  if (load > 0) squeeze(history, load, cluster.num_gpus());
  const core::policy::Composition composition = core::policy::compose("slurm-multifactor").value();
  const core::knowledge::PmScores scores = core::knowledge::PmScores::uniform(cluster.num_gpus());
  const core::knowledge::LocalityPenalties penalties(cluster,
                                                     composition.settings.locality_penalty);
  Depth depth;
  study::simulator::SimulationOptions options;
  options.settings = composition.settings;
  options.observer = &depth;
  const auto result =
      study::simulator::simulate(history, {&cluster, &scores, &penalties}, composition, options)
          .value();
  double wait_s = 0;
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    wait_s += base::to_seconds(result.outcomes[i].start_ns - history.jobs[i].request.submit_ns);
  }
  fmt::print("  {:8} jobs  load {}  deepest queue {:6}  decisions {:8}  mean wait {:7.0f} s",
             history.jobs.size(), load > 0 ? fmt::format("{:.2f}", load) : "as is", depth.deepest,
             result.decisions, wait_s / static_cast<double>(history.jobs.size()));
}

int bench(int64_t jobs) {
  const auto csv = std::filesystem::temp_directory_path() / "goban-site-bench.csv";
  for (const int64_t count : {jobs / 10, jobs / 3, jobs}) {
    std::ofstream file(csv);
    study::history::AbciOptions options;
    options.population = study::history::AbciPopulation::All;
    options.num_jobs = count;
    if (!study::history::generate_abci(options, [&](std::string_view text) { file << text; }))
      return 1;
    file.close();
    for (const double load : {0.0, 0.6, 0.8}) {
      const Cost cost = measure_in_child([&] { run(csv, load); });
      fmt::print("  {:7.1f} s CPU  {:5.0f} MiB\n", cost.cpu_s, cost.peak_mib);
    }
  }
  std::filesystem::remove(csv);
  return 0;
}

}  // namespace
}  // namespace goban::bench

int main(int argc, char** argv) {
  return goban::bench::bench(argc > 1 ? std::atoll(argv[1]) : 2'500'000);
}
