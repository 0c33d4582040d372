#include "site/series/month_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "site/series/mapped_file.hpp"
#include "site/series/record.hpp"
#include "site/series/store_reader.hpp"

namespace goban::site::series {

base::Status MonthFile::problem(const char* what) const {
  return base::failed(fmt::format("cannot {} {}: {}", what, path_, std::strerror(errno)),
                      "check free space and permissions");
}

base::Result<MonthFile> MonthFile::open(const std::string& path, const MetricInfo& metric,
                                        uint32_t step_ms) {
  MonthFile month(path, metric);
  month.file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (month.file_ < 0) return base::failure(month.problem("open").error());
  if (const auto loaded = month.load(step_ms); !loaded) return base::failure(loaded.error());
  return month;
}

MonthFile::MonthFile(MonthFile&& other) noexcept
    : path_(std::move(other.path_)),
      metric_(other.metric_),
      file_(std::exchange(other.file_, -1)),
      written_(other.written_),
      pending_(std::move(other.pending_)),
      numbers_(std::move(other.numbers_)),
      blocks_(std::move(other.blocks_)),
      cut_bytes_(other.cut_bytes_),
      damaged_bytes_(other.damaged_bytes_) {}

MonthFile::~MonthFile() {
  if (file_ >= 0) ::close(file_);
}

base::Status MonthFile::load(uint32_t step_ms) {
  const auto mapped = MappedFile::open(path_);
  if (!mapped) return base::failure(mapped.error());
  const auto bytes = mapped->bytes();
  RecordScanner scanner(bytes);
  size_t good_end = 0;
  size_t bad_bytes = 0;  // of records with a wrong checksum
  bool first = true;
  while (const auto record = scanner.next()) {
    const size_t whole = kRecordHead + record->payload.size();
    if (!intact(*record)) {
      bad_bytes += whole;
      continue;
    }
    if (first) {
      const auto header = decode_header(record->payload);
      if (record->type != RecordType::Header || !header || header->version != kFormatVersion ||
          header->metric != metric_->name || header->quantum != metric_->quantum) {
        return base::bad_data({path_, 0, 0, {}}, "not a series file of this version and metric",
                              "move it away and import again");
      }
    }
    first = false;
    damaged_bytes_ = scanner.damaged_bytes() + bad_bytes;
    good_end = scanner.end();
    take_record(bytes, record->offset, whole);
  }
  if (first && bytes.size() > kRecordHead + 64) {
    return base::bad_data({path_, 0, 0, {}}, "not a series file", "move it away and import again");
  }
  cut_bytes_ = bytes.size() - good_end;
  if (cut_bytes_ > 0 && ::ftruncate(file_, static_cast<off_t>(good_end)) != 0) {
    return problem("shorten");
  }
  written_ = good_end;
  for (const size_t head : scanner.torn_heads()) {
    if (head < good_end && ::pwrite(file_, "\0\0\0\0", 4, static_cast<off_t>(head)) != 4) {
      return problem("mend");
    }
  }
  if (first) {
    append_record(
        pending_, RecordType::Header,
        encode(FileHeader{kFormatVersion, std::string(metric_->name), metric_->quantum, step_ms}));
  }
  return {};
}

void MonthFile::take_record(std::span<const uint8_t> file, size_t offset, size_t bytes) {
  const auto record = RecordScanner(file.subspan(offset, bytes)).next();
  if (!record) return;
  if (record->type == RecordType::Series) {
    ByteReader reader(record->payload);
    const auto number = reader.get<uint32_t>();
    DeviceKey device{reader.text(), reader.text(), reader.text()};
    if (reader.good() && number <= blocks_.size()) {
      numbers_[std::move(device)] = number;
      blocks_.resize(std::max<size_t>(blocks_.size(), number + 1));
    }
  } else if (record->type == RecordType::Block) {
    const auto head = BlockView::head_of(record->payload);
    if (head && head->series < blocks_.size()) {
      blocks_[head->series].push_back({*head, offset + kRecordHead, record->payload.size()});
    }
  }
}

base::Result<std::vector<uint16_t>> MonthFile::read_block(const Place& place) const {
  std::string bytes(place.bytes, '\0');
  if (place.offset >= written_) {
    bytes = pending_.substr(place.offset - written_, place.bytes);
  } else if (::pread(file_, bytes.data(), bytes.size(), static_cast<off_t>(place.offset)) !=
             static_cast<ssize_t>(bytes.size())) {
    return base::failure(problem("read").error());
  }
  std::vector<uint16_t> codes;
  const auto view =
      BlockView::parse({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  if (!view || !view->decode(codes)) codes.assign(place.head.slots, kMissingCode);
  return codes;
}

base::Result<uint64_t> MonthFile::drop_known(const DeviceKey& device, const BlockHead& head,
                                             std::span<uint16_t> codes) const {
  const auto number = numbers_.find(device);
  if (number == numbers_.end()) return 0;
  uint64_t dropped = 0;
  for (const Place& place : blocks_[number->second]) {
    const int64_t half_ms = place.head.step_ms / 2;
    if (place.head.start_ms - half_ms > head.last_ms()) continue;
    if (place.head.last_ms() + half_ms < head.start_ms) continue;
    const auto known = read_block(place);
    if (!known) return base::failure(known.error());
    for (size_t i = 0; i < codes.size(); ++i) {
      if (codes[i] == kMissingCode) continue;
      const int64_t time_ms = head.start_ms + static_cast<int64_t>(i) * head.step_ms;
      const int64_t since_ms = time_ms - place.head.start_ms + half_ms;
      if (since_ms < 0) continue;
      const auto slot = static_cast<size_t>(since_ms / place.head.step_ms);
      if (slot >= known->size()) continue;
      if (better_code((*known)[slot], codes[i]) == (*known)[slot]) {
        codes[i] = kMissingCode;
        ++dropped;
      }
    }
  }
  return dropped;
}

base::Status MonthFile::append(const DeviceKey& device, BlockHead head,
                               std::span<const uint16_t> codes) {
  const auto [number, is_new] = numbers_.try_emplace(device, static_cast<uint32_t>(blocks_.size()));
  if (is_new) {
    append_record(pending_, RecordType::Series, encode(number->second, device));
    blocks_.emplace_back();
  }
  head.series = number->second;
  std::string block;
  append_block(block, head, codes, metric_->code_max);
  blocks_[head.series].push_back({head, written_ + pending_.size() + kRecordHead, block.size()});
  append_record(pending_, RecordType::Block, block);
  constexpr size_t kPendingMax = 1 << 20;
  return pending_.size() > kPendingMax ? flush(false) : base::Status{};
}

base::Status MonthFile::flush(bool sync) {
  while (!pending_.empty()) {
    const ssize_t count =
        ::pwrite(file_, pending_.data(), pending_.size(), static_cast<off_t>(written_));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return problem("write");
    written_ += static_cast<size_t>(count);
    pending_.erase(0, static_cast<size_t>(count));
  }
  if (sync && ::fdatasync(file_) != 0) return problem("write");
  return {};
}

}  // namespace goban::site::series
