#include "series/prune.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <unistd.h>
#include <vector>

#include "series/month_file.hpp"
#include "series/store_reader.hpp"
#include "series/store_writer.hpp"

namespace goban::series {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kHoursOfDay = 24;

int64_t floor_of(int64_t value, int64_t step) { return value / step - (value % step < 0 ? 1 : 0); }

/// What the samples of an hour were.
struct HourSum {
  uint64_t sum = 0;
  uint32_t values = 0;
  uint32_t not_available = 0;
  uint32_t stale = 0;
  void add(uint16_t code) {
    if (is_value(code)) {
      sum += code;
      ++values;
    } else {
      ++(code == kNotAvailableCode ? not_available : stale);
    }
  }
  /// `samples`: so many an hour should have.
  [[nodiscard]] uint16_t code(int64_t samples) const {
    if (int64_t{values} * 2 >= samples) {
      return static_cast<uint16_t>(
          std::llround(static_cast<double>(sum) / static_cast<double>(values)));
    }
    if (not_available > 0) return kNotAvailableCode;
    return stale > 0 ? kStaleCode : kMissingCode;
  }
};

bool is_hourly(const StoreReader& month) {
  return std::ranges::all_of(month.tracks(), [](const Track& track) {
    return std::ranges::all_of(
        track.blocks, [](const BlockRef& block) { return block.head.step_ms >= kHour_ms; });
  });
}

/// Appends the hours of a device, a block a day.
base::Status append_hours(MonthFile& file, const DeviceKey& device,
                          const std::map<int64_t, uint16_t>& hours) {
  for (auto at = hours.begin(); at != hours.end();) {
    const int64_t first = at->first;
    const int64_t day = floor_of(first, kHoursOfDay);
    std::vector<uint16_t> codes;
    for (; at != hours.end() && floor_of(at->first, kHoursOfDay) == day; ++at) {
      codes.resize(static_cast<size_t>(at->first - first), kMissingCode);
      codes.push_back(at->second);
    }
    const BlockHead head{.series = 0,
                         .step_ms = static_cast<uint32_t>(kHour_ms),
                         .start_ms = first * kHour_ms + kHour_ms / 2,
                         .slots = static_cast<uint32_t>(codes.size()),
                         .jitter_ms = static_cast<uint32_t>(kHour_ms / 2)};
    if (auto status = file.append(device, head, codes); !status) return status;
  }
  return {};
}

base::Status write_hourly(const StoreReader& month, const std::string& path,
                          uint64_t& damaged_blocks) {
  auto file = MonthFile::open(path, month.metric(), static_cast<uint32_t>(kHour_ms));
  if (!file) return base::failure(file.error());
  std::vector<StoreReader::Code> codes;
  for (const Track& track : month.tracks()) {
    codes.clear();
    const Track* const one = &track;
    const VisitResult visit = month.read(std::span(&one, 1), INT64_MIN / 2, INT64_MAX / 2, codes);
    damaged_blocks += visit.damaged_blocks;
    const int64_t samples = kHour_ms / std::max<int64_t>(visit.step_ms, 1);
    std::map<int64_t, HourSum> sums;
    for (const StoreReader::Code& code : codes) {
      sums[floor_of(code.time_ms, kHour_ms)].add(code.code);
    }
    std::map<int64_t, uint16_t> hours;
    for (const auto& [hour, sum] : sums) {
      if (const uint16_t code = sum.code(samples); code != kMissingCode) hours[hour] = code;
    }
    if (auto status = append_hours(*file, track.device, hours); !status) return status;
  }
  return file->flush(true);
}

base::Status io_problem(const std::string& what, const std::string& path,
                        const std::error_code& error) {
  return base::failed(fmt::format("cannot {} {}: {}", what, path, error.message()),
                      "check free space and permissions");
}

/// The name of a file survives a power failure only when its folder was written, too.
base::Status sync_folder(const fs::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC);
  const bool good = file >= 0 && ::fsync(file) == 0;
  const std::error_code error(errno, std::generic_category());
  if (file >= 0) ::close(file);
  return good ? base::Status() : io_problem("write", folder.string(), error);
}

base::Status reduce_month(const std::string& path, Metric metric, PruneCounts& counts) {
  const auto month = StoreReader::open_file(path, metric);
  if (!month) return base::failure(month.error());
  if (is_hourly(*month)) return {};
  const std::string fresh = path + ".new";
  std::error_code error;
  fs::remove(fresh, error);  // of a prune that was cut short
  if (error) return io_problem("remove", fresh, error);
  if (auto status = write_hourly(*month, fresh, counts.damaged_blocks); !status) return status;
  counts.bytes_before += month->file_bytes();
  counts.bytes_after += fs::file_size(fresh, error);
  fs::rename(fresh, path, error);
  if (error) return io_problem("replace", path, error);
  ++counts.months_reduced;
  return sync_folder(fs::path(path).parent_path());
}

}  // namespace

base::Result<PruneCounts> prune(const std::string& store, Metric metric,
                                const PruneOptions& options) {
  const auto files = month_files(store, metric);
  if (!files) return base::failure(files.error());
  // No import may write meanwhile: a writer has the store's lock.
  const auto lock = StoreWriter::open(store, {});
  if (!lock) return base::failure(lock.error());
  PruneCounts counts;
  for (const auto& [month_ms, path] : *files) {
    if (month_ms < options.drop_before_ms) {
      std::error_code error;
      counts.bytes_before += fs::file_size(path, error);
      fs::remove(path, error);
      if (error) return base::failure(io_problem("remove", path, error).error());
      ++counts.months_dropped;
    } else if (month_ms < options.hourly_before_ms) {
      if (auto status = reduce_month(path, metric, counts); !status) {
        return base::failure(status.error());
      }
    }
  }
  return counts;
}

}  // namespace goban::series
