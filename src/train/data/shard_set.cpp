#include "train/data/shard_set.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/file_checksum.hpp"
#include "base/files.hpp"
#include "base/output_file.hpp"
#include "base/text.hpp"
#include "train/data/md5.hpp"
#include "train/data/sample.hpp"
#include "train/data/shard_list.hpp"

namespace goban::train::data {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kKind = "wids-shard-index-v1";
constexpr int64_t kMostSamples = int64_t{1} << 48;

base::Result<int64_t> size_of(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) {
    return base::failed(fmt::format("cannot read the shard '{}': {}", path, error.message()));
  }
  return static_cast<int64_t>(size);
}

base::Result<Shard> shard_from(const json& item, const fs::path& folder, const std::string& file,
                               size_t number) {
  const auto bad = [&](const char* field, const char* why) {
    return base::bad_data({file, 0, 0, fmt::format("shardlist[{}].{}", number, field)}, why,
                          "write the index again: goban-train data index");
  };
  if (!item.is_object()) return bad("", "must be an object");
  const auto text = [&](const char* field) -> std::string {
    const auto found = item.find(field);
    return found != item.end() && found->is_string() ? found->get<std::string>() : "";
  };
  const auto number_of = [&](const char* field) -> int64_t {
    const auto found = item.find(field);
    return found != item.end() && found->is_number_integer() ? found->get<int64_t>() : -1;
  };
  Shard out;
  const std::string url = text("url");
  if (url.empty() || url.find('\0') != std::string::npos) return bad("url", "must be a path");
  if (url.find("://") != std::string::npos) return bad("url", "must be a file; fetch it first");
  out.path = fs::path(url).is_absolute() ? url : (folder / url).lexically_normal().string();
  out.samples = number_of("nsamples");
  if (out.samples < 0 || out.samples > kMostSamples) {
    return bad("nsamples", "must be a number of samples");
  }
  out.bytes = item.contains("filesize") ? number_of("filesize") : 0;
  if (out.bytes < 0) return bad("filesize", "must be a number of bytes");
  out.md5 = base::lowered(text("md5sum"));
  return out;
}

base::Status check_sizes(const ShardSet& set) {
  for (const Shard& each : set.shards) {
    const auto size = size_of(each.path);
    if (!size) return base::failure(size.error());
    if (each.bytes != 0 && each.bytes != *size) {
      return base::bad_data({each.path, 0, 0, ""},
                            fmt::format("has {} bytes, its index says {}", *size, each.bytes),
                            "the shard is truncated or changed: fetch it again, or write the index "
                            "again with goban-train data index");
    }
  }
  return {};
}

base::Result<ShardSet> read_index(const std::string& path) {
  const auto text = base::read_small_file(path, size_t{256} << 20);
  if (!text) return base::failure(text.error());
  return from_wids(*text, fs::path(path).parent_path().string(), path);
}

/// Takes the counts from index.json beside the first shard. False if it does not describe all of
/// them as they are.
bool take_counts(ShardSet& set) {
  const std::string path =
      (fs::path(set.shards.front().path).parent_path() / "index.json").string();
  const auto index = base::exists(path) ? read_index(path) : base::Result<ShardSet>(ShardSet{});
  if (!index) return false;
  for (Shard& each : set.shards) {
    const std::string normal = fs::path(each.path).lexically_normal().string();
    const auto found = std::ranges::find(index->shards, normal, &Shard::path);
    const auto size = size_of(each.path);
    if (found == index->shards.end() || !size || *size != found->bytes) return false;
    const std::string given = each.path;
    each = *found;
    each.path = given;
  }
  return true;
}

}  // namespace

int64_t ShardSet::samples() const {
  int64_t out = 0;
  for (const Shard& each : shards) out += each.samples;
  return out;
}

uint32_t ShardSet::checksum() const {
  std::string text;
  for (const Shard& each : shards) {
    text += fmt::format("{} {} {} {}\n", fs::path(each.path).filename().string(), each.samples,
                        each.bytes, each.md5.empty() ? fmt::format("{:08x}", each.sum) : each.md5);
  }
  return base::crc32_of(text);
}

