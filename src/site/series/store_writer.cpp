#include "site/series/store_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/check.hpp"
#include "base/number.hpp"
#include "site/series/store_reader.hpp"

namespace goban::site::series {
namespace {

int64_t day_of(int64_t time_ms) { return time_ms / kDay_ms - (time_ms % kDay_ms < 0 ? 1 : 0); }

}  // namespace

base::Result<std::unique_ptr<StoreWriter>> StoreWriter::open(const std::string& store,
                                                             const WriterOptions& options) {
  GOBAN_CHECK(options.step_ms >= 1000 && options.step_ms <= kHour_ms);
  std::error_code error;
  std::filesystem::create_directories(store, error);
  if (error) return base::failed(fmt::format("cannot create {}: {}", store, error.message()));
  std::unique_ptr<StoreWriter> writer(new StoreWriter(store, options));
  if (const auto locked = writer->lock(); !locked) return base::failure(locked.error());
  return writer;
}

StoreWriter::~StoreWriter() {
  if (lock_ >= 0) ::close(lock_);
}

base::Status StoreWriter::lock() {
  const std::string path = store_ + "/lock";
  lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0) {
    return base::failed(fmt::format("cannot write {}: {}", path, std::strerror(errno)),
                        "check that the folder is writable");
  }
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    return base::failed(fmt::format("another import is writing to {}", store_),
                        "wait until it is done");
  }
  return {};
}

uint16_t StoreWriter::code_of(const DeviceKey& device, const MetricInfo& metric, Reading reading) {
  switch (reading.state) {
    case State::Missing:
      return kMissingCode;
    case State::Stale:
      return kStaleCode;
    case State::NotAvailable:
      return kNotAvailableCode;
    case State::Value:
      break;
  }
  const double steps = std::round(reading.value / metric.quantum);
  if (!(steps >= 0 && steps <= metric.code_max)) {
    if (counts_.out_of_range++ == 0) {
      counts_.first_out_of_range =
          fmt::format("{} of {} {}: {} {}", metric.name, device.node, device.device,
                      base::number_text(reading.value), name(metric.unit));
    }
    return kMissingCode;
  }
  return static_cast<uint16_t>(steps);
}

void StoreWriter::place(Builder& builder, int64_t time_ms, uint16_t code) {
  const int64_t step_ms = options_.step_ms;
  BlockHead& head = builder.head;
  if (builder.codes.empty()) {
    head = {0, options_.step_ms, time_ms, 1, 0};
    builder.codes.push_back(code);
    return;
  }
  const int64_t since_ms = time_ms - head.start_ms + step_ms / 2;
  int64_t slot = since_ms / step_ms - (since_ms % step_ms < 0 ? 1 : 0);
  if (slot < 0) {
    builder.codes.insert(builder.codes.begin(), static_cast<size_t>(-slot), kMissingCode);
    head.start_ms += slot * step_ms;
    slot = 0;
  }
  const auto index = static_cast<size_t>(slot);
  if (index >= builder.codes.size()) builder.codes.resize(index + 1, kMissingCode);
  const auto off_ms = static_cast<uint32_t>(std::abs(time_ms - head.start_ms - slot * step_ms));
  head.jitter_ms = std::max(head.jitter_ms, off_ms);
  counts_.same_slot += builder.codes[index] != kMissingCode;
  builder.codes[index] = better_code(builder.codes[index], code);
}

base::Status StoreWriter::add(const DeviceKey& device, Metric metric, int64_t time_ms,
                              Reading reading) {
  ++counts_.given;
  const uint16_t code = code_of(device, info(metric), reading);
  if (code == kMissingCode) return {};
  if (last_key_ == nullptr || last_key_->first != metric || last_key_->second != device) {
    const auto at = builders_.try_emplace({metric, device}).first;
    last_key_ = &at->first;
    last_builder_ = &at->second;
  }
  Builder& builder = *last_builder_;
  const int64_t day = day_of(time_ms);
  if (builder.day != day) {
    if (const auto closed = close_block(*last_key_, builder); !closed) return closed;
    builder.day = day;
  }
  place(builder, time_ms, code);
  return {};
}

base::Status StoreWriter::add_codes(const DeviceKey& device, Metric metric, int64_t start_ms,
                                    std::span<const uint16_t> codes) {
  GOBAN_CHECK(codes.size() * static_cast<uint64_t>(options_.step_ms) <=
              static_cast<uint64_t>(kDay_ms));
  counts_.given += codes.size();
  Builder builder;
  builder.head = {0, options_.step_ms, start_ms, 0, 0};
  builder.codes.assign(codes.begin(), codes.end());
  return close_block({metric, device}, builder);
}

base::Status StoreWriter::close_block(const SeriesKey& key, Builder& builder) {
  if (builder.codes.empty()) return {};
  const auto& [metric, device] = key;
  const auto file = month(info(metric), builder.head.start_ms);
  if (!file) return base::failure(file.error());
  builder.head.slots = static_cast<uint32_t>(builder.codes.size());
  const auto known = (*file)->drop_known(device, builder.head, builder.codes);
  if (!known) return base::failure(known.error());
  counts_.already_there += *known;
  // Slots that are already in the store are trimmed from both ends.
  const auto has_code = [](uint16_t code) { return code != kMissingCode; };
  const auto first = std::ranges::find_if(builder.codes, has_code);
  base::Status status;
  if (first != builder.codes.end()) {
    const auto skipped = static_cast<size_t>(first - builder.codes.begin());
    size_t end = builder.codes.size();
    while (!has_code(builder.codes[end - 1])) --end;
    const auto codes = std::span(builder.codes).subspan(skipped, end - skipped);
    builder.head.start_ms += static_cast<int64_t>(skipped) * builder.head.step_ms;
    builder.head.slots = static_cast<uint32_t>(codes.size());
    counts_.written += static_cast<uint64_t>(std::ranges::count_if(codes, has_code));
    status = (*file)->append(device, builder.head, codes);
  }
  builder.codes.clear();
  return status;
}

base::Result<MonthFile*> StoreWriter::month(const MetricInfo& metric, int64_t time_ms) {
  const std::pair key{metric.metric, month_of(time_ms)};
  auto at = months_.find(key);
  if (at == months_.end()) {
    const auto folder = std::filesystem::path(store_) / metric.name;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) {
      return base::failed(fmt::format("cannot create {}: {}", folder.string(), error.message()));
    }
    auto opened =
        MonthFile::open((folder / month_name(time_ms)).string(), metric, options_.step_ms);
    if (!opened) return base::failure(opened.error());
    counts_.cut_bytes += opened->cut_bytes();
    counts_.damaged_bytes += opened->damaged_bytes();
    at = months_.emplace(key, std::move(*opened)).first;
  }
  return &at->second;
}

base::Status StoreWriter::finish() {
  for (auto& [key, builder] : builders_) {
    if (const auto closed = close_block(key, builder); !closed) return closed;
  }
  builders_.clear();
  last_key_ = nullptr;
  last_builder_ = nullptr;
  for (auto& [key, file] : months_) {
    if (const auto written = file.flush(options_.sync); !written) return written;
  }
  return {};
}

}  // namespace goban::site::series
