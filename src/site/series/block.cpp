#include "site/series/block.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/check.hpp"

namespace goban::site::series {
namespace {

constexpr unsigned kWidthBits = 0x1f;
constexpr unsigned kHasMarks = 0x20;
constexpr unsigned kNoValues = 0x40;
constexpr size_t kPadding = 8;
constexpr uint32_t kStepMax_ms = 7 * 24 * 3600 * 1000;
// Times in [1900, 2400]: their differences and sums stay far from overflow.
constexpr int64_t kTimeMax_ms = 13'600'000'000'000;

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// Number of slots from `first` on in the same clock hour; at least 1.
size_t slots_in_hour(const BlockHead& head, size_t first) {
  const int64_t time_ms = head.start_ms + static_cast<int64_t>(first) * head.step_ms;
  const int64_t hour_end_ms = (floor_div(time_ms, kHour_ms) + 1) * kHour_ms;
  const auto in_hour =
      static_cast<size_t>((hour_end_ms - time_ms + head.step_ms - 1) / head.step_ms);
  return std::min(in_hour, head.slots - first);
}

void put_code(std::string& out, uint16_t code, unsigned code_bytes) {
  if (code_bytes == 1) {
    put(out, static_cast<uint8_t>(code));
  } else {
    put(out, code);
  }
}

/// Packs code - `min` in `width` bits each, low bits first; marks are packed as 0.
void pack(std::string& out, std::span<const uint16_t> codes, uint16_t min, unsigned width) {
  uint64_t bits = 0;
  unsigned held = 0;
  for (const uint16_t code : codes) {
    if (is_value(code)) bits |= static_cast<uint64_t>(code - min) << held;
    for (held += width; held >= 8; held -= 8, bits >>= 8) out.push_back(static_cast<char>(bits));
  }
  if (held > 0) out.push_back(static_cast<char>(bits));
}

std::string mark_runs(std::span<const uint16_t> codes) {
  std::string runs;
  size_t end = 0;  // of the previous run
  for (size_t i = 0; i < codes.size();) {
    if (is_value(codes[i])) {
      ++i;
      continue;
    }
    size_t last = i + 1;
    while (last < codes.size() && codes[last] == codes[i]) ++last;
    put_varint(runs, i - end);
    put_varint(runs, last - i);
    put(runs, static_cast<uint8_t>(state_of(codes[i])));
    i = end = last;
  }
  return runs;
}

void append_hour(std::string& directory, std::string& data, std::span<const uint16_t> codes,
                 unsigned code_bytes) {
  Hour hour;
  hour.min = kLargestCode;
  for (const uint16_t code : codes) {
    if (!is_value(code)) {
      hour.not_available += code == kNotAvailableCode;
      hour.stale += code == kStaleCode;
      continue;
    }
    ++hour.values;
    hour.min = std::min(hour.min, code);
    hour.max = std::max(hour.max, code);
    hour.sum += code;
  }
  unsigned flags = 0;
  if (hour.values == 0) {
    flags = kNoValues;
  } else {
    flags = static_cast<unsigned>(std::bit_width(static_cast<unsigned>(hour.max - hour.min)));
  }
  if (hour.values < codes.size()) flags |= kHasMarks;
  put(directory, static_cast<uint8_t>(flags));
  if (hour.values > 0) put_code(directory, hour.min, code_bytes);
  if ((flags & kWidthBits) > 0) {
    put_code(directory, hour.max, code_bytes);
    put_varint(directory, hour.sum - hour.values * hour.min);
    pack(data, codes, hour.min, flags & kWidthBits);
  }
  if ((flags & kHasMarks) != 0) {
    const std::string runs = mark_runs(codes);
    put_varint(directory, hour.values);
    put_varint(directory, hour.not_available);
    put_varint(directory, hour.stale);
    put_varint(directory, runs.size());
    data += runs;
  }
}

bool apply_marks(const Hour& hour, std::span<uint16_t> out) {
  static constexpr std::array<uint16_t, 4> kCodes{0, kNotAvailableCode, kStaleCode, kMissingCode};
  ByteReader marks(hour.marks);
  size_t at = 0;
  uint64_t marked = 0;
  while (marks.left() > 0) {
    const uint64_t gap = marks.varint();
    const uint64_t length = marks.varint();
    const auto state = marks.get<uint8_t>();
    if (!marks.good() || state == 0 || state >= kCodes.size()) return false;
    if (gap > out.size() - at || length > out.size() - at - gap) return false;
    at += gap;
    std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(at), length, kCodes[state]);
    at += length;
    marked += length;
  }
  return marked == hour.count - hour.values;
}

}  // namespace

