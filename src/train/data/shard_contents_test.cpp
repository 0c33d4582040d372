// What tells that shards are whole, and which contents they have.
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>

#include "base/test_folder.hpp"
#include "train/data/check_shards.hpp"
#include "train/data/shard_stream.hpp"
#include "train/data/tar_writer.hpp"

namespace goban::train::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Flips bits of a byte so many bytes before the end.
void damage(const std::string& path, size_t before_end) {
  std::string bytes = base::TestFolder::read(path);
  bytes[bytes.size() - before_end] ^= 0x10;
  std::ofstream(path, std::ios::binary) << bytes;
}

// gzip ends with CRC-32 and length, zstd with its checksum, all of them behind the end of the tar.
TEST(ShardContents, WrongChecksumsOfPackedShardsAreFound) {
  for (const auto& [ending, before_end] :
       {std::pair("tar.gz", 8), std::pair("tar.gz", 3), std::pair("tgz", 6),
        std::pair("tar.zst", 4), std::pair("tar.zst", 1), std::pair("tfrecord.gz", 7)}) {
    for (const size_t bytes : {size_t{10}, size_t{3} << 20}) {  // in one read, in many
      const base::TestFolder folder;
      const std::string packed_name = std::string("s-%d.") + ending;
      auto writer = ShardWriter::create(folder / packed_name, {});
      ASSERT_TRUE(writer);
      ASSERT_TRUE(writer->add({"a", {{"x", std::string(bytes, 'a')}}, "", 0}));
      ASSERT_TRUE(writer->finish());
      const std::string path = writer->paths().at(0);
      const auto described = describe_shard(path);
      ASSERT_TRUE(described) << described.error().text();
      EXPECT_THAT(check_shards({"", {*described}}).errors, IsEmpty());
      damage(path, static_cast<size_t>(before_end));
      ShardSet set{"", {*described}};
      set.shards[0].md5.clear();
      const ShardFindings found = check_shards(set);
      ASSERT_FALSE(found.errors.empty()) << ending << " " << before_end << " " << bytes;
      EXPECT_EQ(found.errors[0].code, base::ErrorCode::BadData);
      EXPECT_THAT(found.errors[0].text(), HasSubstr("s-0."));
      Shard counted{path, 0, 0, ""};
      EXPECT_FALSE(count_samples(counted)) << "counting sees it, too";
      if (!path.ends_with(".tfrecord.gz")) {  // whose records have sums of their own
        auto stream = ShardStream::create(set, {});
        ASSERT_TRUE(stream);
        EXPECT_FALSE(stream->next()) << "a run with an index ends";
      }
    }
  }
}

TEST(ShardContents, ZstdIsWrittenWithTheChecksumOfItsContent) {
  const base::TestFolder folder;
  auto writer = ShardWriter::create(folder / "s-%d.tar.zst", {});
  ASSERT_TRUE(writer && writer->add({"a", {{"x", "1"}}, "", 0}) && writer->finish());
  const std::string path = writer->paths().at(0);
  EXPECT_EQ(base::TestFolder::read(path)[4] & 4, 4);  // RFC 8878: Content_Checksum_flag
}

TEST(ShardContents, TheChecksumOfASetIsThatOfItsContents) {
  for (const char* ending : {"tar", "tar.gz", "tar.zst", "tfrecord"}) {
    const base::TestFolder folder;
    std::vector<uint32_t> sums;
    const auto sum_of = [&](const std::string& name, const std::string& label, char pixel) {
      const std::string folder_name = folder / name;
      std::filesystem::create_directories(folder_name);
      auto writer = ShardWriter::create(folder_name + "/s-%d." + ending, {2, 1'000'000});
      for (const char* key : {"a", "b", "c"}) {
        std::string image(900, '-');
        image.back() = pixel;
        EXPECT_TRUE(writer->add({key, {{"cls", label}, {"pgm", image}}, "", 0}));
      }
      EXPECT_TRUE(writer->finish());
      const auto set = open_shards(folder_name + "/s-{0..1}." + ending);
      EXPECT_TRUE(set) << set.error().text();
      ShardSet indexed = *set;  // by an index without MD5
      for (Shard& each : indexed.shards) each.sum = 0;
      EXPECT_TRUE(sum_contents(indexed));
      EXPECT_EQ(indexed.checksum(), set->checksum());
      indexed.shards[0].sum = 0;
      indexed.shards[0].samples = 3;
      EXPECT_FALSE(sum_contents(indexed));
      return set->checksum();
    };
    const uint32_t first = sum_of("1", "4", 'x');
    EXPECT_EQ(sum_of("2", "4", 'x'), first) << ending;
    // The same names, counts and, unless packed, sizes.
    EXPECT_NE(sum_of("3", "5", 'x'), first) << ending;
    EXPECT_NE(sum_of("4", "4", 'y'), first) << ending;
  }
}

TEST(ShardContents, OfAnEarlierPackingIntoMoreShardsNoneStaysInTheIndex) {
  const base::TestFolder folder;
  const std::string index = folder / "index.json";
  const auto pack = [&](int64_t samples) {
    auto writer = ShardWriter::create(folder / "s1-%02d.tar", {samples, 1'000'000});
    for (int i = 0; i < 9; ++i) {
      EXPECT_TRUE(writer->add({fmt::format("k{}", i), {{"x", "1"}}, "", 0}));
    }
    EXPECT_TRUE(writer->finish());
    EXPECT_TRUE(add_to_index(index, writer->paths(), writer->left_over()));
    return writer->left_over();
  };
  for (const char* other : {"s1-7.tar", "s1-03.tar.gz", "s1-x.tar", "s1-09.tar.old"}) {
    folder.write(other, "of something else");
  }
  EXPECT_THAT(pack(1), IsEmpty());  // 9 shards
  std::filesystem::remove(folder / "s1-04.tar");
  EXPECT_THAT(pack(3), ElementsAre(folder / "s1-03.tar", folder / "s1-05.tar", folder / "s1-06.tar",
                                   folder / "s1-07.tar", folder / "s1-08.tar"));
  const auto set = open_shards(index);
  ASSERT_TRUE(set) << set.error().text();
  EXPECT_EQ(set->samples(), 9);
  EXPECT_THAT(check_shards(*set).warnings, IsEmpty());
  const auto both = open_shards(folder / "s1-{02,08}.tar");
  ASSERT_TRUE(both) << both.error().text();
  EXPECT_THAT(check_shards(*both).warnings,
              ElementsAre(HasSubstr(
                  fmt::format("1 keys occur in several shards, the first is 'k8' in {} and {}",
                              folder / "s1-02.tar", folder / "s1-08.tar"))));
}

}  // namespace
}  // namespace goban::train::data
