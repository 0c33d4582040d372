#include "train/data/check_shards.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <set>
#include <unordered_map>

#include "base/counted.hpp"
#include "base/printable.hpp"
#include "train/data/image.hpp"
#include "train/data/md5.hpp"
#include "train/data/sample.hpp"
#include "train/data/tar_headers.hpp"

namespace goban::train::data {
namespace {

/// Fields by name, and the number of samples that have each.
using FieldCounts = std::map<std::string, int64_t>;

/// Keys that occur in several shards. Of each key it keeps a hash: a warning may be wrong.
class RepeatedKeys {
 public:
  void add(const Sample& sample) {
    const auto [found, is_new] =
        first_.emplace(std::hash<std::string>{}(sample.key), shards_.size() - 1);
    if (is_new || found->second + 1 == shards_.size()) return;
    if (++count_ == 1) {
      example_ = fmt::format("'{}' in {} and {}", base::printable(sample.key),
                             shards_[found->second], sample.shard);
    }
  }
  void begin(const std::string& shard) { shards_.push_back(shard); }
  void report(std::vector<std::string>& warnings) const {
    if (count_ == 0) return;
    warnings.push_back(fmt::format(
        "{} keys occur in several shards, the first is {}: shards of an earlier packing?", count_,
        example_));
  }

 private:
  std::vector<std::string> shards_;
  std::unordered_map<size_t, size_t> first_;  ///< hash of the key to its first shard
  int64_t count_ = 0;
  std::string example_;
};

base::Error in_shard(const Shard& shard, const std::string& what, const std::string& remedy) {
  return {base::ErrorCode::BadData, what, {shard.path, 0, 0, ""}, remedy};
}

void check_sample(const Sample& sample, FieldCounts& counts, ShardFindings& out) {
  for (const Field& field : sample.fields) {
    ++counts[field.name];
    out.bytes += static_cast<int64_t>(field.bytes.size());
    const std::string last = field.name.substr(field.name.rfind('.') + 1);
    if (!is_image_field(last)) continue;
    if (const auto image = decode_grey(field.bytes); !image) {
      base::Error error = image.error();
      error.place.file = sample.place();
      out.errors.push_back(std::move(error));
    }
  }
}

/// Reads all samples; returns their number. An error ends the shard.
int64_t check_samples(const Shard& shard, FieldCounts& counts, RepeatedKeys& repeated,
                      ShardFindings& out) {
  repeated.begin(shard.path);
  const auto reader = open_shard(shard.path);
  if (!reader) {
    out.errors.push_back(reader.error());
    return 0;
  }
  std::set<std::string> keys;
  for (int64_t count = 0;; ++count) {
    Sample sample;
    const auto more = (*reader)->next(sample);
    if (!more) out.errors.push_back(more.error());
    if (!more || !*more) return count;
    if (!keys.insert(sample.key).second) {
      out.errors.push_back({base::ErrorCode::BadData,
                            "the key occurs a second time in this shard",
                            {sample.place(), 0, 0, ""},
                            "keys must be unique, and the files of a sample adjacent"});
    }
    repeated.add(sample);
    check_sample(sample, counts, out);
  }
}

/// What the reader passes over.
void check_headers(const std::string& path, ShardFindings& out) {
  const auto links = check_tar_headers(path);
  if (!links) {
    out.errors.push_back(links.error());
  } else if (links->count > 0) {
    out.warnings.push_back(
        fmt::format("{}: passed over {}, as only files are samples; the first is '{}'", path,
                    base::counted(links->count, "link"), base::printable(links->first)));
  }
}

void check_against_index(const Shard& shard, int64_t samples, ShardFindings& out) {
  std::error_code error;
  const auto size = static_cast<int64_t>(std::filesystem::file_size(shard.path, error));
  const char* remedy = "fetch the shard again, or write the index again: goban-train data index";
  if (!error && shard.bytes != 0 && size != shard.bytes) {
    out.errors.push_back(
        in_shard(shard, fmt::format("has {} bytes, its index says {}", size, shard.bytes), remedy));
  }
  if (samples != shard.samples) {
    out.errors.push_back(in_shard(
        shard, fmt::format("has {} samples, its index says {}", samples, shard.samples), remedy));
  }
  if (shard.md5.empty()) return;
  const auto sum = md5_of_file(shard.path);
  if (!sum) {
    out.errors.push_back(sum.error());
  } else if (*sum != shard.md5) {
    out.errors.push_back(
        in_shard(shard, fmt::format("has the MD5 {}, its index says {}", *sum, shard.md5), remedy));
  }
}

}  // namespace

ShardFindings check_shards(const ShardSet& set) {
  ShardFindings out;
  FieldCounts counts;
  RepeatedKeys repeated;
  for (const Shard& shard : set.shards) {
    const size_t before = out.errors.size();
    const int64_t samples = check_samples(shard, counts, repeated, out);
    if (out.errors.size() == before) check_headers(shard.path, out);
    out.samples += samples;
    const bool whole = out.errors.size() == before;
    Shard told = shard;
    if (!whole) told.samples = samples;  // the error of structure says it better
    check_against_index(told, samples, out);
  }
  for (const auto& [name, count] : counts) {
    if (count != out.samples) {
      out.warnings.push_back(
          fmt::format("{} of {} samples have no '{}'", out.samples - count, out.samples, name));
    }
  }
  repeated.report(out.warnings);
  return out;
}

}  // namespace goban::train::data
