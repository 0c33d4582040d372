#include "study/simulator/contention.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/random.hpp"
#include "core/model/cluster_file.hpp"
#include "core/model/cluster_presets.hpp"

namespace goban::study::simulator {
namespace {

using core::model::GpuId;
using core::model::JobId;

core::model::Cluster racks() {
  return core::model::parse_cluster("[[nodes]]\ncount = 12\ngpus = 2\nnodes_per_rack = 3\n",
                                    "racks")
      .value();
}

TEST(LinkContention, NeedsRacksAndARatio) {
  const auto flat = core::model::make_preset("4x4").value();
  EXPECT_EQ(LinkContention::make(flat, {0.5, 0.5}).error().code, base::ErrorCode::Usage);
  EXPECT_EQ(LinkContention::make(racks(), {0.5, std::nullopt}).error().code,
            base::ErrorCode::Usage);
  EXPECT_TRUE(LinkContention::make(racks(), {0.5, 0.5}));
  EXPECT_TRUE(LinkContention::make(core::model::make_preset("abci").value(), {0.5, std::nullopt}));
}

TEST(LinkContentionProperty, SlowdownsFollowFromWhoRunsAlone) {
  EXPECT_TRUE(rc::check([] {
    base::Random random(*rc::gen::arbitrary<uint64_t>());
    const core::model::Cluster cluster = racks();
    const ContentionSettings settings{random.uniform(), 0.1 + random.uniform()};
    LinkContention links = LinkContention::make(cluster, settings).value();
    std::vector<std::pair<JobId, std::vector<GpuId>>> running;
    for (uint32_t step = 0; step < 60; ++step) {
      if (running.size() > 5 || (!running.empty() && random.below(3) == 0)) {
        const size_t victim = random.below(running.size());
        links.stop(running[victim].first);
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(victim));
      } else {
        std::vector<GpuId> gpus;
        for (uint64_t i = 0; i < 1 + random.below(6); ++i) gpus.emplace_back(random.below(24));
        const auto affected = links.start(JobId(step), gpus);
        for (size_t i = 1; i < affected.size(); ++i) RC_ASSERT(affected[i - 1] < affected[i]);
        running.emplace_back(JobId(step), gpus);
      }
      // The same jobs, started from scratch in another order, have the same contention.
      LinkContention again = LinkContention::make(cluster, settings).value();
      for (auto it = running.rbegin(); it != running.rend(); ++it)
        again.start(it->first, it->second);
      for (const auto& [job, gpus] : running) {
        RC_ASSERT(links.slowdown(job) == again.slowdown(job));
        RC_ASSERT(links.slowdown(job) >= 1);
      }
    }
  }));
}

}  // namespace
}  // namespace goban::study::simulator
