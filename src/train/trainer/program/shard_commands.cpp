// goban-train data pack, index, check, cat, bench and tokens: shards of training data.
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <memory>

#include "base/clock.hpp"
#include "base/counted.hpp"
#include "base/files.hpp"
#include "base/output_file.hpp"
#include "base/printable.hpp"
#include "base/units.hpp"
#include "train/data/check_shards.hpp"
#include "train/data/image.hpp"
#include "train/data/packed_file.hpp"
#include "train/data/sample_source.hpp"
#include "train/data/shard_set.hpp"
#include "train/data/tar_headers.hpp"
#include "train/data/tar_writer.hpp"
#include "train/trainer/program/commands.hpp"

namespace goban::train::trainer {
namespace {

namespace fs = std::filesystem;
using base::command_line::Command;

constexpr const char* kShardsHelp =
    "Shards: paths with braces {000..011} and ::, or a wids index (.json)";

struct PackArguments {
  std::string source, to, folder = RunSettings().train.data_dir, largest = "3GB";
  int64_t count = 100'000, limit = 0;
};

/// Feeds the samples of what the user named: NAME:train, NAME:test, a folder, or shards.
base::Status feed_source(const PackArguments& a, data::ShardWriter& writer,
                         const data::SampleSink& sink) {
  const size_t colon = a.source.rfind(':');
  const std::string part = colon == std::string::npos ? "" : a.source.substr(colon + 1);
  if (part == "train" || part == "test") {
    const auto set = data::read_image_set(a.folder + "/" + a.source.substr(0, colon));
    if (!set) return base::failure(set.error());
    return part == "train" ? data::each_in_idx(set->train_images, set->train_labels, sink)
                           : data::each_in_idx(set->test_images, set->test_labels, sink);
  }
  std::error_code ignored;
  if (fs::is_directory(a.source, ignored)) {
    data::LeftOut left_out;
    const base::Status done = data::each_in_folder(a.source, sink, left_out);
    if (left_out.unnamed > 0) {
      fmt::print(stderr, "note: {} files have no name KEY.FIELD and are left out\n",
                 left_out.unnamed);
    }
    if (left_out.others > 0) {
      fmt::print(stderr,
                 "note: {} links to folders or to nothing, or pipes, sockets and devices, are left "
                 "out\n",
                 left_out.others);
    }
    return done;
  }
  const auto shards = data::open_shards(a.source);
  if (!shards) return base::failure(shards.error());
  std::vector<std::string> sources;
  data::TarLinks links;
  for (const data::Shard& each : shards->shards) {
    sources.push_back(each.path);
    const auto found = data::check_tar_headers(each.path);
    if (!found) return base::failure(found.error());
    if (links.count == 0) links.first = found->first;
    links.count += found->count;
  }
  if (links.count > 0) {
    fmt::print(stderr,
               "note: {} of the source left out, the first is '{}'; only files are samples\n",
               base::counted(links.count, "link"), base::printable(links.first));
  }
  writer.keep(std::move(sources));
  return data::each_in_shards(*shards, sink);
}

base::Status pack_shards(const PackArguments& a) {
  const auto largest = base::parse_bytes(a.largest);
  if (!largest) return base::failure(largest.error());
  if (*largest < 1) return base::usage_error("--max-size must be at least 1 byte");
  auto writer = data::ShardWriter::create(a.to, {a.count, *largest});
  if (!writer) return base::failure(writer.error());
  const auto sink = [&](const data::Sample& sample) -> base::Status {
    if (a.limit > 0 && writer->samples() >= a.limit) return {};
    return writer->add(sample);
  };
  if (auto s = feed_source(a, *writer, sink); !s) return s;
  if (auto s = writer->finish(); !s) return s;
  if (writer->samples() == 0) {
    return base::bad_data({a.source, 0, 0, ""}, "has no samples", "files are named KEY.FIELD");
  }
  if (writer->repeated() > 0) {
    fmt::print(stderr,
               "note: {} samples have a key that came before in their shard; data check refuses "
               "such shards\n",
               writer->repeated());
  }
  const std::string index = (fs::path(a.to).parent_path() / "index.json").string();
  const std::vector<std::string> left_over = writer->left_over();
  if (auto s = data::add_to_index(index, writer->paths(), left_over); !s) return s;
  if (!left_over.empty()) {
    fmt::print(stderr,
               "note: {} shards of an earlier packing are left over and not in the index; remove "
               "them: {}{}\n",
               left_over.size(), left_over.front(),
               left_over.size() > 1 ? " to " + left_over.back() : "");
  }
  fmt::print("{} samples in {} shards, {} to {}; index {}\n", writer->samples(),
             writer->paths().size(), writer->paths().front(), writer->paths().back(), index);
  return {};
}

base::Status write_index(const std::string& shards, std::string out) {
  auto set = data::open_shards(shards);
  if (!set) return base::failure(set.error());
  if (out.empty()) {
    out = (fs::path(set->shards.front().path).parent_path() / "index.json").string();
  }
  if (!out.ends_with(".json")) {
    return base::usage_error(fmt::format("--out: '{}' is not the name of an index", out),
                             "its name ends in .json");
  }
  for (data::Shard& each : set->shards) {
    auto described = data::describe_shard(each.path);
    if (!described) return base::failure(described.error());
    each = std::move(*described);
  }
  if (set->name.empty()) set->name = fs::absolute(out).parent_path().filename().string();
  if (auto s = base::write_file(out, data::to_wids(*set, fs::path(out).parent_path().string()));
      !s) {
    return s;
  }
  fmt::print("{}: {} samples in {} shards\n", out, set->samples(), set->shards.size());
  return {};
}

int check_set(const std::string& shards) {
  const auto set = data::open_shards(shards);
  if (!set) return exit_code(set.error());
  const data::ShardFindings found = data::check_shards(*set);
  for (const base::Error& each : found.errors) {
    fmt::print(stderr, "goban-train: {}\n", each.text());
  }
  for (const std::string& each : found.warnings) fmt::print(stderr, "warning: {}\n", each);
  fmt::print("{} samples in {} shards, {} bytes in fields: {} errors, {} warnings\n", found.samples,
             set->shards.size(), found.bytes, found.errors.size(), found.warnings.size());
  return found.errors.empty() ? 0 : static_cast<int>(base::ErrorCode::BadData);
}

struct CatArguments {
  std::string shards, key, field;
  int64_t limit = 0;
};

base::Status cat_shards(const CatArguments& a) {
  const auto set = data::open_shards(a.shards);
  if (!set) return base::failure(set.error());
  int64_t shown = 0;
  const auto show = [&](const data::Sample& sample) -> base::Status {
    if ((!a.key.empty() && sample.key != a.key) || (a.limit > 0 && shown >= a.limit)) return {};
    ++shown;
    if (!a.field.empty()) {
      const std::string* bytes = sample.find(a.field);
      if (bytes == nullptr) {
        return base::bad_data({sample.place(), 0, 0, ""}, fmt::format("has no '{}'", a.field));
      }
      std::fwrite(bytes->data(), 1, bytes->size(), stdout);
      return {};
    }
    fmt::print("{}", base::printable(sample.key));
    for (const data::Field& each : sample.fields) {
      fmt::print(" {}:{}", base::printable(each.name), each.bytes.size());
    }
    fmt::print(" {}@{}\n", sample.shard, sample.offset);
    return {};
  };
  if (auto s = data::each_in_shards(*set, show); !s) return s;
  if (shown == 0) return base::failed(fmt::format("no sample has the key '{}'", a.key));
  return {};
}

base::Status bench_shards(const std::string& shards, bool decode) {
  const auto set = data::open_shards(shards);
  if (!set) return base::failure(set.error());
  int64_t samples = 0, bytes = 0, stored = 0;
  for (const data::Shard& each : set->shards) stored += each.bytes;
  const auto read = [&](const data::Sample& sample) -> base::Status {
    ++samples;
    for (const data::Field& each : sample.fields) {
      bytes += static_cast<int64_t>(each.bytes.size());
      if (!decode || !data::is_image_field(each.name)) continue;
      if (const auto image = data::decode_grey(each.bytes); !image) {
        return base::failure(image.error());
      }
    }
    return {};
  };
  const double begin_s = base::steady_s();
  const std::clock_t begin = std::clock();
  if (auto s = data::each_in_shards(*set, read); !s) return s;
  const double cpu_s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  const double wall_s = base::steady_s() - begin_s;
  const auto count = static_cast<double>(samples);
  fmt::print(
      "{} samples, {} bytes in fields, {} in files: {:.0f} samples and {:.1f} MB per CPU second, "
      "{:.0f} samples per second, {:.0f} ns of CPU a sample, {:.2g} opens a sample\n",
      samples, bytes, stored, count / cpu_s, static_cast<double>(bytes) / 1e6 / cpu_s,
      count / wall_s, 1e9 * cpu_s / count, static_cast<double>(set->shards.size()) / count);
  return {};
}

base::Status write_tokens(const std::vector<std::string>& texts, const std::string& to) {
  if (data::would_replace(to, texts)) {
    return base::usage_error(fmt::format("the text '{}' is read from, and would be replaced", to),
                             "write the tokens to another file");
  }
  auto out = base::OutputFile::create(to);
  if (!out) return base::failure(out.error());
  int64_t tokens = 0;
  for (const std::string& path : texts) {
    const auto text = base::read_small_file(path, size_t{1} << 32);
    if (!text) return base::failure(text.error());
    for (const char c : *text) {
      out->buffer() += c;
      out->buffer() += '\0';
    }
    out->write_out();
    tokens += static_cast<int64_t>(text->size());
  }
  if (auto s = out->commit(); !s) return s;
  fmt::print("{} tokens of 2 bytes in {}\n", tokens, to);
  return {};
}

int done(const base::Status& status) { return status ? 0 : exit_code(status.error()); }

void add_pack(Command& data, Action& action) {
  const auto a = std::make_shared<PackArguments>();
  Command* pack = data.add_subcommand("pack", "Pack samples into shards, with an index");
  pack->add_option("SOURCE", a->source,
                   "mnist:train, mnist:test (also fashion), a folder of files KEY.FIELD, or shards")
      ->required();
  pack->add_option("--to", a->to,
                   "Pattern of the shards, such as out/train-%06d.tar (.tar.gz .tar.zst .tfrecord)")
      ->required();
  whole_from(pack->add_option("--max-count", a->count, "Maximum number of samples of a shard"), 1);
  pack->add_option("--max-size", a->largest, "Maximum content of a shard, such as 500MB");
  whole_from(pack->add_option("--limit", a->limit, "Maximum number of samples; 0: all"), 0);
  pack->add_option("--data", a->folder, "Folder of the data sets");
  pack->footer(
      "Example: goban-train data pack mnist:train --to shards/train-%06d.tar --max-count "
      "5000");
  pack->callback([=, &action] { action = [=] { return done(pack_shards(*a)); }; });
}

}  // namespace

void add_shard_commands(Command& data, Action& action) {
  add_pack(data, action);
  const auto shards = std::make_shared<std::string>();
  const auto out = std::make_shared<std::string>();
  Command* index = data.add_subcommand("index", "Write a wids index of shards");
  index->add_option("SHARDS", *shards, kShardsHelp)->required();
  index->add_option("--out", *out, "File; without it: index.json beside the first shard");
  index->callback([=, &action] { action = [=] { return done(write_index(*shards, *out)); }; });

  Command* check = data.add_subcommand(
      "check", "Read shards to their end: structure, names, images, and what the index says");
  check->add_option("SHARDS", *shards, kShardsHelp)->required();
  check->callback([=, &action] { action = [=] { return check_set(*shards); }; });

  const auto cat = std::make_shared<CatArguments>();
  Command* show = data.add_subcommand("cat", "Print keys and fields of samples, or one field");
  show->add_option("SHARDS", cat->shards, kShardsHelp)->required();
  show->add_option("--key", cat->key, "Only the sample with this key");
  show->add_option("--field", cat->field, "Print the bytes of this field");
  whole_from(show->add_option("--limit", cat->limit, "Maximum number of samples; 0: all"), 0);
  show->callback([=, &action] { action = [=] { return done(cat_shards(*cat)); }; });

  const auto decode = std::make_shared<bool>(false);
  Command* bench = data.add_subcommand("bench", "Measure the reading of shards with one thread");
  bench->add_option("SHARDS", *shards, kShardsHelp)->required();
  bench->add_flag("--decode", *decode, "Decode images, too");
  bench->callback([=, &action] { action = [=] { return done(bench_shards(*shards, *decode)); }; });

  const auto texts = std::make_shared<std::vector<std::string>>();
  const auto to = std::make_shared<std::string>();
  Command* tokens =
      data.add_subcommand("tokens", "Write the bytes of texts as a token file of 2-byte integers");
  tokens->add_option("FILE", *texts, "Text files")->required();
  tokens->add_option("--to", *to, "Token file, such as tokens.bin")->required();
  tokens->callback([=, &action] { action = [=] { return done(write_tokens(*texts, *to)); }; });
}

}  // namespace goban::train::trainer
