#include "train/data/sample_source.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

#include "base/files.hpp"
#include "base/text.hpp"
#include "train/data/image.hpp"

namespace goban::train::data {
namespace {

namespace fs = std::filesystem;

/// Paths relative to the folder, ordered so that the files of a sample are adjacent.
base::Result<std::vector<std::string>> files_in(const std::string& folder, LeftOut& left_out) {
  std::error_code error;
  std::vector<std::string> out;
  fs::recursive_directory_iterator each(folder, error);
  for (; !error && each != fs::recursive_directory_iterator(); each.increment(error)) {
    const fs::directory_entry& entry = *each;
    if (!entry.is_symlink(error) && entry.is_directory(error)) continue;
    const std::string name = entry.path().lexically_relative(folder).generic_string();
    if (!entry.is_regular_file(error)) {  // of a link: what it names
      ++left_out.others;
    } else if (!split_name(name)) {
      ++left_out.unnamed;
    } else {
      out.push_back(name);
    }
  }
  if (error) {
    return base::failed(fmt::format("cannot read the folder '{}': {}", folder, error.message()));
  }
  std::ranges::sort(out, {}, [](const std::string& name) {
    const auto parts = split_name(name);
    return std::pair(parts->key, parts->field);
  });
  return out;
}

}  // namespace

base::Status each_in_folder(const std::string& folder, const SampleSink& sink, LeftOut& left_out) {
  const auto files = files_in(folder, left_out);
  if (!files) return base::failure(files.error());
  for (size_t i = 0; i < files->size();) {
    Sample sample;
    sample.key = split_name((*files)[i])->key;
    sample.shard = folder + "/" + (*files)[i];
    for (; i < files->size() && split_name((*files)[i])->key == sample.key; ++i) {
      auto bytes = base::read_small_file(folder + "/" + (*files)[i], kLargestField);
      if (!bytes) return base::failure(bytes.error());
      sample.fields.push_back({base::lowered(split_name((*files)[i])->field), std::move(*bytes)});
    }
    if (const auto s = sink(sample); !s) {
      base::Error named = s.error();
      if (named.place.file.empty()) named.place.file = sample.shard;
      return base::failure(named);
    }
  }
  return {};
}

base::Status each_in_idx(const IdxArray& images, const IdxArray& labels, const SampleSink& sink) {
  const int64_t height = images.sizes.at(1), width = images.sizes.at(2);
  const auto size = static_cast<size_t>(width * height);
  for (size_t i = 0; i < labels.bytes.size(); ++i) {
    const std::string_view pixels(reinterpret_cast<const char*>(images.bytes.data()) + i * size,
                                  size);
    Sample sample;
    sample.key = fmt::format("{:08}", i);
    sample.fields = {{"cls", fmt::format("{}", labels.bytes[i])},
                     {"pgm", to_pgm(width, height, pixels)}};
    if (auto s = sink(sample); !s) return s;
  }
  return {};
}

base::Status each_in_shards(const ShardSet& set, const SampleSink& sink) {
  for (const Shard& shard : set.shards) {
    const auto reader = open_shard(shard.path);
    if (!reader) return base::failure(reader.error());
    for (int64_t count = 0;; ++count) {
      Sample sample;
      const auto more = (*reader)->next(sample);
      if (!more) return base::failure(more.error());
      if (!*more && count != shard.samples) {
        return base::failure(other_count(shard.path, count, shard.samples));
      }
      if (!*more) break;
      if (const auto s = sink(sample); !s) {
        base::Error named = s.error();
        if (named.place.file.empty()) named.place.file = sample.place();
        return base::failure(named);
      }
    }
  }
  return {};
}

}  // namespace goban::train::data
