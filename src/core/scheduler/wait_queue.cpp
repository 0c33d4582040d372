#include "core/scheduler/wait_queue.hpp"

#include <algorithm>
#include <bit>

#include "base/check.hpp"

namespace goban::core::scheduler {

using policy::Gap;

namespace {

bool fits(const WaitQueue::Entry& entry, const Gap& gap, const ShapeMarks& marks) {
  if (entry.gpus > gap.free_gpus) return false;
  const ShapeMarks::Mark mark = marks.of(entry.shape);
  if (mark == ShapeMarks::Mark::Skip) return false;
  if (entry.duration_ns <= gap.duration_ns) return true;
  return mark == ShapeMarks::Mark::Try && entry.gpus <= gap.spare_gpus;
}

}  // namespace

size_t WaitQueue::size_group(int32_t gpus) {
  return gpus <= 1 ? static_cast<size_t>(gpus)
                   : static_cast<size_t>(std::bit_width(static_cast<uint32_t>(gpus - 1))) + 1;
}

void WaitQueue::refresh(const Block& block) {
  block.shortest.fill(base::kNever);
  block.groups_end = 0;
  block.shapes = 0;
  for (size_t i = block.begin; i < block.entries.size(); ++i) {
    const Entry& entry = block.entries[i];
    const size_t group = size_group(entry.gpus);
    block.shortest[group] = std::min(block.shortest[group], entry.duration_ns);
    block.groups_end = std::max(block.groups_end, static_cast<uint32_t>(group + 1));
    block.shapes |= ShapeMarks::bit(entry.shape);
  }
  block.stale = false;
}

bool WaitQueue::may_fit(const Block& block, const Gap& gap) {
  if (block.stale) refresh(block);
  for (size_t group = 0; group < block.groups_end; ++group) {
    // Smallest size of the group: 0, 1, 2, 3, 5, 9, ...
    const int32_t smallest =
        group <= 1 ? static_cast<int32_t>(group) : (int32_t{1} << (group - 2)) + 1;
    if (smallest > gap.free_gpus) return false;
    if (block.shortest[group] <= gap.duration_ns && block.shortest[group] != base::kNever) {
      return true;
    }
    // If the duration does not matter, jobs of unknown duration fit as well.
    if (smallest <= gap.spare_gpus || gap.duration_ns == base::kNever) return true;
  }
  return false;
}

size_t WaitQueue::block_of(const OrderKey& key) const {
  const auto found = std::ranges::lower_bound(
      blocks_, key, {}, [](const Block& block) { return block.entries.back().key; });
  return static_cast<size_t>(found - blocks_.begin());
}

void WaitQueue::insert(const Entry& entry) {
  ++size_;
  without_gpus_ += entry.gpus == 0 ? 1 : 0;
  const bool last = blocks_.empty() || blocks_.back().entries.back().key < entry.key;
  size_t at = last ? blocks_.size() : block_of(entry.key);
  if (last) {
    if (at == 0 || blocks_.back().entries.size() >= kBlockMax) {
      append_block();
    }
    at = blocks_.size() - 1;
    blocks_[at].entries.push_back(entry);
    blocks_[at].stale = true;
    return;
  }
  Block& block = blocks_[at];
  const auto begin = block.entries.begin() + static_cast<std::ptrdiff_t>(block.begin);
  const auto place =
      std::ranges::lower_bound(begin, block.entries.end(), entry.key, {}, &Entry::key);
  block.stale = true;
  if (place == begin && block.begin > 0) {
    block.entries[--block.begin] = entry;
    return;
  }
  block.entries.insert(place, entry);
  if (block.entries.size() - block.begin > kBlockMax) split(at);
}

WaitQueue::Block& WaitQueue::append_block() {
  Block& block = blocks_.emplace_back();
  block.entries = std::move(spare_);
  block.entries.clear();
  block.entries.reserve(kBlockMax);
  return block;
}

void WaitQueue::split(size_t at) {
  Block upper;
  Block& lower = blocks_[at];
  const auto middle = static_cast<std::ptrdiff_t>((lower.begin + lower.entries.size()) / 2);
  upper.entries.reserve(kBlockMax);
  upper.entries.assign(lower.entries.begin() + middle, lower.entries.end());
  lower.entries.erase(lower.entries.begin() + middle, lower.entries.end());
  lower.entries.erase(lower.entries.begin(),
                      lower.entries.begin() + static_cast<std::ptrdiff_t>(lower.begin));
  lower.begin = 0;
  lower.stale = true;
  blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(upper));
}

