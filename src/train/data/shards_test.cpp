// Shards written and read. The sums of whole files come from the Python libraries
// (tests/oracle/webdataset_shards.py).
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/gzip.hpp"
#include "base/test_folder.hpp"
#include "train/data/check_shards.hpp"
#include "train/data/md5.hpp"
#include "train/data/sample_source.hpp"
#include "train/data/shard_list.hpp"
#include "train/data/tar_reader.hpp"
#include "train/data/tar_writer.hpp"
#include "train/data/test_tars.hpp"
#include "train/data/tfrecord.hpp"

namespace goban::train::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The samples of the oracle.
std::vector<Sample> oracle_samples() {
  std::vector<Sample> out;
  for (int i = 0; i < 7; ++i) {
    std::string bytes;
    for (int j = 0; j < i * 211; ++j) bytes += static_cast<char>(i * j % 256);
    out.push_back(
        {fmt::format("part.x/{:03d}", i), {{"cls", std::to_string(i % 3)}, {"bin", bytes}}, "", 0});
  }
  out.push_back({"long/" + std::string(110, 'k'), {{"txt", "long"}}, "", 0});
  out.push_back({"\u00e9/\u00fc", {{"seg.txt", "accents"}}, "", 0});
  return out;
}

std::vector<std::string> write_shards(const std::string& pattern, ShardLimits limits = {}) {
  auto writer = ShardWriter::create(pattern, limits);
  EXPECT_TRUE(writer);
  for (const Sample& each : oracle_samples()) EXPECT_TRUE(writer->add(each));
  EXPECT_TRUE(writer->finish());
  return writer->paths();
}

std::vector<Sample> read_back(const std::vector<std::string>& paths) {
  std::vector<Sample> out;
  for (const std::string& path : paths) {
    const auto reader = open_shard(path);
    EXPECT_TRUE(reader) << reader.error().text();
    while (true) {
      Sample sample;
      const auto more = (*reader)->next(sample);
      EXPECT_TRUE(more) << more.error().text();
      if (!more || !*more) break;
      out.push_back(std::move(sample));
    }
  }
  return out;
}

const std::string kTarEnd(1024, '\0');

/// The error at which reading these bytes ends; empty if they are whole.
std::string tar_error(const std::string& bytes) {
  const auto reader = read_tar(bytes, "x.tar");
  if (!reader) return reader.error().text();
  while (true) {
    Sample sample;
    const auto more = (*reader)->next(sample);
    if (!more) return more.error().text();
    if (!*more) return "";
  }
}

TEST(Shards, BytesAreThoseOfThePythonLibraries) {
  const base::TestFolder folder;
  const auto tar = write_shards(folder / "a-%d.tar");
  EXPECT_EQ(md5(base::TestFolder::read(tar.at(0))), "964c7764753ec9c57d90788d11b4f762");
  const auto records = write_shards(folder / "a-%d.tfrecord");
  EXPECT_EQ(md5(base::TestFolder::read(records.at(0))), "e1768065b439f5a8841c854fde7c2036");
}

TEST(Shards, ReadsWhatWasWrittenInEveryFormat) {
  for (const char* ending : {"tar", "tar.gz", "tgz", "tar.zst", "tfrecord"}) {
    const base::TestFolder folder;
    const auto paths = write_shards(folder / (std::string("s-%03d.") + ending), {4, 1'000'000});
    EXPECT_THAT(paths, ::testing::SizeIs(3)) << ending;
    const auto back = read_back(paths);
    const auto wanted = oracle_samples();
    ASSERT_EQ(back.size(), wanted.size()) << ending;
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(back[i].key, wanted[i].key) << ending;
      EXPECT_EQ(back[i].fields.size(), wanted[i].fields.size());
      for (const Field& field : wanted[i].fields) {
        ASSERT_NE(back[i].find(field.name), nullptr) << ending << field.name;
        EXPECT_EQ(*back[i].find(field.name), field.bytes);
      }
    }
    // Equal input gives equal bytes.
    const base::TestFolder again;
    EXPECT_EQ(md5(base::TestFolder::read(paths[0])),
              md5(base::TestFolder::read(
                  write_shards(again / (std::string("t-%d.") + ending), {4, 1'000'000})[0])));
  }
}

