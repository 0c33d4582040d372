#include "core/scheduler/wait_queue.hpp"

#include <algorithm>
#include <bit>

#include "base/check.hpp"

namespace goban::core::scheduler {

using policy::Gap;

namespace {

bool fits(const WaitQueue::Entry& entry, const Gap& gap, const ShapeMarks& marks, bool by_shares) {
  if (entry.gpus > gap.free_gpus) return false;
  const ShapeMarks::Mark mark = marks.of(entry.shape);
  if (mark == ShapeMarks::Mark::Skip) return false;
  if (entry.duration_ns <= gap.duration_ns) {
    if (!by_shares || !entry.scales || entry.gpus <= gap.spare_gpus) return true;
    return entry.duration_ns <= marks.longest_ns(ShapeMarks::bit(entry.shape), gap.duration_ns);
  }
  return mark == ShapeMarks::Mark::Try && entry.gpus <= gap.spare_gpus;
}

size_t size_group(int32_t gpus) {
  constexpr int32_t kAlone = 8;
  if (gpus <= kAlone) return static_cast<size_t>(gpus);
  return static_cast<size_t>(std::bit_width(static_cast<uint32_t>(gpus - 1))) + 5;
}

}  // namespace

TimeNs ShapeMarks::longest_ns(uint64_t shapes, TimeNs gap_ns) const {
  if ((shapes & ~with_share_) != 0 || shapes == 0 || gap_ns == base::kNever) return gap_ns;
  double share = 0;
  for (uint64_t rest = shapes; rest != 0; rest &= rest - 1) {
    share = std::max(share, shares_[static_cast<size_t>(std::countr_zero(rest))]);
  }
  // A little more, as durations are rounded.
  constexpr double kSlack = 1 + 1e-9;
  constexpr TimeNs kSlack_ns = 4;
  const double longest = static_cast<double>(gap_ns) * share * kSlack;
  return std::min(gap_ns, static_cast<TimeNs>(longest) + kSlack_ns);
}

void WaitQueue::Summary::clear() {
  groups_end_ = 0;
  shapes_ = 0;
}

void WaitQueue::Summary::add(size_t group, TimeNs shortest, int32_t smallest) {
  for (; groups_end_ <= group; ++groups_end_) {
    shortest_[groups_end_] = base::kNever;
    smallest_[groups_end_] = INT32_MAX;
  }
  shortest_[group] = std::min(shortest_[group], shortest);
  smallest_[group] = std::min(smallest_[group], smallest);
}

void WaitQueue::Summary::add(const Entry& entry) {
  add(size_group(entry.gpus), entry.duration_ns, entry.gpus);
  shapes_ |= ShapeMarks::bit(entry.shape);
}

void WaitQueue::Summary::add(const Summary& other) {
  for (size_t group = 0; group < other.groups_end_; ++group) {
    add(group, other.shortest_[group], other.smallest_[group]);
  }
  shapes_ |= other.shapes_;
}

bool WaitQueue::Summary::may_fit(const Gap& gap, uint64_t skipped_shapes,
                                 const std::array<TimeNs, kSizeGroups>& longest) const {
  if (skipped_shapes != 0 && (shapes_ & ~skipped_shapes) == 0) return false;
  for (size_t group = 0; group < groups_end_; ++group) {
    const int32_t smallest = smallest_[group];
    if (smallest == INT32_MAX) continue;
    if (smallest > gap.free_gpus) return false;
    if (shortest_[group] <= longest[group] || smallest <= gap.spare_gpus) return true;
  }
  return false;
}

std::array<TimeNs, WaitQueue::kSizeGroups> WaitQueue::longest_by_group(
    const Gap& gap, const ShapeMarks& marks) const {
  std::array<TimeNs, kSizeGroups> longest{};
  longest.fill(gap.duration_ns);
  if (!gap.by_slowdown || !marks.has_shares()) return longest;
  for (size_t group = 0; group < kSizeGroups; ++group) {
    if (group_shapes_[group] != 0) {
      longest[group] = marks.longest_ns(group_shapes_[group], gap.duration_ns);
    }
  }
  return longest;
}

const WaitQueue::Summary& WaitQueue::summary_of(const Block& block) const {
  if (block.stale) {
    block.summary.clear();
    for (size_t i = block.begin; i < block.entries.size(); ++i) block.summary.add(block.entries[i]);
    block.stale = false;
  }
  return block.summary;
}

const WaitQueue::Summary& WaitQueue::summary_of_section(size_t section) const {
  if (sections_.size() <= section) sections_.resize(section + 1);
  Section& each = sections_[section];
  if (each.stale) {
    each.summary.clear();
    const size_t end = std::min(blocks_.size(), (section + 1) * kSectionBlocks);
    for (size_t at = section * kSectionBlocks; at < end; ++at) {
      each.summary.add(summary_of(blocks_[at]));
    }
    each.stale = false;
  }
  return each.summary;
}

void WaitQueue::note_added(size_t at, const Entry& entry) {
  if (!blocks_[at].stale) blocks_[at].summary.add(entry);
  const size_t section = at / kSectionBlocks;
  if (section < sections_.size() && !sections_[section].stale)
    sections_[section].summary.add(entry);
}

void WaitQueue::note_changed(size_t at) {
  blocks_[at].stale = true;
  const size_t section = at / kSectionBlocks;
  if (section < sections_.size()) sections_[section].stale = true;
}

void WaitQueue::note_shifted(size_t at) {
  for (size_t i = at / kSectionBlocks; i < sections_.size(); ++i) sections_[i].stale = true;
}

size_t WaitQueue::block_of(const OrderKey& key) const {
  if (empty()) return blocks_.size();
  if (key <= blocks_.front().entries.back().key) return 0;
  const auto found = std::ranges::lower_bound(
      blocks_, key, {}, [](const Block& block) { return block.entries.back().key; });
  return static_cast<size_t>(found - blocks_.begin());
}

void WaitQueue::insert(const Entry& entry) {
  const bool last = empty() || blocks_.back().entries.back().key < entry.key;
  size_t at = last ? blocks_.size() : block_of(entry.key);
  ++size_;
  without_gpus_ += entry.gpus == 0 ? 1 : 0;
  group_shapes_[size_group(entry.gpus)] |=
      ShapeMarks::bit(entry.scales ? entry.shape : ShapeMarks::kShared);
  if (last) {
    if (at == 0 || blocks_.back().entries.size() >= kBlockMax) {
      append_block();
    }
    at = blocks_.size() - 1;
    blocks_[at].entries.push_back(entry);
    note_added(at, entry);
    return;
  }
  Block& block = blocks_[at];
  const auto begin = block.entries.begin() + static_cast<std::ptrdiff_t>(block.begin);
  const auto place =
      std::ranges::lower_bound(begin, block.entries.end(), entry.key, {}, &Entry::key);
  note_added(at, entry);
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
  note_shifted(at);
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
  note_changed(at);
  if (place == begin) {
    ++block.begin;
  } else {
    block.entries.erase(place);
  }
  if (empty()) {  // the block is the only one, and is kept
    block.entries.clear();
    block.begin = 0;
  } else if (block.begin == block.entries.size()) {
    spare_ = std::move(block.entries);
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(at));
    note_shifted(at);
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
  sections_.clear();
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
  return empty() ? nullptr : &blocks_.front().entries[blocks_.front().begin];
}

const WaitQueue::Entry* WaitQueue::after(const OrderKey& key) const {
  const size_t at = block_of(key);
  if (at == blocks_.size()) return nullptr;
  const std::vector<Entry>& entries = blocks_[at].entries;
  const auto live = entries.begin() + static_cast<std::ptrdiff_t>(blocks_[at].begin);
  const auto next = std::ranges::upper_bound(live, entries.end(), key, {}, &Entry::key);
  if (next != entries.end()) return &*next;
  return at + 1 == blocks_.size() ? nullptr : &blocks_[at + 1].entries[blocks_[at + 1].begin];
}

const WaitQueue::Entry* WaitQueue::after_fitting(const OrderKey& key, const Gap& gap,
                                                 const ShapeMarks& marks) const {
  size_t at = block_of(key);
  if (at == blocks_.size()) return nullptr;
  const auto live = blocks_[at].entries.begin() + static_cast<std::ptrdiff_t>(blocks_[at].begin);
  const auto from = std::ranges::upper_bound(live, blocks_[at].entries.end(), key, {}, &Entry::key);
  auto index = static_cast<size_t>(from - blocks_[at].entries.begin());
  const bool by_shares = gap.by_slowdown && marks.has_shares();
  const auto longest = longest_by_group(gap, marks);
  for (bool first = true; at < blocks_.size(); first = false) {
    if (at % kSectionBlocks == 0 && !first &&
        !summary_of_section(at / kSectionBlocks).may_fit(gap, marks.skipped(), longest)) {
      at += kSectionBlocks;
      continue;
    }
    const Block& block = blocks_[at++];
    if (!summary_of(block).may_fit(gap, marks.skipped(), longest)) continue;
    for (size_t i = first ? index : block.begin; i < block.entries.size(); ++i) {
      if (fits(block.entries[i], gap, marks, by_shares)) return &block.entries[i];
    }
  }
  return nullptr;
}

size_t WaitQueue::count(const OrderKey& from, const OrderKey& to, size_t most) const {
  size_t count = 0;
  for (size_t at = block_of(from); at < blocks_.size() && count <= most; ++at) {
    const std::vector<Entry>& entries = blocks_[at].entries;
    const auto live = entries.begin() + static_cast<std::ptrdiff_t>(blocks_[at].begin);
    const auto first = std::ranges::upper_bound(live, entries.end(), from, {}, &Entry::key);
    const auto last = std::ranges::upper_bound(first, entries.end(), to, {}, &Entry::key);
    count += static_cast<size_t>(last - first);
    if (last != entries.end()) break;
  }
  return count;
}

}  // namespace goban::core::scheduler
