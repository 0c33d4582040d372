#include "train/data/sample.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "train/data/tar_reader.hpp"
#include "train/data/tfrecord.hpp"

namespace goban::train::data {

const std::string* Sample::find(std::string_view name) const {
  const auto found = std::ranges::find(fields, name, &Field::name);
  return found == fields.end() ? nullptr : &found->bytes;
}

std::string Sample::place() const {
  return fmt::format("{}, sample '{}' at byte {}", shard, key, offset);
}

std::optional<MemberName> split_name(std::string_view name) {
  // WebDataset: ^__[^/]*__($|/)
  if (name.starts_with("__")) {
    const std::string_view first = name.substr(0, name.find('/'));
    if (first.size() >= 4 && first.ends_with("__")) return std::nullopt;
  }
  const size_t slash = name.rfind('/');
  const size_t base = slash == std::string_view::npos ? 0 : slash + 1;
  const size_t dot = name.find('.', base);
  if (dot == std::string_view::npos || dot == base) return std::nullopt;
  return MemberName{name.substr(0, dot), name.substr(dot + 1)};
}

base::Status check_name(std::string_view name, const std::string& shard, int64_t offset) {
  const auto bad = [&](const char* why) {
    return base::bad_data({shard, 0, 0, ""},
                          fmt::format("the member '{}' at byte {} {}",
                                      base::printable(name.substr(0, 200)), offset, why),
                          "write the shard again, with relative names");
  };
  if (name.starts_with('/')) return bad("has an absolute path");
  const bool control =
      std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < ' '; });
  if (control) return bad("has a control character in its name");
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    if (name.substr(begin, end - begin) == "..") return bad("leaves its folder ('..')");
    begin = end + 1;
  }
  return {};
}

std::optional<ShardFormat> shard_format(std::string_view path) {
  const std::string name = base::lowered(path);
  for (const std::string_view end : {".tar", ".tgz", ".tar.gz", ".tar.zst"}) {
    if (name.ends_with(end)) return ShardFormat::Tar;
  }
  for (const std::string_view end : {".tfrecord", ".tfrecords", ".tfrecord.gz", ".tfrecords.gz"}) {
    if (name.ends_with(end)) return ShardFormat::TfRecord;
  }
  return std::nullopt;
}

base::Result<std::unique_ptr<ShardReader>> open_shard(const std::string& path) {
  const auto format = shard_format(path);
  if (!format) {
    return base::usage_error(fmt::format("'{}' is not the name of a shard", path),
                             "names end in .tar, .tgz, .tar.gz, .tar.zst, .tfrecord or .tfrecords");
  }
  return *format == ShardFormat::Tar ? open_tar(path) : open_tfrecords(path);
}

}  // namespace goban::train::data
