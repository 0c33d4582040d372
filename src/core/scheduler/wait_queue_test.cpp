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
                                     const OrderKey& key, const Gap& gap, const ShapeMarks& marks) {
  for (auto it = model.upper_bound(key); it != model.end(); ++it) {
    const WaitQueue::Entry& e = it->second;
    const bool in_time = e.duration_ns <= gap.duration_ns || e.gpus <= gap.spare_gpus;
    const ShapeMarks::Mark mark = marks.of(e.shape);
    if (mark == ShapeMarks::Mark::Skip) continue;
    if (mark == ShapeMarks::Mark::SkipLong && e.duration_ns > gap.duration_ns) continue;
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
    for (uint32_t step = 0; step < 3000; ++step) {
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
      const OrderKey key{0, 0, static_cast<int64_t>(random.below(3000))};
      const auto next = model.upper_bound(key);
      const WaitQueue::Entry* after = queue.after(key);
      RC_ASSERT((after == nullptr) == (next == model.end()));
      if (after != nullptr) RC_ASSERT(after->slot == next->second.slot);
      const Gap gap{static_cast<int32_t>(random.below(20)),
                    random.below(4) == 0 ? base::kNever : static_cast<TimeNs>(random.below(60)),
                    static_cast<int32_t>(random.below(8))};
      ShapeMarks marks;
      for (uint64_t shapes = random.below(3) * 40; shapes > 0; --shapes) {
        marks.set(static_cast<uint32_t>(random.below(80)),
                  random.below(4) == 0 ? ShapeMarks::Mark::SkipLong : ShapeMarks::Mark::Skip);
      }
      const WaitQueue::Entry* fit = queue.after_fitting(key, gap, marks);
      const WaitQueue::Entry* expected = expected_fit(model, key, gap, marks);
      RC_ASSERT((fit == nullptr) == (expected == nullptr));
      if (fit != nullptr) RC_ASSERT(fit->slot == expected->slot);
    }
  }));
}

}  // namespace
}  // namespace goban::core::scheduler