void append_block(std::string& out, const BlockHead& head, std::span<const uint16_t> codes,
                  uint16_t code_max) {
  GOBAN_CHECK(head.slots == codes.size() && head.slots > 0 && head.slots <= kSlotsMax);
  GOBAN_CHECK(head.step_ms > 0 && head.step_ms <= kStepMax_ms);
  const unsigned code_bytes = code_max < 256 ? 1 : 2;
  std::string directory;
  std::string data;
  for (size_t first = 0; first < codes.size();) {
    const size_t count = slots_in_hour(head, first);
    append_hour(directory, data, codes.subspan(first, count), code_bytes);
    first += count;
  }
  put(out, head.series);
  put(out, head.step_ms);
  put(out, head.start_ms);
  put(out, head.slots);
  put(out, head.jitter_ms);
  put(out, static_cast<uint8_t>(code_bytes));
  put(out, static_cast<uint32_t>(directory.size()));
  out += directory;
  out += data;
  out.append(kPadding, '\0');
}

std::optional<BlockHead> BlockView::head_of(std::span<const uint8_t> bytes) {
  ByteReader reader(bytes);
  BlockHead head;
  head.series = reader.get<uint32_t>();
  head.step_ms = reader.get<uint32_t>();
  head.start_ms = reader.get<int64_t>();
  head.slots = reader.get<uint32_t>();
  head.jitter_ms = reader.get<uint32_t>();
  const bool sane = reader.good() && head.slots > 0 && head.slots <= kSlotsMax &&
                    head.step_ms > 0 && head.step_ms <= kStepMax_ms &&
                    head.start_ms > -kTimeMax_ms && head.start_ms < kTimeMax_ms;
  if (!sane) return std::nullopt;
  return head;
}

std::optional<BlockView> BlockView::parse(std::span<const uint8_t> bytes) {
  const auto head = head_of(bytes);
  if (!head) return std::nullopt;
  constexpr size_t kHeadBytes = 24;
  ByteReader reader(bytes.subspan(kHeadBytes));
  BlockView view;
  view.head_ = *head;
  view.code_bytes_ = reader.get<uint8_t>();
  view.directory_ = reader.take(reader.get<uint32_t>());
  view.data_ = reader.rest();
  if (!reader.good() || view.code_bytes_ < 1 || view.code_bytes_ > 2) return std::nullopt;
  if (view.data_.size() < kPadding) return std::nullopt;
  return view;
}

size_t BlockView::slot_from(const BlockHead& head, int64_t time_ms) {
  if (time_ms <= head.start_ms) return 0;
  if (time_ms > head.last_ms()) return head.slots;
  return static_cast<size_t>((time_ms - head.start_ms + head.step_ms - 1) / head.step_ms);
}

size_t BlockView::slot_to(const BlockHead& head, int64_t time_ms) {
  if (time_ms < head.start_ms) return 0;
  if (time_ms >= head.last_ms()) return head.slots;
  return static_cast<size_t>((time_ms - head.start_ms) / head.step_ms) + 1;
}

BlockView::Walk::Walk(const BlockView& block)
    : block_(block), directory_(block.directory_), data_(block.data_) {}