TEST(Shards, ANewShardBeginsAtTheSize) {
  const base::TestFolder folder;
  EXPECT_THAT(write_shards(folder / "s-%d.tar", {1000, 1}), ::testing::SizeIs(9));
}

TEST(Shards, NamesAreSplitAsByWebDataset) {
  const auto text = [](std::string_view name) {
    const auto parts = split_name(name);
    return parts ? fmt::format("{}|{}", parts->key, parts->field) : "";
  };
  EXPECT_EQ(text("a.b/c.seg.png"), "a.b/c|seg.png");
  EXPECT_EQ(text("0001.cls"), "0001|cls");
  EXPECT_EQ(text("a/.hidden"), "");
  EXPECT_EQ(text("README"), "");
  EXPECT_EQ(text("__meta__/a.txt"), "");
  EXPECT_EQ(text("__meta__"), "");
  EXPECT_EQ(text("__a.txt"), "__a|txt");
  EXPECT_EQ(text("a."), "a|");
}

TEST(Shards, ASampleIsARunOfAdjacentFiles) {
  const std::string bytes = tar_member("a.x", "1") + tar_member("a.Y", "2") +
                            tar_member("b.x", "3") + tar_member("note", "-") +
                            tar_member("a.x", "4") + kTarEnd;
  const auto reader = read_tar(bytes, "x.tar");
  ASSERT_TRUE(reader);
  std::vector<std::string> seen;
  for (Sample sample; *(*reader)->next(sample);) {
    seen.push_back(fmt::format("{}:{}@{}", sample.key, sample.fields.size(), sample.offset));
  }
  EXPECT_THAT(seen, ElementsAre("a:2@0", "b:1@2048", "a:1@4096"));
  EXPECT_THAT(tar_error(tar_member("a.x", "1") + tar_member("a.X", "2")),
              HasSubstr("two fields 'x'; the second is at byte 1024"));
}

