#include "site/series/record.hpp"

#include <algorithm>
#include <array>
#include <zlib.h>

#include "base/bytes.hpp"
#include "base/check.hpp"

namespace goban::site::series {

using base::ByteReader;
using base::put;
namespace {

constexpr std::array<uint8_t, 4> kMagic{'G', 'S', 'R', '1'};

uint32_t crc_of(std::span<const uint8_t> bytes) {
  return static_cast<uint32_t>(::crc32(0, bytes.data(), static_cast<uInt>(bytes.size())));
}

uint16_t head_check(uint16_t type, uint32_t size, uint32_t crc) {
  std::string head;
  put(head, type);
  put(head, size);
  put(head, crc);
  return static_cast<uint16_t>(
      crc_of({reinterpret_cast<const uint8_t*>(head.data()), head.size()}));
}

}  // namespace

void append_record(std::string& out, RecordType type, std::string_view payload) {
  GOBAN_CHECK(payload.size() <= kRecordBytesMax);
  const auto size = static_cast<uint32_t>(payload.size());
  const uint32_t crc = crc_of({reinterpret_cast<const uint8_t*>(payload.data()), payload.size()});
  out.append(kMagic.begin(), kMagic.end());
  put(out, static_cast<uint16_t>(type));
  put(out, head_check(static_cast<uint16_t>(type), size, crc));
  put(out, size);
  put(out, crc);
  out += payload;
}

bool intact(const Record& record) { return crc_of(record.payload) == record.crc; }

std::optional<Record> RecordScanner::at(size_t offset) {
  ByteReader reader(file_.subspan(offset));
  if (!std::ranges::equal(reader.take(kMagic.size()), kMagic)) return std::nullopt;
  const auto type = reader.get<uint16_t>();
  const auto check = reader.get<uint16_t>();
  const auto size = reader.get<uint32_t>();
  const auto crc = reader.get<uint32_t>();
  if (!reader.good() || check != head_check(type, size, crc)) return std::nullopt;
  const auto payload = reader.take(size);
  if (!reader.good()) {
    torn_heads_.push_back(offset);
    return std::nullopt;
  }
  return Record{static_cast<RecordType>(type), offset, crc, payload};
}

std::optional<Record> RecordScanner::next() {
  for (size_t offset = end_; offset + kRecordHead <= file_.size();) {
    if (const auto record = at(offset)) {
      damaged_bytes_ += offset - end_;
      end_ = offset + kRecordHead + record->payload.size();
      return record;
    }
    const auto rest = file_.subspan(offset + 1);
    const auto found = std::ranges::search(rest, kMagic);
    offset = static_cast<size_t>(found.begin() - file_.begin());
  }
  return std::nullopt;
}

}  // namespace goban::site::series
