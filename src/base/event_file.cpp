#include "base/event_file.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <vector>

#include "base/crc32c.hpp"
#include "base/protobuf_fields.hpp"

namespace goban::base {

namespace {

using Fields = ProtobufFields;

/// Numbers of fields: tensorflow/core/util/event.proto, framework/summary.proto, tensor.proto.
namespace event {
constexpr uint64_t kWallTime = 1;
constexpr uint64_t kStep = 2;
constexpr uint64_t kSummary = 5;
}  // namespace event
constexpr uint64_t kSummaryValue = 1;
namespace summary_value {
constexpr uint64_t kTag = 1;
constexpr uint64_t kSimpleValue = 2;
constexpr uint64_t kTensor = 8;
}  // namespace summary_value
namespace tensor {
constexpr uint64_t kType = 1;
constexpr uint64_t kShape = 2;
constexpr uint64_t kContent = 4;
constexpr uint64_t kFloats = 5;
constexpr uint64_t kDoubles = 6;
constexpr uint64_t kTypeFloat = 1;
constexpr uint64_t kTypeDouble = 2;
}  // namespace tensor

/// TensorShapeProto: has a field 2 for each dimension; field 3 says that the rank is unknown.
bool is_scalar_shape(std::string_view shape) {
  Fields fields(shape);
  return !fields.next() && !fields.damaged();
}

/// The value of a scalar tensor of floats or doubles.
std::optional<double> tensor_value(std::string_view message) {
  uint64_t type = 0;
  std::string_view floats, doubles, content;
  Fields fields(message);
  while (const auto part = fields.next()) {
    if (part->number == tensor::kType && part->wire == Fields::kVarint) type = part->value;
    if (part->wire == Fields::kVarint) continue;
    if (part->number == tensor::kShape && !is_scalar_shape(part->bytes)) return std::nullopt;
    if (part->number == tensor::kContent) content = part->bytes;
    if (part->number == tensor::kFloats) floats = part->bytes;  // packed or not: the same bytes
    if (part->number == tensor::kDoubles) doubles = part->bytes;
  }
  if (fields.damaged()) return std::nullopt;
  if (type == tensor::kTypeFloat) {
    const std::string_view bytes = content.empty() ? floats : content;
    if (bytes.size() != sizeof(float)) return std::nullopt;
    return number_in<float>(bytes);
  }
  if (type != tensor::kTypeDouble) return std::nullopt;
  const std::string_view bytes = content.empty() ? doubles : content;
  if (bytes.size() != sizeof(double)) return std::nullopt;
  return number_in<double>(bytes);
}

void take_value(std::string_view message, Scalar scalar, const TakeScalar& take) {
  std::string_view tag;
  std::optional<double> value;
  Fields fields(message);
  while (const auto part = fields.next()) {
    if (part->number == summary_value::kTag && part->wire == Fields::kBytes) tag = part->bytes;
    if (part->number == summary_value::kSimpleValue && part->wire == Fields::kFixed32) {
      value = number_in<float>(part->bytes);
    }
    if (part->number == summary_value::kTensor && part->wire == Fields::kBytes) {
      value = tensor_value(part->bytes);
    }
  }
  if (fields.damaged() || !value || tag.empty()) return;
  scalar.value = *value;
  take(tag, scalar);
}

/// False: the record is no Event.
bool take_event(std::string_view record, const TakeScalar& take) {
  Scalar scalar;
  std::string_view summary;
  Fields fields(record);
  while (const auto part = fields.next()) {
    if (part->number == event::kWallTime && part->wire == Fields::kFixed64) {
      scalar.at_s = number_in<double>(part->bytes).value_or(0);
    }
    if (part->number == event::kStep && part->wire == Fields::kVarint) {
      scalar.step = static_cast<int64_t>(part->value);
    }
    if (part->number == event::kSummary && part->wire == Fields::kBytes) summary = part->bytes;
  }
  if (fields.damaged()) return false;
  Fields values(summary);
  while (const auto value = values.next()) {
    if (value->number == kSummaryValue && value->wire == Fields::kBytes) {
      take_value(value->bytes, scalar, take);
    }
  }
  return !values.damaged();
}

/// Bytes of a file by position, read in blocks: larger ones as long as they adjoin.
class Window {
 public:
  Window(const ReadAt& read_at, size_t block_bytes) : read_at_(read_at), block_(block_bytes) {}
  [[nodiscard]] int64_t bytes_read() const { return bytes_read_; }

  /// `size` bytes, at most a block, from `offset` on; nullopt if the file has fewer.
  std::optional<std::string_view> at(int64_t offset, size_t size) {
    const int64_t end = begin_ + static_cast<int64_t>(size_);
    if (offset < begin_ || offset + static_cast<int64_t>(size) > end) {
      next_bytes_ = offset > end ? kFirstBytes : std::min(2 * next_bytes_, block_.size());
      begin_ = offset;
      size_ = read_at_(offset, std::span(block_).first(std::max(next_bytes_, size)));
      bytes_read_ += static_cast<int64_t>(size_);
      if (size_ < size) return std::nullopt;
    }
    return std::string_view(block_.data() + (offset - begin_), size);
  }

 private:
  static constexpr size_t kFirstBytes = 4096;
  const ReadAt& read_at_;
  std::vector<char> block_;
  size_t next_bytes_ = kFirstBytes;
  int64_t begin_ = 0;
  size_t size_ = 0;
  int64_t bytes_read_ = 0;
};

}  // namespace

EventFilePart read_scalars(const ReadAt& read_at, const TakeScalar& take,
                           const EventFileLimits& limits) {
  constexpr size_t kHeadBytes = sizeof(uint64_t) + sizeof(uint32_t);
  constexpr size_t kFootBytes = sizeof(uint32_t);
  constexpr uint64_t kSizeMax = uint64_t{1} << 40;  // no overflow of offsets
  constexpr size_t kBlockBytesMin = 4096;
  Window window(read_at, std::max(kBlockBytesMin, static_cast<size_t>(limits.record_bytes_max) +
                                                      kHeadBytes + kFootBytes));
  EventFilePart out;
  int64_t offset = 0;
  const auto damaged = [&](const char* what) {
    out.problem = fmt::format("the record at byte {} {}", offset, what);
  };
  while (true) {
    out.bytes_read = window.bytes_read();
    const auto head = window.at(offset, kHeadBytes);
    if (!head) break;
    const uint64_t size = *number_in<uint64_t>(*head);
    if (masked_crc32c(head->substr(0, sizeof size)) !=
        *number_in<uint32_t>(head->substr(sizeof size))) {
      damaged("has a wrong checksum of its length");
      break;
    }
    if (size > kSizeMax) {
      damaged("is too long");
      break;
    }
    const auto whole = static_cast<int64_t>(kHeadBytes + size + kFootBytes);
    if (size <= limits.record_bytes_max) {
      const auto body = window.at(offset + static_cast<int64_t>(kHeadBytes), size + kFootBytes);
      if (!body) break;
      if (masked_crc32c(body->substr(0, size)) != *number_in<uint32_t>(body->substr(size))) {
        damaged("has a wrong checksum");
        break;
      }
      if (!take_event(body->substr(0, size), take)) {
        damaged("is not an event");
        break;
      }
    } else if (!window.at(offset + whole - 1, 1)) {
      break;  // it is being written
    }
    ++out.records;
    offset += whole;
    if (window.bytes_read() >= limits.bytes_max) {
      out.was_cut = window.at(offset, 1).has_value();
      break;
    }
  }
  out.bytes_read = window.bytes_read();
  return out;
}

}  // namespace goban::base
