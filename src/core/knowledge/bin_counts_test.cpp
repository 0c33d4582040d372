// Compares the incremental counts with counting from scratch.
#include "core/knowledge/bin_counts.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/random.hpp"

namespace goban::core::knowledge {
namespace {

model::Cluster racks(uint64_t seed) {
  base::Random random(seed);
  model::ClusterBuilder builder("racks");
  builder.add_gpu_model({.name = "gpu", .mem_bytes = 0, .power_max_w = 0, .power_idle_w = 0});
  const uint64_t nodes = 1 + random.below(9);
  for (uint64_t i = 0; i < nodes; ++i) {
    model::ClusterBuilder::Placed placed;
    placed.node.name = "n" + std::to_string(i);
    placed.islands = 2;
    placed.node.num_gpus = static_cast<uint32_t>(2 * (1 + random.below(4)));  // mixed sizes
    placed.rack = "r" + std::to_string(i / 3);
    builder.add_node(placed);
  }
  return builder.build().value();
}

TEST(BinCountsProperty, AgreeWithCounting) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    const model::Cluster cluster = racks(seed);
    base::Random random(seed + 1);
    std::vector<double> values;
    for (uint32_t gpu = 0; gpu < cluster.num_gpus(); ++gpu) {
      values.push_back(1.0 + 0.1 * static_cast<double>(random.below(4)));
    }
    const ClassScores scores = class_from_values(values, values);
    BinCounts counts(cluster, scores);
    std::vector<bool> free(cluster.num_gpus());
    for (int step = 0; step < 180; ++step) {
      const GpuId gpu(static_cast<uint32_t>(random.below(cluster.num_gpus())));
      if (free[gpu.index()]) {
        counts.take(gpu);
      } else {
        counts.give(gpu);
      }
      free[gpu.index()] = !free[gpu.index()];
      if (random.below(3) > 0) continue;  // several changes between two questions
      const auto bin = static_cast<size_t>(random.below(counts.num_bins()));
      const auto level = static_cast<size_t>(random.below(cluster.levels().size()));
      const auto least = static_cast<int32_t>(1 + random.below(6));
      // Expected: the first domain with the most eligible GPUs.
      const model::TopologyLevel& domains = cluster.levels()[level];
      int32_t most = 0;
      uint32_t expected = model::DomainSet::kNone;
      int32_t total = 0;
      for (uint32_t domain = 0; domain < domains.num_domains(); ++domain) {
        int32_t eligible = 0;
        for (uint32_t g = domains.first_gpu[domain]; g < domains.first_gpu[domain + 1]; ++g) {
          eligible += free[g] && scores.bin[g] <= bin ? 1 : 0;
        }
        total += eligible;
        if (eligible > most) {
          most = eligible;
          expected = domain;
        }
      }
      RC_ASSERT(counts.eligible_total(bin) == total);
      RC_ASSERT(counts.fullest_domain(bin, level, least) ==
                (most >= least ? expected : model::DomainSet::kNone));
    }
  }));
}

}  // namespace
}  // namespace goban::core::knowledge
