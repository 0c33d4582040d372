#include "site/series/store_reader.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>

#include "base/number.hpp"

namespace goban::site::series {
namespace {

constexpr std::string_view kSuffix = ".series";

std::chrono::year_month_day date_of(int64_t time_ms) {
  using std::chrono::floor;
  return floor<std::chrono::days>(
      std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(time_ms)));
}

int64_t month_start(std::chrono::year_month month) {
  const std::chrono::sys_time<std::chrono::milliseconds> start =
      std::chrono::sys_days(month / std::chrono::day(1));
  return start.time_since_epoch().count();
}

std::optional<int64_t> month_of_name(std::string_view name) {
  if (name.size() != 7 + kSuffix.size() || !name.ends_with(kSuffix) || name[4] != '-') {
    return std::nullopt;
  }
  const auto year = base::parse_int(name.substr(0, 4));
  const auto month = base::parse_int(name.substr(5, 2));
  if (!year || !month || *year < 1900 || *month < 1 || *month > 12) return std::nullopt;
  return month_start(std::chrono::year(static_cast<int>(*year)) /
                     std::chrono::month(static_cast<unsigned>(*month)));
}

/// "node1" of "node1.site"; an IP address unchanged.
std::string_view without_domain(std::string_view node) {
  const bool address = node.find_first_not_of("0123456789.") == std::string_view::npos;
  return address ? node : node.substr(0, node.find('.'));
}

/// Keeps one code per time: samples closer than half a step are merged.
void merge_moments(std::vector<StoreReader::Code>& codes, uint32_t step_ms) {
  std::ranges::stable_sort(codes, {}, &StoreReader::Code::time_ms);
  size_t kept = 0;
  for (size_t i = 0; i < codes.size(); ++i) {
    if (kept > 0 && codes[i].time_ms - codes[kept - 1].time_ms <= int64_t{step_ms} / 2) {
      codes[kept - 1].code = better_code(codes[kept - 1].code, codes[i].code);
    } else {
      codes[kept++] = codes[i];
    }
  }
  codes.resize(kept);
}

}  // namespace

int64_t month_of(int64_t time_ms) {
  const auto date = date_of(time_ms);
  return month_start(date.year() / date.month());
}

std::string month_name(int64_t time_ms) {
  const auto date = date_of(time_ms);
  return fmt::format("{:04}-{:02}{}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), kSuffix);
}

std::string encode(const FileHeader& header) {
  std::string out;
  put(out, header.version);
  put_text(out, header.metric);
  put(out, header.quantum);
  put(out, header.step_ms);
  return out;
}

std::optional<FileHeader> decode_header(std::span<const uint8_t> payload) {
  ByteReader reader(payload);
  FileHeader header;
  header.version = reader.get<uint32_t>();
  header.metric = reader.text();
  header.quantum = reader.get<double>();
  header.step_ms = reader.get<uint32_t>();
  if (!reader.good() || header.step_ms == 0) return std::nullopt;
  return header;
}

std::string encode(uint32_t series, const DeviceKey& device) {
  std::string out;
  put(out, series);
  put_text(out, device.node);
  put_text(out, device.device);
  put_text(out, device.uuid);
  return out;
}

base::Result<std::vector<std::pair<int64_t, std::string>>> month_files(const std::string& store,
                                                                       Metric metric) {
  std::vector<std::pair<int64_t, std::string>> files;
  std::error_code error;
  if (std::filesystem::exists(store, error) && !std::filesystem::is_directory(store, error)) {
    return base::bad_data({store, 0, 0, {}}, "is not a series store",
                          "name a folder that goban series import wrote");
  }
  if (!std::filesystem::is_directory(store, error)) {
    return base::failed(fmt::format("no series store at {}", store),
                        "create one with goban series import");
  }
  const auto folder = std::filesystem::path(store) / info(metric).name;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const auto month = month_of_name(at->path().filename().string());
    if (month) files.emplace_back(*month, at->path().string());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return base::failed(fmt::format("cannot read {}: {}", folder.string(), error.message()));
  }
  std::ranges::sort(files);
  return files;
}

base::Result<StoreReader> StoreReader::open(const std::string& store, Metric metric,
                                            int64_t from_ms, int64_t to_ms) {
  return open(std::span(&store, 1), metric, from_ms, to_ms);
}

