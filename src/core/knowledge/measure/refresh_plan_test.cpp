#include "core/knowledge/measure/refresh_plan.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <vector>

#include "base/random.hpp"

namespace goban::core::knowledge {
namespace {

constexpr double kStep_s = 60;

/// A machine whose GPUs become busy and idle; measures whenever the plan says so.
struct Machine {
  std::vector<RefreshGpu> gpus;
  RefreshBooks books{};
  RefreshOptions options{};
  std::vector<int> measured;

  explicit Machine(size_t num_gpus) : gpus(num_gpus, RefreshGpu{.expired = true}) {
    measured.resize(num_gpus, 0);
  }
  void step(base::Random& random, double busy_share, double suspect_share) {
    for (RefreshGpu& gpu : gpus) {
      gpu.idle = random.uniform() >= busy_share;
      gpu.age_s += kStep_s;
      if (random.uniform() < suspect_share) gpu.suspect = true;
    }
    books.gpu_seconds += kStep_s * static_cast<double>(gpus.size());
    const auto next = next_to_refresh(gpus, books, options);
    if (!next) return;
    RC_ASSERT(gpus[*next].idle);
    books.spent_s += options.cost_s;
    RC_ASSERT(books.spent_s <= kRefreshShare * books.gpu_seconds);
    gpus[*next] = {.idle = true};
    ++measured[*next];
  }
};

RC_GTEST_PROP(RefreshPlan, OnlyIdleGpusWithinTheBudget, ()) {
  base::Random random(*rc::gen::arbitrary<uint64_t>());
  Machine machine(*rc::gen::inRange<size_t>(1, 12));
  machine.options.cost_s = *rc::gen::inRange(1, 100);
  const double busy_share = *rc::gen::inRange(0, 10) / 10.0;
  const double suspect_share = *rc::gen::inRange(0, 100) / 100.0;
  for (int i = 0; i < 2000; ++i) machine.step(random, busy_share, suspect_share);
}

TEST(RefreshPlan, EveryGpuHasItsTurn) {
  base::Random random(1);
  Machine machine(8);
  // 30 days at 80 % utilisation: at 20 s per GPU, each can be measured every 5.6 hours.
  for (int i = 0; i < 30 * 24 * 60; ++i) machine.step(random, 0.8, 0);
  EXPECT_GE(std::ranges::min(machine.measured), 29);
  EXPECT_LE(std::ranges::max(machine.measured), 31);
}

TEST(RefreshPlan, WhoeverCriesWolfSpendsNoMoreAndStarvesNobody) {
  base::Random random(1);
  Machine machine(8);
  for (int i = 0; i < 30 * 24 * 60; ++i) {
    machine.gpus[3].suspect = true;
    machine.step(random, 0.5, 0);
  }
  EXPECT_LE(machine.books.spent_s, kRefreshShare * machine.books.gpu_seconds);
  EXPECT_GE(std::ranges::min(machine.measured), 10);
}

TEST(RefreshPlan, TheUrgentFirst) {
  const RefreshBooks rich{.gpu_seconds = 1e9};
  constexpr double kOld_s = 1e6;
  std::vector<RefreshGpu> gpus{{.idle = true, .age_s = kOld_s},
                               {.idle = true, .suspect = true, .age_s = 4000},
                               {.idle = true, .expired = true},
                               {.idle = false, .expired = true, .age_s = kOld_s}};
  EXPECT_EQ(next_to_refresh(gpus, rich), 2u);
  gpus[2].idle = false;
  EXPECT_EQ(next_to_refresh(gpus, rich), 1u);
  gpus[1].age_s = 60;  // suspect again directly after its measurement
  EXPECT_EQ(next_to_refresh(gpus, rich), 0u);
  gpus[0].age_s = 60;
  EXPECT_FALSE(next_to_refresh(gpus, rich));
  gpus[2].idle = true;
  EXPECT_FALSE(next_to_refresh(gpus, {}));
}

}  // namespace
}  // namespace goban::core::knowledge
