// One placement on a half-empty cluster: GPUs chosen, taken and released. Microseconds by policy,
// job size and cluster size. (PAL's artifact: 47,000 us at 64 GPUs.)
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/random.hpp"
#include "bench/workload.hpp"
#include "core/model/cluster_presets.hpp"
#include "core/policy/test_part.hpp"
#include "core/scheduler/resources.hpp"

namespace goban::bench {
namespace {

const char* name(int64_t which) { return which == 0 ? "pal" : which == 1 ? "pm-first" : "packed"; }

void placement(benchmark::State& state) {
  const core::model::Cluster cluster =
      core::model::make_preset(fmt::format("{}x4", state.range(1) / 4)).value();
  const core::knowledge::PmScores scores = make_scores(cluster, 7);
  const core::knowledge::LocalityPenalties penalties(cluster, 1.7);
  const auto chosen = core::policy::test_part(name(state.range(0))).placement;
  core::scheduler::Resources resources({&cluster, &scores, &penalties}, *chosen);
  base::Random random(3);
  core::model::JobRequest job;
  job.num_gpus = 1;
  for (uint32_t gpu = 0; gpu < cluster.num_gpus(); ++gpu) {
    if (random.below(2) == 0)
      resources.take(job, {.gpus = {core::model::GpuId(gpu)}, .hosts = {}, .reason = {}});
  }
  const auto gpus = static_cast<int32_t>(state.range(2));
  core::model::Allocation out;
  while (state.KeepRunning()) {
    // 0: a mix of sizes and classes, as in a queue.
    job.num_gpus = gpus > 0 ? gpus : static_cast<int32_t>(1u << random.below(5));
    job.app_class = core::model::AppClass{static_cast<uint8_t>(random.below(3))};
    if (!resources.find(job, {}, 1, out)) continue;
    resources.take(job, out);
    resources.give(job, out);
    benchmark::DoNotOptimize(out.gpus.data());
  }
  state.SetLabel(fmt::format("{} {} GPUs, {}", name(state.range(0)), state.range(1),
                             gpus > 0 ? fmt::format("jobs of {}", gpus) : "jobs of 1 to 16"));
}

BENCHMARK(placement)
    ->ArgsProduct({{0, 1, 2}, {64, 4352, 16384}, {0}})
    ->ArgsProduct({{0}, {64, 4352, 16384}, {1, 4, 16}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace goban::bench

BENCHMARK_MAIN();
