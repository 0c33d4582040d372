#include "site/series/prune.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <vector>

#include "base/files.hpp"
#include "site/series/month_file.hpp"
#include "site/series/store_reader.hpp"
#include "site/series/store_writer.hpp"

namespace goban::site::series {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kHoursOfDay = 24;

int64_t floor_of(int64_t value, int64_t step) { return value / step - (value % step < 0 ? 1 : 0); }

bool is_hourly(const BlockRef& block) { return block.head.step_ms >= kHour_ms; }

bool is_hourly(const StoreReader& month) {
  return std::ranges::all_of(month.tracks(), [](const Track& track) {
    return std::ranges::all_of(track.blocks,
                               [](const BlockRef& block) { return is_hourly(block); });
  });
}

/// A sample, and the period that it stands for: its block's step.
struct Moment {
  int64_t time_ms = 0;
  uint32_t step_ms = 0;
  uint16_t code = kMissingCode;
};

/// Sums over the samples of an hour.
struct HourSum {
  double weighed = 0;     ///< sum of value times step_ms
  int64_t values_ms = 0;  ///< covered by values
  bool not_available = false;
  bool stale = false;
  void add(const Moment& moment) {
    if (is_value(moment.code)) {
      weighed += static_cast<double>(moment.code) * moment.step_ms;
      values_ms += moment.step_ms;
    } else {
      (moment.code == kNotAvailableCode ? not_available : stale) = true;
    }
  }
  [[nodiscard]] uint16_t code() const {
    if (values_ms * 2 >= kHour_ms) {
      return static_cast<uint16_t>(std::llround(weighed / static_cast<double>(values_ms)));
    }
    if (not_available) return kNotAvailableCode;
    return stale ? kStaleCode : kMissingCode;
  }
};

/// Of samples closer than half the finer of their steps, keeps the more informative one.
void merge_moments(std::vector<Moment>& moments) {
  std::ranges::stable_sort(moments, {}, &Moment::time_ms);
  size_t kept = 0;
  for (const Moment& next : moments) {
    Moment* const last = kept > 0 ? &moments[kept - 1] : nullptr;
    const bool same = last != nullptr &&
                      next.time_ms - last->time_ms <= std::min(last->step_ms, next.step_ms) / 2;
    if (!same) {
      moments[kept++] = next;
    } else if (better_code(last->code, next.code) != last->code) {
      last->code = next.code;
      last->step_ms = next.step_ms;
    }
  }
  moments.resize(kept);
}

/// Appends the hours of a device, one block per day; hours already in the file are unchanged.
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
    if (const auto known = file.drop_known(device, head, codes); !known) {
      return base::failure(known.error());
    }
    const bool empty = std::ranges::all_of(codes, [](uint16_t c) { return c == kMissingCode; });
    if (empty) continue;
    if (auto status = file.append(device, head, codes); !status) return status;
  }
  return {};
}

/// Copies a device's hourly blocks unchanged, and appends the hours of the others.
base::Status append_track(MonthFile& file, const Track& track, uint64_t& damaged_blocks) {
  std::vector<Moment> moments;
  std::vector<uint16_t> codes;
  for (const BlockRef& block : track.blocks) {
    const auto opened = StoreReader::view(block);
    if (!opened || !opened->decode(codes)) {
      ++damaged_blocks;
      continue;
    }
    if (is_hourly(block)) {
      if (auto status = file.append(track.device, block.head, codes); !status) return status;
      continue;
    }
    int64_t time_ms = block.head.start_ms;
    for (const uint16_t code : codes) {
      if (code != kMissingCode) moments.push_back({time_ms, block.head.step_ms, code});
      time_ms += block.head.step_ms;
    }
  }
  merge_moments(moments);
  std::map<int64_t, HourSum> sums;
  for (const Moment& moment : moments) sums[floor_of(moment.time_ms, kHour_ms)].add(moment);
  std::map<int64_t, uint16_t> hours;
  for (const auto& [hour, sum] : sums) {
    if (const uint16_t code = sum.code(); code != kMissingCode) hours[hour] = code;
  }
  return append_hours(file, track.device, hours);
}

base::Status write_hourly(const StoreReader& month, const std::string& path,
                          uint64_t& damaged_blocks) {
  auto file = MonthFile::open(path, month.metric(), static_cast<uint32_t>(kHour_ms));
  if (!file) return base::failure(file.error());
  for (const Track& track : month.tracks()) {
    if (auto status = append_track(*file, track, damaged_blocks); !status) return status;
  }
  return file->flush(true);
}

base::Status io_problem(const std::string& what, const std::string& path,
                        const std::error_code& error) {
  return base::failed(fmt::format("cannot {} {}: {}", what, path, error.message()),
                      "check free space and permissions");
}

base::Status reduce_month(const std::string& path, Metric metric, PruneCounts& counts) {
  const auto month = StoreReader::open_file(path, metric);
  if (!month) return base::failure(month.error());
  if (is_hourly(*month)) return {};
  const std::string fresh = path + ".new";
  std::error_code error;
  fs::remove(fresh, error);  // of an interrupted prune
  if (error) return io_problem("remove", fresh, error);
  if (auto status = write_hourly(*month, fresh, counts.damaged_blocks); !status) return status;
  counts.bytes_before += month->file_bytes();
  counts.bytes_after += fs::file_size(fresh, error);
  fs::rename(fresh, path, error);
  if (error) return io_problem("replace", path, error);
  ++counts.months_reduced;
  return base::sync_folder(fs::path(path).parent_path());  // or the new name may be lost
}

}  // namespace

base::Result<PruneCounts> prune(const std::string& store, Metric metric,
                                const PruneOptions& options) {
  const auto files = month_files(store, metric);
  if (!files) return base::failure(files.error());
  // Excludes concurrent imports: the writer holds the store's lock.
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

}  // namespace goban::site::series