base::Result<StoreReader> StoreReader::open(std::span<const std::string> stores, Metric metric,
                                            int64_t from_ms, int64_t to_ms) {
  StoreReader reader;
  reader.metric_ = &info(metric);
  // A block belongs to the month of its first sample and is at most a day long.
  constexpr int64_t kMonthAndDay_ms = 32 * kDay_ms;
  for (const std::string& store : stores) {
    const auto files = month_files(store, metric);
    if (!files) return base::failure(files.error());
    for (const auto& [month_ms, path] : *files) {
      if (month_ms > to_ms) continue;
      if (from_ms > INT64_MIN + kMonthAndDay_ms && month_ms < from_ms - kMonthAndDay_ms) continue;
      if (const auto added = reader.add_file(path); !added) return base::failure(added.error());
    }
  }
  reader.finish();
  return reader;
}

base::Result<StoreReader> StoreReader::open_file(const std::string& path, Metric metric) {
  StoreReader reader;
  reader.metric_ = &info(metric);
  if (const auto added = reader.add_file(path); !added) return base::failure(added.error());
  reader.finish();
  return reader;
}

base::Status StoreReader::add_file(const std::string& path) {
  auto file = MappedFile::open(path);
  if (!file) return base::failure(file.error());
  const auto bytes = file->bytes();
  file_bytes_ += bytes.size();
  RecordScanner scanner(bytes);
  StoreDamage damage{path, 0, 0};
  auto record = scanner.next();
  for (; record && !intact(*record); record = scanner.next()) {  // a header may be repeated
    damage.damaged_bytes += kRecordHead + record->payload.size();
  }
  if (record) {
    const auto header = decode_header(record->payload);
    if (record->type != RecordType::Header || !header || header->metric != metric_->name) {
      return base::bad_data({path, 0, 0, {}}, "not a series file of its folder's metric",
                            "move it away and import again");
    }
    if (header->version != kFormatVersion || header->quantum != metric_->quantum) {
      return base::bad_data(
          {path, 0, 0, {}},
          fmt::format("format version {}, resolution {}; this program reads "
                      "version {}, resolution {}",
                      header->version, header->quantum, kFormatVersion, metric_->quantum),
          "use the version of goban that wrote it");
    }
    step_ms_ = header->step_ms;
  }
  std::vector<Track*> by_number;
  for (record = scanner.next(); record; record = scanner.next()) {
    const size_t whole = kRecordHead + record->payload.size();
    if (record->type == RecordType::Series) {
      ByteReader reader(record->payload);
      const auto number = reader.get<uint32_t>();
      DeviceKey device{reader.text(), reader.text(), reader.text()};
      if (!reader.good() || !intact(*record) || number > by_number.size() + (1U << 20)) {
        damage.damaged_bytes += whole;
        continue;
      }
      Track*& track = by_device_[device];
      if (track == nullptr) track = &tracks_.emplace_back(Track{device, {}, false});
      if (number >= by_number.size()) by_number.resize(number + 1, nullptr);
      by_number[number] = track;
    } else if (record->type == RecordType::Block) {
      const auto head = BlockView::head_of(record->payload);
      if (!head || head->series >= by_number.size() || by_number[head->series] == nullptr) {
        damage.damaged_bytes += whole;
        continue;
      }
      by_number[head->series]->blocks.push_back({*head, *record, false});
    } else {
      damage.damaged_bytes += whole;
    }
  }
  damage.damaged_bytes += scanner.damaged_bytes();
  damage.torn_bytes = bytes.size() - scanner.end();
  if (damage.torn_bytes + damage.damaged_bytes > 0) damage_.push_back(damage);
  files_.push_back(std::move(*file));
  return {};
}

void StoreReader::finish() {
  for (Track& track : tracks_) {
    std::ranges::stable_sort(track.blocks, {}, [](const BlockRef& b) { return b.head.start_ms; });
    int64_t end_ms = INT64_MIN;
    for (const BlockRef& block : track.blocks) {
      track.overlaps = track.overlaps || block.head.start_ms <= end_ms;
      end_ms = std::max(end_ms, block.head.last_ms() + block.head.step_ms / 2);
    }
    if (!track.device.uuid.empty()) by_uuid_[track.device.uuid].push_back(&track);
    by_place_[{track.device.node, track.device.device}].push_back(&track);
    const auto [known, is_new] =
        full_names_.try_emplace(std::string(without_domain(track.device.node)), track.device.node);
    if (!is_new && known->second != track.device.node) known->second.clear();  // ambiguous
  }
}

