#include "train/data/tar_writer.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <optional>
#include <regex>
#include <unordered_set>

#include "base/number.hpp"
#include "base/text.hpp"
#include "train/data/packed_file.hpp"
#include "train/data/tfrecord.hpp"

namespace goban::train::data {
namespace {

constexpr size_t kBlock = 512, kRecord = 10240, kNameBytes = 100;

/// A ustar header as Python's tarfile writes it.
std::string ustar_header(std::string_view name, size_t size, char type, bool of_member) {
  std::string out(kBlock, '\0');
  const auto put = [&](size_t at, std::string_view text) { out.replace(at, text.size(), text); };
  put(0, name.substr(0, kNameBytes));
  put(100, of_member ? "0000444" : "0000000");
  put(108, "0000000");
  put(116, "0000000");
  put(124, fmt::format("{:011o}", size));
  put(136, "00000000000");
  put(148, "        ");
  out[156] = type;
  put(257, "ustar");
  put(263, "00");
  if (of_member) {
    put(265, "bigdata");
    put(297, "bigdata");
  }
  const unsigned sum = std::accumulate(out.begin(), out.end(), 0U, [](unsigned total, char c) {
    return total + static_cast<unsigned char>(c);
  });
  put(148, fmt::format("{:06o}", sum));
  out[154] = '\0';
  return out;
}

void pad_to(std::string& out, size_t unit) { out.append((unit - out.size() % unit) % unit, '\0'); }

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// A PAX record, whose length counts its own digits.
std::string pax_record(std::string_view key, std::string_view value) {
  const size_t rest = key.size() + value.size() + 3;  // blank, '=', line feed
  size_t size = rest;
  while (size != rest + fmt::formatted_size("{}", size)) {
    size = rest + fmt::formatted_size("{}", size);
  }
  return fmt::format("{} {}={}\n", size, key, value);
}

/// Non-ASCII characters as '?', one each, as Python encodes.
std::string replaced(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) out += c;
    if (byte >= 0xc0) out += '?';
  }
  return out;
}

}  // namespace

std::string tar_member(std::string_view name, std::string_view bytes) {
  std::string out;
  if (name.size() > kNameBytes || !is_ascii(name)) {
    const std::string record = pax_record("path", name);
    out = ustar_header("././@PaxHeader", record.size(), 'x', false) + record;
    pad_to(out, kBlock);
  }
  out += ustar_header(replaced(name), bytes.size(), '0', true);
  out += bytes;
  pad_to(out, kBlock);
  return out;
}

struct ShardWriter::Impl {
  std::string before, after;  // of the number
  int digits = 0;
  ShardLimits limits;
  ShardFormat format = ShardFormat::Tar;
  std::unique_ptr<PackedFile> file;
  std::vector<std::string> paths, sources;
  std::string last_key;
  std::unordered_set<std::string> keys;  // of this shard
  int64_t repeated = 0;
  int64_t samples = 0, in_shard = 0, payload_bytes = 0, stored_bytes = 0;

  [[nodiscard]] std::string path_of(int64_t number) const {
    return fmt::format("{}{:0{}}{}", before, number, digits, after);
  }
  base::Status end_shard() {
    if (!file) return {};
    if (format == ShardFormat::Tar) {
      const int64_t with_end = stored_bytes + static_cast<int64_t>(2 * kBlock);
      const int64_t record = kRecord;
      const auto whole = (with_end + record - 1) / record * record;
      if (auto s = file->write(std::string(static_cast<size_t>(whole - stored_bytes), '\0')); !s) {
        return s;
      }
    }
    const base::Status done = file->finish();
    file.reset();
    return done;
  }
  base::Status begin_shard() {
    paths.push_back(path_of(static_cast<int64_t>(paths.size())));
    if (would_replace(paths.back(), sources)) {
      return base::usage_error(
          fmt::format("the shard '{}' is read from, and would be replaced", paths.back()),
          "write to another folder or name");
    }
    auto next = PackedFile::create(paths.back());
    if (!next) return base::failure(next.error());
    file = std::move(*next);
    keys.clear();
    in_shard = payload_bytes = stored_bytes = 0;
    return {};
  }
  base::Status write(std::string_view bytes) {
    stored_bytes += static_cast<int64_t>(bytes.size());
    return file->write(bytes);
  }
};