TEST(Shards, BadTarsAreNamedWithTheOffset) {
  const std::string good = tar_member("a.x", std::string(700, 'a')) + tar_member("b.x", "2");
  EXPECT_EQ(tar_error(good + kTarEnd), "");
  EXPECT_THAT(tar_error(good.substr(0, 900)), HasSubstr("x.tar: 'a.x' breaks off at byte 0"));
  EXPECT_THAT(tar_error(good.substr(0, 1700)),
              HasSubstr("x.tar: stops after the member at byte 0"));
  std::string damaged = good + kTarEnd;
  damaged[1540] ^= 1;  // in the name of the second header
  EXPECT_THAT(tar_error(damaged), HasSubstr("stops at byte 1536"));
  EXPECT_THAT(tar_error(tar_member("../up.x", "")), HasSubstr("leaves its folder"));
  EXPECT_THAT(tar_error(tar_member("/etc/up.x", "")), HasSubstr("absolute path"));
  EXPECT_THAT(tar_error(tar_member("a\nb.x", "")), HasSubstr("control character"));
  EXPECT_THAT(tar_error("garbage"), HasSubstr("x.tar"));
  // A header that declares 8 GiB less one byte.
  std::string gigantic = tar_member("a.x", "1");
  gigantic.replace(124, 11, "77777777777");
  gigantic.replace(148, 8, "        ");
  unsigned sum = 0;
  for (size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(gigantic[i]);
  gigantic.replace(148, 7, fmt::format("{:06o}", sum) + std::string(1, '\0'));
  EXPECT_THAT(tar_error(gigantic), HasSubstr("declares 8589934591 bytes"));
}

// A copy that broke off where one member ends: nothing but the end of the tar is missing.
TEST(Shards, TarsThatEndBetweenMembersAreTruncated) {
  const std::string two = tar_member("a.x", std::string(700, 'a')) + tar_member("b.x", "2");
  for (const size_t cut : {size_t{1536}, two.size()}) {
    EXPECT_THAT(tar_error(two.substr(0, cut)),
                HasSubstr(fmt::format("ends at byte {} without the empty blocks", cut)));
    EXPECT_EQ(tar_error(two.substr(0, cut) + kTarEnd), "");
  }
  const auto counted = read_tar(two, "x.tar");
  ASSERT_TRUE(*(*counted)->skip());
  EXPECT_FALSE((*counted)->skip()) << "counting from headers sees it too";

  const std::string packed = base::gzip(two + kTarEnd);
  const auto reader = read_tar(std::string_view(packed).substr(0, packed.size() - 6), "x.tar.gz");
  ASSERT_FALSE(reader) << "so small a file is unpacked when it is opened";
  EXPECT_EQ(reader.error().code, base::ErrorCode::BadData) << reader.error().text();
}

TEST(Shards, HolesOfSparseMembersAreZeros) {
  const std::string member = sparse_member("a.x", "startend", {0, 5, 512, 3}, 700) + kTarEnd;
  const auto reader = read_tar(member, "x.tar");
  Sample sample;
  const auto more = (*reader)->next(sample);
  ASSERT_TRUE(more) << more.error().text();
  EXPECT_EQ(*sample.find("x"), "start" + std::string(507, '\0') + "end" + std::string(185, '\0'));
}

TEST(Shards, HolesAreBounded) {
  const int64_t size = int64_t{1} << 30;
  const std::string member = sparse_member("a.x", "", {size, 0}, size);
  EXPECT_THAT(tar_error(member + kTarEnd), HasSubstr("have holes of 1073741824 bytes; at most"));
}

// pzstd writes such a frame before each of its frames.
TEST(Shards, SkippableFramesBeforeZstdDataArePassedOver) {
  const base::TestFolder folder;
  auto writer = ShardWriter::create(folder / "s-%d.tar.zst", {});
  ASSERT_TRUE(writer && writer->add({"a", {{"x", "1"}}, "", 0}) && writer->finish());
  const std::string packed = base::TestFolder::read(writer->paths().at(0));
  const std::string frame("\x50\x2a\x4d\x18\x04\0\0\0size", 12);
  const std::string path = folder.write("p.tar.zst", frame + frame + packed + frame);
  const ShardFindings found = check_shards({"", {{path, 1, 0, ""}}});
  EXPECT_THAT(found.errors, IsEmpty());
  EXPECT_EQ(found.samples, 1);
  EXPECT_EQ(tar_error(frame + packed), "");
  EXPECT_THAT(tar_error(frame + packed.substr(0, packed.size() - 3)), HasSubstr("damaged"));
  for (const size_t size : {4U, 11U, 12U}) {
    const std::string cut = folder.write("c.tar.zst", frame.substr(0, size));
    EXPECT_FALSE(open_shard(cut) && *(*open_shard(cut))->skip()) << size;
  }
}

TEST(Shards, WhatFollowsTheEndOfATarIsNotPassedOver) {
  const base::TestFolder folder;
  const std::string one = tar_member("a.x", "1"), empty(512, '\0');
  const std::string after_one_block = one + empty + tar_member("b.x", "2") + kTarEnd;
  const std::string joined = one + kTarEnd + tar_member("b.x", "2") + kTarEnd;
  for (const std::string& bytes : {after_one_block, joined, one + kTarEnd + "rest"}) {
    EXPECT_THAT(tar_error(bytes), HasSubstr("its tar ends at byte 1024, and more follows"));
    EXPECT_THAT(tar_error(base::gzip(bytes)), HasSubstr("ends at byte 1024, and more follows"));
    const ShardFindings found = check_shards({"", {{folder.write("a.tar", bytes), 1, 0, ""}}});
    ASSERT_EQ(found.errors.size(), 1U);
    EXPECT_THAT(found.errors[0].text(), HasSubstr("ends at byte 1024, and more follows (byte "));
  }
  EXPECT_EQ(tar_error(one + kTarEnd + std::string(20 * 512, '\0')), "") << "a record's rest";
}

TEST(Shards, BytesThatLookLikeGzipAreData) {
  const base::TestFolder folder;
  std::string bytes(0x8b1f - 100, 'x');  // the record begins with its length, little endian
  std::string record;
  while ((record = tfrecord(to_example({"k", {{"a", bytes}}, "", 0}))).substr(0, 2) != "\x1f\x8b") {
    bytes += 'x';
    ASSERT_LT(bytes.size(), 0x8b1fU);
  }
  const auto read = read_back({folder.write("a.tfrecord", record)});
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(*read[0].find("a"), bytes);
  EXPECT_THAT(check_shards({"", {{folder / "a.tfrecord", 1, 0, ""}}}).errors, IsEmpty());
}

TEST(Shards, WhatAnIndexSaysIsCounted) {
  const auto paths = write_shards(::testing::TempDir() + "/counted-%d.tar");
  ShardSet set{"", {{paths.at(0), 7, 0, std::string(32, 'a')}}};
  const auto sink = [](const Sample&) { return base::Status{}; };
  EXPECT_THAT(each_in_shards(set, sink).error().text(),
              HasSubstr("has 9 samples, its index says 7"));
  EXPECT_THAT(check_counts(set).error().text(), HasSubstr("has 9 samples, its index says 7"));
  EXPECT_TRUE(check_counts(set)) << "it is counted now";
}

TEST(Shards, TfRecordsWithWrongSumsAreNamed) {
  const std::string good = tfrecord(to_example({"k", {{"a", "1"}}, "", 0}));
  const auto error = [](const std::string& bytes) {
    const auto reader = read_tfrecords(bytes, "x.tfrecord");
    Sample sample;
    while (true) {
      const auto more = reader->next(sample);
      if (!more) return more.error().text();
      if (!*more) return std::string();
    }
  };
  EXPECT_EQ(error(good + good), "");
  std::string damaged = good + good;
  damaged[good.size() + 20] ^= 1;
  EXPECT_THAT(error(damaged),
              HasSubstr(fmt::format("the record 1 at byte {} has a wrong checksum", good.size())));
  damaged = good;
  damaged[3] ^= 1;
  EXPECT_THAT(error(damaged), HasSubstr("wrong checksum of its length"));
  EXPECT_THAT(error(good.substr(0, good.size() - 1)), HasSubstr("bytes"));
  EXPECT_THAT(error(tfrecord("no message")), HasSubstr("is not a tf.train.Example"));
}

TEST(Shards, NumbersOfExamplesBecomeText) {
  // Feature "n" with int64_list [7, -1] packed, feature "f" with float_list [0.5], by hand.
  Sample sample;
  const std::string entry(
      "\x0a\x01n\x12\x0f\x1a\x0d\x0a\x0b\x07\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 20);
  const std::string floats(
      "\x0a\x01"
      "f\x12\x08\x12\x06\x0a\x04\x00\x00\x00\x3f",
      13);
  std::string features = "\x0a" + std::string(1, static_cast<char>(entry.size())) + entry + "\x0a" +
                         std::string(1, static_cast<char>(floats.size())) + floats;
  const std::string example =
      "\x0a" + std::string(1, static_cast<char>(features.size())) + features;
  ASSERT_TRUE(from_example(example, sample));
  EXPECT_EQ(*sample.find("n"), "7 -1");
  EXPECT_EQ(*sample.find("f"), "0.5");
}

TEST(Shards, ExamplesThatHaveNoPlaceInASampleAreRefused) {
  const auto error = [](const std::string& example) {
    const std::string bytes = tfrecord(example);
    const auto reader = read_tfrecords(bytes, "t");
    Sample sample;
    const auto more = reader->next(sample);
    return more ? std::string() : more.error().text();
  };
  const auto record = [](const std::string& key, std::vector<Field> fields) {
    return to_example({key, std::move(fields), "", 0});
  };
  EXPECT_EQ(error(record("a", {{"x", "1"}, {"y", "2"}})), "");
  EXPECT_THAT(error(record("a", {{"x", "1"}, {"x", "2"}})), HasSubstr("different names"));
  EXPECT_THAT(error(record("../a", {{"x", "1"}})), HasSubstr("leaves its folder"));
  EXPECT_THAT(error(record("/a", {{"x", "1"}})), HasSubstr("absolute path"));
  EXPECT_THAT(error(record("a\nb", {{"x", "1"}})), HasSubstr("control character"));
  // Feature "x" with bytes_list ["1", "2"], by hand.
  EXPECT_THAT(error(std::string("\x0a\x0f\x0a\x0d\x0a\x01x\x12\x08\x0a\x06\x0a\x01"
                                "1\x0a\x01"
                                "2",
                                17)),
              HasSubstr("several byte values"));
}

TEST(Shards, ListsExpandAsByWebDataset) {
  const auto expanded = [](std::string_view text) {
    const auto out = expand_shards(text, [](const std::string& name) -> std::optional<std::string> {
      if (name == "WDS_DATA") return "/d";
      return std::nullopt;
    });
    return out ? *out : std::vector<std::string>{out.error().text()};
  };
  EXPECT_THAT(expanded("a-{008..010}.tar"), ElementsAre("a-008.tar", "a-009.tar", "a-010.tar"));
  EXPECT_THAT(expanded("${DATA}/{x,y{1..2}}.tar::b.tar"),
              ElementsAre("/d/x.tar", "/d/y1.tar", "/d/y2.tar", "b.tar"));
  EXPECT_THAT(expanded("{2..0}"), ElementsAre("2", "1", "0"));
  EXPECT_THAT(expanded("${NONE}/a.tar")[0], HasSubstr("WDS_NONE"));
  EXPECT_THAT(expanded("a-{0..9.tar")[0], HasSubstr("'{' without '}'"));
  EXPECT_THAT(expanded("a-{0..99999999999}.tar")[0], HasSubstr("million"));
  EXPECT_THAT(expanded("a::")[0], HasSubstr("empty part"));
}

TEST(Shards, Md5OfRfc1321) {
  EXPECT_EQ(md5(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(md5("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
  std::string digits;
  while (digits.size() < 80) digits += "1234567890";
  EXPECT_EQ(md5(digits), "57edf4a22be3c955ac49da2e2107b67a");
}

TEST(Shards, TheCheckComparesWithTheIndex) {
  const base::TestFolder folder;
  const auto paths = write_shards(folder / "s-%d.tar", {4, 1'000'000});
  ShardSet set{"s", {}};
  for (const std::string& path : paths) set.shards.push_back(*describe_shard(path));
  const auto read = from_wids(to_wids(set, folder.path()), folder.path(), "index.json");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->checksum(), set.checksum());
  EXPECT_THAT(check_shards(*read).errors, IsEmpty());
  set.shards[0].md5 = md5("other");
  set.shards[1].samples = 3;
  set.shards[2].bytes -= 1;
  const ShardFindings found = check_shards(set);
  ASSERT_EQ(found.errors.size(), 3U);
  EXPECT_THAT(found.errors[0].text(), HasSubstr("has the MD5"));
  EXPECT_THAT(found.errors[1].text(), HasSubstr("has 4 samples, its index says 3"));
  EXPECT_THAT(found.errors[2].text(), HasSubstr("bytes, its index says"));
  // Opening refuses a shard that was truncated after its index was written.
  folder.write("index.json", to_wids(*read, folder.path()));
  std::filesystem::resize_file(paths[1], 1024);
  const auto opened = open_shards(folder / "index.json");
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().text(), HasSubstr("s-1.tar: has 1024 bytes, its index says"));
}

TEST(Shards, TheCheckFindsKeysThatRepeatAndMembersThatAreAbsent) {
  const base::TestFolder folder;
  const std::string bytes = tar_member("a.cls", "1") + tar_member("a.txt", "x") +
                            tar_member("b.txt", "y") + tar_member("a.cls", "2") + kTarEnd;
  const std::string path = folder.write("x.tar", bytes);
  const ShardFindings found = check_shards({"", {{path, 3, 0, ""}}});
  ASSERT_EQ(found.errors.size(), 1U);
  EXPECT_THAT(found.errors[0].text(),
              HasSubstr("x.tar, sample 'a' at byte 3072: the key occurs a second time"));
  EXPECT_THAT(found.warnings,
              ElementsAre("1 of 3 samples have no 'cls'", "1 of 3 samples have no 'txt'"));
}

TEST(Shards, ListsThatNameTooMuchAreRefused) {
  const base::TestFolder folder;
  (void)write_shards(folder / "s-%d.tar", {4, 1'000'000});  // three shards
  const auto error = [](const std::string& text) {
    const auto opened = open_shards(text);
    return opened ? "" : opened.error().text();
  };
  EXPECT_EQ(error(folder / "s-{0..2}.tar"), "");
  EXPECT_THAT(error(folder / "s-{0..3}.tar"), HasSubstr("s-3.tar': No such file or directory"));
  folder.write("empty.tar", kTarEnd);
  EXPECT_THAT(error(folder / "empty.tar"), HasSubstr("has no samples"));
}

TEST(Shards, BadIndexesAreNamedByField) {
  const auto error = [](const std::string& text) {
    const auto read = from_wids(text, "", "i.json");
    return read ? "" : read.error().text();
  };
  EXPECT_THAT(error("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(error(R"({"__kind__":"x"})"), HasSubstr("__kind__"));
  EXPECT_THAT(
      error(R"({"__kind__":"wids-shard-index-v1","shardlist":[{"url":"a.tar","nsamples":-1}]})"),
      HasSubstr("shardlist[0].nsamples"));
  EXPECT_THAT(
      error(R"({"__kind__":"wids-shard-index-v1","shardlist":[{"url":"s3://a","nsamples":1}]})"),
      HasSubstr("shardlist[0].url"));
}

TEST(Shards, FoldersBecomeSamples) {
  const base::TestFolder folder;
  std::filesystem::create_directories(folder / "b");
  folder.write("b/2.cls", "1");
  folder.write("1.txt", "x");
  folder.write("1.CLS", "0");
  folder.write("README", "");
  std::filesystem::create_symlink(folder / "1.txt", folder / "3.txt");
  std::filesystem::create_symlink("nowhere", folder / "4.txt");
  std::filesystem::create_directory_symlink("b", folder / "c");
  std::vector<std::string> keys;
  LeftOut left_out;
  const auto sink = [&](const Sample& sample) -> base::Status {
    keys.push_back(fmt::format("{}:{}", sample.key, sample.fields.size()));
    return {};
  };
  ASSERT_TRUE(each_in_folder(folder.path(), sink, left_out));
  EXPECT_THAT(keys, ElementsAre("1:2", "3:1", "b/2:1"));
  EXPECT_EQ(left_out.unnamed, 1);
  EXPECT_EQ(left_out.others, 2);  // links to nothing and to a folder
}

// Packing shards again under their own names would replace those that are still to be read.
TEST(Shards, TheWriterReplacesNoShardThatIsRead) {
  const base::TestFolder folder;
  const auto sources = write_shards(folder / "s-%02d.tar", {2, 1'000'000});
  const std::string first = base::TestFolder::read(sources[1]);
  auto writer = ShardWriter::create(folder / "./s-%02d.tar", {});
  ASSERT_TRUE(writer);
  writer->keep({sources[1], sources[0]});
  const auto refused = writer->add({"a", {{"x", "1"}}, "", 0});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("is read from, and would be replaced"));
  EXPECT_EQ(base::TestFolder::read(sources[1]), first);
}

TEST(Shards, TheWriterRefusesWhatReadersWouldMisread) {
  const base::TestFolder folder;
  EXPECT_FALSE(ShardWriter::create("a.tar", {}));
  EXPECT_FALSE(ShardWriter::create("a-%d.zip", {}));
  auto writer = ShardWriter::create(folder / "a-%d.tar", {});
  ASSERT_TRUE(writer);
  const auto error = [&](const std::string& key, std::vector<Field> fields) {
    const auto s = writer->add({key, std::move(fields), "", 0});
    return s ? "" : s.error().text();
  };
  EXPECT_THAT(error("a.b", {{"x", ""}}), HasSubstr("first dot"));
  EXPECT_THAT(error("../a", {{"x", ""}}), HasSubstr("leaves its folder"));
  EXPECT_THAT(error("a", {{"x", "1"}, {"x", "2"}}), HasSubstr("two fields 'x'"));
  EXPECT_EQ(error("c", {{"x", "1"}}), "");
  EXPECT_THAT(error("c", {{"y", "1"}}), HasSubstr("twice in a row"));
}

}  // namespace
}  // namespace goban::train::data