void WaitQueue::erase(const OrderKey& key) {
  const Entry* head = first();
  const size_t at = head != nullptr && head->key == key ? 0 : block_of(key);
  GOBAN_CHECK(at < blocks_.size(), "job is not in the queue");
  Block& block = blocks_[at];
  const auto begin = block.entries.begin() + static_cast<std::ptrdiff_t>(block.begin);
  const auto place = begin->key == key ? begin
                                       : std::ranges::lower_bound(begin, block.entries.end(), key,
                                                                  {}, &Entry::key);
  GOBAN_CHECK(place != block.entries.end() && place->key == key, "job is not in the queue");
  --size_;
  without_gpus_ -= place->gpus == 0 ? 1 : 0;
  block.stale = true;
  if (place == begin) {
    ++block.begin;
  } else {
    block.entries.erase(place);
  }
  if (block.begin == block.entries.size()) {
    spare_ = std::move(block.entries);
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

std::vector<WaitQueue::Entry> WaitQueue::take_all() {
  std::vector<Entry> entries;
  entries.reserve(size_);
  for (const Block& block : blocks_) {
    entries.insert(entries.end(), block.entries.begin() + static_cast<std::ptrdiff_t>(block.begin),
                   block.entries.end());
  }
  blocks_.clear();
  size_ = 0;
  without_gpus_ = 0;
  return entries;
}

void WaitQueue::assign(std::span<const Entry> sorted) {
  GOBAN_CHECK(empty());
  for (const Entry& entry : sorted) insert(entry);
}

const WaitQueue::Entry* WaitQueue::find(const OrderKey& key) const {
  const size_t at = block_of(key);
  if (at == blocks_.size()) return nullptr;
  const Block& block = blocks_[at];
  const auto live = block.entries.begin() + static_cast<std::ptrdiff_t>(block.begin);
  const auto place = std::ranges::lower_bound(live, block.entries.end(), key, {}, &Entry::key);
  return place != block.entries.end() && place->key == key ? &*place : nullptr;
}

const WaitQueue::Entry* WaitQueue::first() const {
  return blocks_.empty() ? nullptr : &blocks_.front().entries[blocks_.front().begin];
}

const WaitQueue::Entry* WaitQueue::after(const OrderKey& key) const {
  return after_fitting(
      key, Gap{.free_gpus = INT32_MAX, .duration_ns = base::kNever, .spare_gpus = INT32_MAX});
}

const WaitQueue::Entry* WaitQueue::after_fitting(const OrderKey& key, const Gap& gap,
                                                 const ShapeMarks& marks) const {
  size_t at = block_of(key);
  if (at == blocks_.size()) return nullptr;
  const auto live = blocks_[at].entries.begin() + static_cast<std::ptrdiff_t>(blocks_[at].begin);
  const auto from = std::ranges::upper_bound(live, blocks_[at].entries.end(), key, {}, &Entry::key);
  auto index = static_cast<size_t>(from - blocks_[at].entries.begin());
  const bool any = gap.free_gpus == INT32_MAX;
  for (; at < blocks_.size(); ++at, index = at < blocks_.size() ? blocks_[at].begin : 0) {
    const Block& block = blocks_[at];
    if (!any && !may_fit(block, gap)) continue;
    if (marks.skipped() != 0 && (block.shapes & ~marks.skipped()) == 0) continue;
    for (size_t i = index; i < block.entries.size(); ++i) {
      if (fits(block.entries[i], gap, marks)) return &block.entries[i];
    }
  }
  return nullptr;
}

}  // namespace goban::core::scheduler
