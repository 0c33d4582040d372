// How many simulated worlds a fault test goes through, and with which seeds.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>

namespace goban::live::loop {

/// Simulated worlds of 2,000 steps each. GOBAN_FAULT_STEPS replaces the number of steps of a test,
/// and GOBAN_FAULT_SEED is the seed before the first world's.
struct FaultRuns {
  static constexpr int kStepsPerWorld = 2'000;
  int steps;
  uint64_t seed_before = 0;

  explicit FaultRuns(int steps_by_default) : steps(steps_by_default) {
    if (const char* given = std::getenv("GOBAN_FAULT_STEPS")) steps = std::atoi(given);
    if (const char* given = std::getenv("GOBAN_FAULT_SEED")) {
      seed_before = std::strtoull(given, nullptr, 10);
    }
  }

  /// Makes a world by `make(seed)`, lets it run and checks its end; `then(world)` is called for
  /// each in which nothing `failed()`. The seed of the first world with a failure, which is the
  /// last.
  template <typename Make, typename Failed, typename Then>
  [[nodiscard]] std::optional<uint64_t> for_each_world(const Make& make, const Failed& failed,
                                                       const Then& then) const {
    for (int world = 1; world <= steps / kStepsPerWorld; ++world) {
      const uint64_t seed = seed_before + static_cast<uint64_t>(world);
      auto one = make(seed);
      for (int i = 0; i < kStepsPerWorld && !failed(); ++i) one.step();
      one.heal_and_finish();
      one.check_end();
      if (!failed()) then(one);
      if (failed()) return seed;
    }
    return std::nullopt;
  }
};

}  // namespace goban::live::loop