std::string to_wids(const ShardSet& set, const std::string& folder) {
  json list = json::array();
  for (const Shard& each : set.shards) {
    const fs::path relative =
        fs::path(each.path).lexically_proximate(folder.empty() ? "." : folder);
    const bool inside = !relative.empty() && *relative.begin() != "..";
    json item = {{"url", inside ? relative.string() : fs::absolute(each.path).string()},
                 {"nsamples", each.samples},
                 {"filesize", each.bytes}};
    if (!each.md5.empty()) item["md5sum"] = each.md5;
    list.push_back(std::move(item));
  }
  const json out = {
      {"__kind__", kKind}, {"wids_version", 1}, {"name", set.name}, {"shardlist", list}};
  return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

base::Result<ShardSet> from_wids(std::string_view text, const std::string& folder,
                                 const std::string& file) {
  const json index = json::parse(text, nullptr, false);
  const auto bad = [&](const char* field, const std::string& why) {
    return base::bad_data({file, 0, 0, field}, why, "write it again: goban-train data index");
  };
  if (!index.is_object()) return bad("", "is not a JSON object");
  if (index.value("__kind__", json()) != kKind) {
    return bad("__kind__", fmt::format("must be \"{}\"", kKind));
  }
  const auto list = index.find("shardlist");
  if (list == index.end() || !list->is_array()) return bad("shardlist", "must be a list");
  ShardSet out;
  const auto name = index.find("name");
  if (name != index.end() && name->is_string()) out.name = name->get<std::string>();
  int64_t total = 0;
  for (const json& item : *list) {
    auto shard = shard_from(item, folder, file, out.shards.size());
    if (!shard) return base::failure(shard.error());
    total += shard->samples;
    if (total > kMostSamples) return bad("shardlist", "has too many samples");
    out.shards.push_back(std::move(*shard));
  }
  return out;
}

namespace {

base::Status count_again(Shard& shard) {
  const int64_t told = shard.samples;
  if (auto s = count_samples(shard); !s) return s;
  if (shard.samples == told) return {};
  return base::failure(other_count(shard.path, shard.samples, told));
}

}  // namespace

base::Error other_count(const std::string& path, int64_t samples, int64_t told) {
  return {base::ErrorCode::BadData,
          fmt::format("has {} samples, its index says {}", samples, told),
          {path, 0, 0, ""},
          "write the index again: goban-train data index"};
}

base::Status count_samples(Shard& shard) {
  const auto reader = open_shard(shard.path);
  if (!reader) return base::failure(reader.error());
  shard.sum = 0;
  for (shard.samples = 0;; ++shard.samples) {
    const auto more = (*reader)->glance(shard.sum);
    if (!more) return base::failure(more.error());
    if (!*more) return {};
  }
}

base::Status sum_contents(ShardSet& set) {
  for (Shard& each : set.shards) {
    if (!each.md5.empty() || each.sum != 0) continue;
    if (auto s = count_again(each); !s) return s;
  }
  return {};
}

base::Status check_counts(ShardSet& set) {
  for (Shard& each : set.shards) {
    if (each.sum != 0) continue;
    if (auto s = count_again(each); !s) return s;
    if (!each.md5.empty()) each.sum = 0;
  }
  return {};
}

base::Result<Shard> describe_shard(const std::string& path) {
  Shard out;
  out.path = path;
  const auto size = size_of(path);
  if (!size) return base::failure(size.error());
  out.bytes = *size;
  if (auto s = count_samples(out); !s) return base::failure(s.error());
  auto sum = md5_of_file(path);
  if (!sum) return base::failure(sum.error());
  out.md5 = std::move(*sum);
  return out;
}

base::Status add_to_index(const std::string& path, const std::vector<std::string>& shards,
                          const std::vector<std::string>& left_over) {
  const std::string folder = fs::path(path).parent_path().string();
  ShardSet index;
  if (base::exists(path)) {
    const auto text = base::read_small_file(path);
    if (!text) return base::failure(text.error());
    auto old = from_wids(*text, folder, path);
    if (!old) return base::failure(old.error());
    index = std::move(*old);
  }
  if (index.name.empty()) index.name = fs::absolute(path).parent_path().filename().string();
  for (const std::string& shard : shards) {
    auto described = describe_shard(shard);
    if (!described) return base::failure(described.error());
    described->path = fs::path(shard).lexically_normal().string();
    std::erase_if(index.shards, [&](const Shard& each) { return each.path == described->path; });
    index.shards.push_back(std::move(*described));
  }
  std::erase_if(index.shards, [&](const Shard& each) {
    return !base::exists(each.path) || std::ranges::find(left_over, each.path) != left_over.end();
  });
  return base::write_file(path, to_wids(index, folder));
}

base::Result<ShardSet> open_shards(const std::string& text) {
  const auto paths = expand_shards(text);
  if (!paths) return base::failure(paths.error());
  ShardSet out;
  if (paths->size() == 1 && paths->front().ends_with(".json")) {
    auto index = read_index(paths->front());
    if (!index) return base::failure(index.error());
    out = std::move(*index);
    if (auto s = check_sizes(out); !s) return base::failure(s.error());
  } else {
    for (const std::string& path : *paths) out.shards.push_back({path, 0, 0, ""});
    if (!take_counts(out)) {
      for (Shard& each : out.shards) {
        const auto size = size_of(each.path);
        if (!size) return base::failure(size.error());
        each = {each.path, 0, *size, ""};
        if (auto s = count_samples(each); !s) return base::failure(s.error());
      }
    }
  }
  if (out.samples() == 0) {
    return base::bad_data({text, 0, 0, ""}, "has no samples", "members are named KEY.FIELD");
  }
  return out;
}

}  // namespace goban::train::data
