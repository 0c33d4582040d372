#include "train/data/tfrecord.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

#include "base/byte_source.hpp"
#include "base/crc32c.hpp"
#include "base/number.hpp"
#include "base/protobuf_fields.hpp"
#include "base/text.hpp"

namespace goban::train::data {
namespace {

constexpr std::string_view kKeyFeature = "__key__";
constexpr size_t kGrowthBytes = size_t{1} << 20;

template <typename T>
void put_bytes(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

/// A length-delimited field of a message.
void put_field(std::string& out, uint32_t number, std::string_view bytes) {
  put_varint(out, number << 3 | 2);
  put_varint(out, bytes.size());
  out += bytes;
}

using Message = base::ProtobufFields;

void append_value(std::string& text, const std::string& value) {
  if (!text.empty()) text += ' ';
  text += value;
}

void append_floats(std::string& text, std::string_view bytes) {
  for (; bytes.size() >= sizeof(float); bytes.remove_prefix(sizeof(float))) {
    float value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    append_value(text, fmt::format("{}", value));
  }
}

/// Feature: 1 bytes_list, 2 float_list, 3 int64_list; each has its values in field 1. False if
/// damaged, or if there are several byte strings: only one has a place in a sample.
bool read_feature(std::string_view feature, std::string& out) {
  Message lists(feature);
  while (const auto list = lists.next()) {
    if (list->wire != 2) return false;
    Message values(list->bytes);
    bool first = true;
    while (const auto value = values.next()) {
      if (value->number != 1) continue;
      if (list->number == 1 && value->wire == 2) {
        if (!first) return false;
        out.assign(value->bytes);
      } else if (list->number == 2) {
        append_floats(out, value->bytes);
      } else if (list->number == 3 && value->wire == 0) {
        append_value(out, fmt::format("{}", static_cast<int64_t>(value->value)));
      } else if (list->number == 3 && value->wire == 2) {
        Message packed(value->bytes);
        while (!packed.at_end()) {
          const auto number = static_cast<int64_t>(packed.varint());
          if (packed.damaged()) return false;
          append_value(out, fmt::format("{}", number));
        }
      }
      first = false;
    }
    if (values.damaged()) return false;
  }
  return !lists.damaged();
}

/// One entry of the map of features: 1 the name, 2 the feature. False if damaged.
bool read_entry(std::string_view entry, Sample& sample) {
  Message parts(entry);
  std::string_view name, feature;
  while (const auto part = parts.next()) {
    if (part->wire != 2) return false;
    (part->number == 1 ? name : feature) = part->bytes;
  }
  std::string value;
  if (parts.damaged() || !read_feature(feature, value)) return false;
  if (name == kKeyFeature) {
    sample.key = std::move(value);
    return true;
  }
  if (std::ranges::find(sample.fields, name, &Field::name) != sample.fields.end()) return false;
  sample.fields.push_back({std::string(name), std::move(value)});
  return true;
}

class TfRecordReader final : public ShardReader {
 public:
  TfRecordReader(std::unique_ptr<base::ByteSource> source, std::string name)
      : source_(std::move(source)), name_(std::move(name)) {}

  base::Result<bool> next(Sample& sample) override {
    auto more = record();
    if (!more || !*more) return more;
    sample.fields.clear();
    sample.key.clear();
    sample.shard = name_;
    sample.offset = begin_;
    if (const auto s = from_example(record_, sample); !s) {
      return base::failure(broken(s.error().message).error());
    }
    if (sample.key.empty()) sample.key = fmt::format("{}", number_);
    if (auto s = check_name(sample.key, name_, begin_); !s) return base::failure(s.error());
    return true;
  }
  base::Result<bool> skip() override { return record(); }
  base::Result<bool> glance(uint32_t& sum) override {
    auto more = record();  // which reads and verifies all of it
    if (more && *more) sum = base::crc32c(fmt::format("{:08x} {:08x}", sum, sum_));
    return more;
  }

 private:
  base::Status broken(const std::string& what) const {
    return base::bad_data({name_, 0, 0, ""},
                          fmt::format("the record {} at byte {} {}", number_, begin_, what),
                          "the shard is truncated or damaged: fetch or write it again");
  }

  base::Result<bool> record() {
    constexpr size_t kHead = 12;
    begin_ = next_;
    ++number_;
    std::array<char, kHead> head{};
    const auto got = base::read_up_to(*source_, head.data(), kHead);
    if (!got) return base::failure(got.error());
    if (*got == 0) return false;
    uint64_t size = 0;
    uint32_t sum = 0;
    std::memcpy(&size, head.data(), sizeof size);
    std::memcpy(&sum, head.data() + sizeof size, sizeof sum);
    if (*got < kHead) return base::failure(broken("breaks off in its length").error());
    if (base::masked_crc32c({head.data(), sizeof size}) != sum) {
      return base::failure(broken("has a wrong checksum of its length").error());
    }
    if (size > kLargestField) {
      return base::failure(broken(fmt::format("declares {} bytes", size)).error());
    }
    record_.clear();
    const size_t whole = size + sizeof sum;
    while (record_.size() < whole) {
      const size_t have = record_.size();
      record_.resize(std::min(whole, std::max(2 * have, kGrowthBytes)));
      const auto count = base::read_up_to(*source_, record_.data() + have, record_.size() - have);
      if (!count) return base::failure(count.error());
      if (have + *count < record_.size()) {
        return base::failure(
            broken(fmt::format("has {} of {} bytes", have + *count, whole)).error());
      }
    }
    std::memcpy(&sum, record_.data() + size, sizeof sum);
    record_.resize(size);
    if (base::masked_crc32c(record_) != sum) {
      return base::failure(broken("has a wrong checksum").error());
    }
    sum_ = sum;
    next_ += static_cast<int64_t>(kHead + whole);
    return true;
  }

  std::unique_ptr<base::ByteSource> source_;
  std::string name_, record_;
  int64_t begin_ = 0, next_ = 0;
  int64_t number_ = -1;  ///< of the last record, from 0
  uint32_t sum_ = 0;     ///< of the last record
};

}  // namespace

std::string tfrecord(std::string_view bytes) {
  std::string out;
  put_bytes(out, static_cast<uint64_t>(bytes.size()));
  put_bytes(out, base::masked_crc32c(out));
  out += bytes;
  put_bytes(out, base::masked_crc32c(bytes));
  return out;
}

std::string to_example(const Sample& sample) {
  std::vector<const Field*> fields;
  const Field key{std::string(kKeyFeature), sample.key};
  if (!sample.key.empty()) fields.push_back(&key);
  for (const Field& each : sample.fields) fields.push_back(&each);
  std::ranges::sort(fields, {},
                    [](const Field* field) -> const std::string& { return field->name; });
  std::string features;
  for (const Field* field : fields) {
    std::string list, feature, entry;
    put_field(list, 1, field->bytes);
    put_field(feature, 1, list);
    put_field(entry, 1, field->name);
    put_field(entry, 2, feature);
    put_field(features, 1, entry);
  }
  std::string out;
  put_field(out, 1, features);
  return out;
}

base::Status from_example(std::string_view message, Sample& sample) {
  const auto damaged = [] {
    return base::bad_data({},
                          "is not a tf.train.Example whose features have different names and "
                          "not several byte values");
  };
  Message example(message);
  while (const auto features = example.next()) {
    if (features->number != 1) continue;
    if (features->wire != 2) return damaged();
    Message entries(features->bytes);
    while (const auto entry = entries.next()) {
      if (entry->number != 1) continue;
      if (entry->wire != 2 || !read_entry(entry->bytes, sample)) return damaged();
    }
    if (entries.damaged()) return damaged();
  }
  if (example.damaged()) return damaged();
  return {};
}

base::Result<std::unique_ptr<ShardReader>> open_tfrecords(const std::string& path) {
  const bool is_packed = base::lowered(path).ends_with(".gz");
  auto source = is_packed ? base::open_bytes(path) : base::open_plain(path);
  if (!source) return base::failure(source.error());
  return std::make_unique<TfRecordReader>(std::move(*source), path);
}

std::unique_ptr<ShardReader> read_tfrecords(std::string_view bytes, const std::string& name) {
  return std::make_unique<TfRecordReader>(std::make_unique<base::MemorySource>(bytes), name);
}

}  // namespace goban::train::data
