// Deep backlogs: many more jobs than GPUs, all submitted within a day. Measures how the cost of a
// run grows with the number of jobs and with the size of the cluster.
#include <algorithm>
#include <fmt/format.h>

#include "bench/measure.hpp"
#include "bench/workload.hpp"
#include "core/model/cluster_presets.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::bench {
namespace {

/// Counts the waiting jobs.
class Depth final : public study::simulator::Observer {
 public:
  void decided(const core::scheduler::Decision&, const core::scheduler::Core& core) override {
    deepest = std::max(deepest, core.num_waiting());
    ++decisions;
  }
  size_t deepest = 0;
  int64_t decisions = 0;
};

void run(const std::string& cluster_name, const std::string& policy, const WorkloadShape& shape) {
  const core::model::Cluster cluster = core::model::make_preset(cluster_name).value();
  const core::model::JobHistory history = make_history(shape);
  const core::policy::Composition composition = core::policy::compose(policy).value();
  const core::knowledge::PmScores scores = make_scores(cluster, 7);
  const core::knowledge::LocalityPenalties penalties(cluster, 1.7);
  const auto work = [&](bool print) {
    Depth depth;
    study::simulator::SimulationOptions options;
    options.settings = composition.settings;
    if (print) options.observer = &depth;
    const auto result =
        study::simulator::simulate(history, {&cluster, &scores, &penalties}, composition, options)
            .value();
    if (print) {
      fmt::print("  deepest queue {:6}  decisions {:7}  launches {:7}", depth.deepest,
                 depth.decisions, result.starts);
    }
  };
  fmt::print("{:>8} GPUs  {:>7} jobs  {:22}", cluster.num_gpus(), shape.jobs, policy);
  const Cost cost = measure_in_child([&] { work(false); });
  std::fflush(stdout);
  work(true);
  fmt::print("  {:7.2f} s CPU  {:5.0f} MiB\n", cost.cpu_s, cost.peak_mib);
}

}  // namespace
}  // namespace goban::bench

int main() {
  using goban::bench::run;
  using goban::bench::WorkloadShape;
  const std::vector<std::string> policies = {"las+pal", "easy-backfill+packed",
                                             "conservative-backfill+packed", "pal-artifact"};
  for (const std::string& policy : policies) {
    for (const uint64_t jobs : {1000u, 10000u, 100000u}) {
      run("1088x4", policy, {.jobs = jobs, .size_max_log2 = 5});
    }
    // The same load per GPU: the number of jobs is proportional to the cluster.
    for (const uint32_t nodes : {16u, 256u, 1088u, 4096u}) {
      run(fmt::format("{}x4", nodes), policy, {.jobs = uint64_t{nodes} * 16, .size_max_log2 = 5});
    }
  }
  // A million jobs at load 1.3: the backlog grows to the end.
  const WorkloadShape heavy{.jobs = 1'000'000, .horizon_s = 3.34e6, .size_max_log2 = 5};
  run("1088x4", "easy-backfill+packed", heavy);
  return 0;
}