bool BlockView::Walk::next() {
  if (damaged_ || next_slot_ == block_.head_.slots) return false;
  hour_ = {};
  hour_.first = next_slot_;
  hour_.count = slots_in_hour(block_.head_, next_slot_);
  next_slot_ += hour_.count;
  damaged_ = !read_entry();
  return !damaged_;
}

bool BlockView::Walk::read_entry() {
  const auto code = [&]() -> uint16_t {
    if (block_.code_bytes_ == 1) return directory_.get<uint8_t>();
    return directory_.get<uint16_t>();
  };
  const unsigned flags = directory_.get<uint8_t>();
  hour_.width = flags & kWidthBits;
  if (hour_.width > 16) return false;
  hour_.values = hour_.count;
  if ((flags & kNoValues) == 0) hour_.min = hour_.max = code();
  uint64_t above_min = 0;
  if (hour_.width > 0) {
    hour_.max = code();
    above_min = directory_.varint();
    hour_.packed = data_.take((hour_.count * hour_.width + 7) / 8);
  }
  if ((flags & kHasMarks) != 0) {
    hour_.values = directory_.varint();
    hour_.not_available = directory_.varint();
    hour_.stale = directory_.varint();
    hour_.marks = data_.take(directory_.varint());
  }
  if (!directory_.good() || !data_.good() || data_.left() < kPadding) return false;
  if (hour_.values > hour_.count || hour_.not_available > hour_.count ||
      hour_.stale > hour_.count || hour_.max < hour_.min || !is_value(hour_.max)) {
    return false;
  }
  if ((flags & kNoValues) != 0 && hour_.values > 0) return false;
  hour_.sum = hour_.values * hour_.min + above_min;
  return true;
}

bool unpack(const Hour& hour, std::span<uint16_t> out) {
  if (hour.width == 0) {
    std::ranges::fill(out, hour.min);
  } else {
    const uint8_t* bytes = hour.packed.data();
    const uint64_t mask = (uint64_t{1} << hour.width) - 1;
    size_t bit = 0;
    uint64_t above = 0;  // all bits seen: one comparison per hour instead of one per code
    for (uint16_t& code : out) {
      uint64_t word = 0;
      std::memcpy(&word, bytes + (bit >> 3), sizeof word);
      const uint64_t offset = (word >> (bit & 7)) & mask;
      above = std::max(above, offset);
      code = static_cast<uint16_t>(hour.min + offset);
      bit += hour.width;
    }
    if (hour.min + above > hour.max) return false;
  }
  return apply_marks(hour, out);
}

bool BlockView::count(size_t from, size_t to, CodeCounts& counts) const {
  bool good = true;
  thread_local std::vector<uint16_t> codes;
  const bool walked = for_each_hour([&](const Hour& hour) {
    if (hour.first >= to) return false;
    if (hour.first + hour.count <= from) return true;
    const size_t begin = std::max(from, hour.first) - hour.first;
    const size_t end = std::min(to, hour.first + hour.count) - hour.first;
    if (hour.width == 0 && hour.marks.empty()) {
      counts.add_value(hour.min, static_cast<uint32_t>(end - begin));
      return true;
    }
    codes.resize(hour.count);
    good = unpack(hour, codes);
    if (!good) return false;
    if (hour.marks.empty()) {
      counts.add_values(std::span(codes).subspan(begin, end - begin), hour.min, hour.max);
    } else {
      for (size_t i = begin; i < end; ++i) counts.add(codes[i]);
    }
    return true;
  });
  return walked && good;
}

bool BlockView::decode(std::vector<uint16_t>& out) const {
  out.resize(head_.slots);
  bool good = true;
  const bool walked = for_each_hour([&](const Hour& hour) {
    good = unpack(hour, std::span(out).subspan(hour.first, hour.count));
    return good;
  });
  return walked && good;
}

}  // namespace goban::site::series