const std::vector<const Track*>* StoreReader::at_place(const DeviceKey& device) const {
  auto at = by_place_.find({device.node, device.device});
  if (at == by_place_.end()) {
    const auto full = full_names_.find(without_domain(device.node));
    if (full == full_names_.end() || full->second.empty()) return nullptr;
    // a.x and a.y are different nodes; a and a.x are the same.
    const bool both =
        device.node.find('.') != std::string::npos && full->second.find('.') != std::string::npos;
    if (!both) at = by_place_.find({full->second, device.device});
  }
  return at == by_place_.end() ? nullptr : &at->second;
}

std::vector<const Track*> StoreReader::find(const DeviceKey& device) const {
  std::vector<const Track*> found;
  if (!device.uuid.empty()) {
    if (const auto at = by_uuid_.find(device.uuid); at != by_uuid_.end()) found = at->second;
  }
  if (device.node.empty() && !device.uuid.empty()) return found;
  if (const auto* at = at_place(device)) {
    for (const Track* track : *at) {
      // Excludes another GPU that had this index at another time.
      const bool other = !device.uuid.empty() && !track->device.uuid.empty();
      if (!other && std::ranges::find(found, track) == found.end()) found.push_back(track);
    }
  }
  return found;
}

std::optional<BlockView> StoreReader::view(const BlockRef& block) {
  if (!block.checked && !intact(block.record)) return std::nullopt;
  block.checked = true;
  return BlockView::parse(block.record.payload);
}

namespace {

/// The blocks of a track that may have samples of [from_ms, to_ms].
std::span<const BlockRef> blocks_in(const Track& track, int64_t from_ms, int64_t to_ms) {
  const auto start = [](const BlockRef& block) { return block.head.start_ms; };
  auto first = track.blocks.begin();
  // Without overlaps the ends ascend as the starts do.
  if (!track.overlaps) {
    first = std::ranges::lower_bound(track.blocks, from_ms, {},
                                     [](const BlockRef& block) { return block.head.last_ms(); });
  }
  const auto last = std::ranges::upper_bound(track.blocks, to_ms, {}, start);
  if (first >= last) return {};
  return {first, last};
}

}  // namespace

VisitResult StoreReader::count(std::span<const Track* const> tracks, int64_t from_ms, int64_t to_ms,
                               CodeCounts& counts) const {
  VisitResult result;
  if (tracks.size() > 1 || (tracks.size() == 1 && tracks[0]->overlaps)) {
    std::vector<Code> codes;
    result = read(tracks, from_ms, to_ms, codes);
    for (const Code& code : codes) counts.add(code.code);
    return result;
  }
  for (const Track* track : tracks) {
    for (const BlockRef& block : blocks_in(*track, from_ms, to_ms)) {
      const size_t from = BlockView::slot_from(block.head, from_ms);
      const size_t to = BlockView::slot_to(block.head, to_ms);
      if (from >= to) continue;
      const auto opened = view(block);
      if (!opened || !opened->count(from, to, counts)) {
        ++result.damaged_blocks;
        continue;
      }
      result.slots += to - from;
      result.step_ms = block.head.step_ms;
    }
  }
  return result;
}

VisitResult StoreReader::read(std::span<const Track* const> tracks, int64_t from_ms, int64_t to_ms,
                              std::vector<Code>& out) const {
  VisitResult result;
  const size_t begin = out.size();
  bool several = tracks.size() > 1;
  std::vector<uint16_t> codes;
  for (const Track* track : tracks) {
    several = several || track->overlaps;
    for (const BlockRef& block : blocks_in(*track, from_ms, to_ms)) {
      const size_t from = BlockView::slot_from(block.head, from_ms);
      const size_t to = BlockView::slot_to(block.head, to_ms);
      if (from >= to) continue;
      const auto opened = view(block);
      if (!opened || !opened->decode(codes)) {
        ++result.damaged_blocks;
        continue;
      }
      for (size_t i = from; i < to; ++i) {
        if (codes[i] == kMissingCode) continue;
        out.push_back(
            {block.head.start_ms + static_cast<int64_t>(i) * block.head.step_ms, codes[i]});
      }
      result.slots += to - from;
      result.step_ms = block.head.step_ms;
    }
  }
  if (several && result.step_ms > 0) {
    std::vector<Code> fresh(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end());
    merge_moments(fresh, result.step_ms);
    out.resize(begin);
    out.insert(out.end(), fresh.begin(), fresh.end());
  }
  return result;
}

}  // namespace goban::site::series