ShardWriter::ShardWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ShardWriter::~ShardWriter() = default;
ShardWriter::ShardWriter(ShardWriter&&) noexcept = default;
const std::vector<std::string>& ShardWriter::paths() const { return impl_->paths; }
int64_t ShardWriter::repeated() const { return impl_->repeated; }
int64_t ShardWriter::samples() const { return impl_->samples; }

base::Result<ShardWriter> ShardWriter::create(const std::string& pattern, ShardLimits limits) {
  static const std::regex numbered("([^%]*)%(?:0([0-9]{1,2}))?d([^%]*)");
  std::smatch found;
  const auto format = shard_format(pattern);
  if (!std::regex_match(pattern, found, numbered) || !format) {
    return base::usage_error(
        fmt::format("'{}' is not a pattern of shards", pattern),
        "give one number and a known ending, such as train-%06d.tar, .tar.gz, .tar.zst, .tfrecord");
  }
  auto impl = std::make_unique<Impl>();
  impl->before = found[1];
  impl->digits = found[2].matched ? std::stoi(found[2]) : 1;
  impl->after = found[3];
  impl->limits = limits;
  impl->format = *format;
  return ShardWriter(std::move(impl));
}

void ShardWriter::keep(std::vector<std::string> sources) { impl_->sources = std::move(sources); }

base::Status ShardWriter::add(const Sample& sample) {
  Impl& w = *impl_;
  const auto refused = [&](const std::string& why) {
    return base::bad_data({}, fmt::format("the sample '{}' {}", sample.key, why),
                          "rename the files of the source");
  };
  if (sample.key == w.last_key) return refused("comes twice in a row; readers would join both");
  for (const Field& field : sample.fields) {
    const std::string name = sample.key + "." + field.name;
    const auto parts = split_name(name);
    if (!parts || parts->key != sample.key || base::lowered(field.name) != field.name) {
      return refused(
          fmt::format("cannot be stored as '{}': readers split names at the first dot", name));
    }
    if (auto s = check_name(name, "the source", 0); !s) return s;
  }
  if (sample.fields.empty()) return refused("has no fields");
  if (!w.file || w.in_shard >= w.limits.samples || w.payload_bytes >= w.limits.payload_bytes) {
    if (auto s = w.end_shard(); !s) return s;
    if (auto s = w.begin_shard(); !s) return s;
  }
  if (!w.keys.insert(sample.key).second) ++w.repeated;
  std::vector<const Field*> fields;
  for (const Field& each : sample.fields) fields.push_back(&each);
  std::ranges::sort(fields, {}, [](const Field* each) -> const std::string& { return each->name; });
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0 && fields[i]->name == fields[i - 1]->name) {
      return refused(fmt::format("has two fields '{}'", fields[i]->name));
    }
    w.payload_bytes += static_cast<int64_t>(fields[i]->bytes.size());
    if (w.format != ShardFormat::Tar) continue;
    if (auto s = w.write(tar_member(sample.key + "." + fields[i]->name, fields[i]->bytes)); !s) {
      return s;
    }
  }
  if (w.format == ShardFormat::TfRecord) {
    if (auto s = w.write(tfrecord(to_example(sample))); !s) return s;
  }
  w.last_key = sample.key;
  ++w.in_shard;
  ++w.samples;
  return {};
}

std::vector<std::string> ShardWriter::left_over() const {
  namespace fs = std::filesystem;
  const auto normal = [](const std::string& path) {
    return fs::path(path).lexically_normal().string();
  };
  const auto count = static_cast<int64_t>(impl_->paths.size());
  const std::string first = normal(impl_->path_of(0));
  const size_t before = first.size() - static_cast<size_t>(impl_->digits) - impl_->after.size();
  const fs::path folder = fs::path(first).parent_path();
  std::map<int64_t, std::string> found;
  std::error_code error;
  fs::directory_iterator each(folder.empty() ? "." : folder, error);
  for (; !error && each != fs::directory_iterator(); each.increment(error)) {
    const std::string path = (folder / each->path().filename()).string();
    if (path.size() < first.size() || !path.ends_with(impl_->after)) continue;
    const auto number =
        base::parse_int(path.substr(before, path.size() - impl_->after.size() - before));
    if (number && *number >= count && normal(impl_->path_of(*number)) == path) {
      found[*number] = path;
    }
  }
  std::vector<std::string> out;
  for (auto& [number, path] : found) out.push_back(std::move(path));
  return out;
}

base::Status ShardWriter::finish() { return impl_->end_shard(); }

}  // namespace goban::train::data
