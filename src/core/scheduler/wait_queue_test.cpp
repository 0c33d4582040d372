// Compares the blocked queue with an ordered map.
#include "core/scheduler/wait_queue.hpp"

#include <gtest/gtest.h>
#include <map>
#include <rapidcheck.h>

#include "base/random.hpp"

namespace goban::core::scheduler {
namespace {

using policy::Gap;

const WaitQueue::Entry* expected_fit(const std::map<OrderKey, WaitQueue::Entry>& model,
                                     const OrderKey& key, const Gap& gap, const ShapeMarks& marks,
                                     const std::map<uint32_t, double>& shares) {
  for (auto it = model.upper_bound(key); it != model.end(); ++it) {
    const WaitQueue::Entry& e = it->second;
    const bool in_time = e.duration_ns <= gap.duration_ns || e.gpus <= gap.spare_gpus;
    const ShapeMarks::Mark mark = marks.of(e.shape);
    if (mark == ShapeMarks::Mark::Skip) continue;
    if (mark == ShapeMarks::Mark::SkipLong && e.duration_ns > gap.duration_ns) continue;
    const auto share = shares.find(e.shape);
    const bool by_share = gap.by_slowdown && e.scales && e.gpus > gap.spare_gpus &&
                          gap.duration_ns != base::kNever && share != shares.end();
    // Four more, for rounded durations.
    const auto longest = [&] {
      return static_cast<TimeNs>(static_cast<double>(gap.duration_ns) * share->second) + 4;
    };
    if (by_share && e.duration_ns > longest()) continue;
    if (e.gpus <= gap.free_gpus && in_time) return &e;
  }
  return nullptr;
}

TEST(WaitQueueProperty, BehavesAsAnOrderedMap) {
  EXPECT_TRUE(rc::check([] {
    base::Random random(*rc::gen::arbitrary<uint64_t>());
    const bool ascending = random.below(2) == 0;
    WaitQueue queue;
    std::map<OrderKey, WaitQueue::Entry> model;
    // Enough entries for several sections of blocks, in some of the runs.
    const uint32_t steps = random.below(10) == 0 ? 30'000 : 3000;
    for (uint32_t step = 0; step < steps; ++step) {
      const bool remove = !model.empty() && random.below(3) == 0;
      if (remove) {
        auto victim = model.begin();
        if (random.below(2) == 0) {
          victim = model.lower_bound({0, 0, static_cast<int64_t>(random.below(3000))});
          if (victim == model.end()) victim = model.begin();
        }
        queue.erase(victim->first);
        model.erase(victim);
      } else {
        const int64_t metric = ascending ? step : static_cast<int64_t>(random.below(3000));
        const WaitQueue::Entry entry{
            {static_cast<int32_t>(random.below(10) == 0), step, metric},
            step,
            static_cast<int32_t>(random.below(40)),
            static_cast<uint32_t>(random.below(80)),
            random.below(10) != 0,
            random.below(9) == 0 ? base::kNever : static_cast<TimeNs>(random.below(100))};
        queue.insert(entry);
        model.emplace(entry.key, entry);
      }
      RC_ASSERT(queue.size() == model.size());
      if (model.empty()) {
        RC_ASSERT(queue.first() == nullptr);
        continue;
      }
      RC_ASSERT(queue.first()->slot == model.begin()->second.slot);
      if (steps > 3000 && step % 50 != 0) continue;
      const OrderKey key{0, 0, static_cast<int64_t>(random.below(3000))};
      const auto next = model.upper_bound(key);
      const WaitQueue::Entry* after = queue.after(key);
      RC_ASSERT((after == nullptr) == (next == model.end()));
      if (after != nullptr) RC_ASSERT(after->slot == next->second.slot);
      std::vector<uint32_t> swept;
      queue.visit([&](const WaitQueue::Entry& entry) {
        swept.push_back(entry.slot);
        return swept.size() < 40;
      });
      RC_ASSERT(swept.size() == std::min<size_t>(40, model.size()));
      auto in_order = model.begin();
      for (const uint32_t slot : swept) RC_ASSERT(slot == (in_order++)->second.slot);
      const auto most = random.below(1000);
      const OrderKey to{0, 0, key.metric + static_cast<int64_t>(random.below(3000))};
      const auto between = static_cast<size_t>(std::distance(next, model.upper_bound(to)));
      const size_t counted = queue.count(key, to, most);
      RC_ASSERT(counted == between || (counted > most && between > most));
      const Gap gap{static_cast<int32_t>(random.below(20)),
                    random.below(4) == 0 ? base::kNever : static_cast<TimeNs>(random.below(60)),
                    static_cast<int32_t>(random.below(8)), random.below(2) == 0};
      ShapeMarks marks;
      std::map<uint32_t, double> shares;
      // Often of all shapes, so that whole blocks are skipped.
      for (uint32_t shape = 0; shape < random.below(3) * 31; ++shape) {
        const double share = 0.25 * static_cast<double>(1 + random.below(4));
        marks.set_share(shape, share);
        shares[shape] = share;
      }
      for (uint64_t shapes = random.below(3) * 40; shapes > 0; --shapes) {
        marks.set(static_cast<uint32_t>(random.below(80)),
                  random.below(4) == 0 ? ShapeMarks::Mark::SkipLong : ShapeMarks::Mark::Skip);
      }
      const WaitQueue::Entry* fit = queue.after_fitting(key, gap, marks);
      const WaitQueue::Entry* expected = expected_fit(model, key, gap, marks, shares);
      RC_ASSERT((fit == nullptr) == (expected == nullptr));
      if (fit != nullptr) RC_ASSERT(fit->slot == expected->slot);
    }
  }));
}

}  // namespace
}  // namespace goban::core::scheduler
