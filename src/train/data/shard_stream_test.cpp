// Order, equal shares, resuming, and the loader's order.
#include "train/data/shard_stream.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <numeric>
#include <set>

#include "base/test_folder.hpp"
#include "train/data/image.hpp"
#include "train/data/ordered_loader.hpp"
#include "train/data/tar_writer.hpp"
#include "train/data/token_file.hpp"

namespace goban::train::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// 23 samples in shards of 5, keys 0 to 22.
ShardSet small_set(const base::TestFolder& folder) {
  auto writer = ShardWriter::create(folder / "s-%d.tar", {5, 1'000'000});
  for (int i = 0; i < 23; ++i) {
    EXPECT_TRUE(writer->add({fmt::format("{}", i), {{"txt", fmt::format("t{}", i)}}, "", 0}));
  }
  EXPECT_TRUE(writer->finish());
  ShardSet set;
  for (const std::string& path : writer->paths()) set.shards.push_back(*describe_shard(path));
  return set;
}

std::vector<int> keys_of(ShardStream& stream) {
  std::vector<int> out;
  while (!stream.at_end()) {
    const auto sample = stream.next();
    EXPECT_TRUE(sample) << sample.error().text();
    EXPECT_EQ(*sample->find("txt"), "t" + sample->key);
    out.push_back(std::stoi(sample->key));
  }
  return out;
}

ShardStream stream_of(const ShardSet& set, StreamOptions options) {
  auto out = ShardStream::create(set, options);
  EXPECT_TRUE(out);
  return std::move(*out);
}

TEST(ShardStream, ResampledPartsDrawShardsWithReplacement) {
  const base::TestFolder folder;
  const ShardSet set = small_set(folder);
  StreamOptions options{7, true, 4, 0, 2, 200};
  options.resample = true;
  std::vector<std::vector<int>> keys;
  for (const int64_t part : {0, 1}) {
    options.part = part;
    ShardStream stream = stream_of(set, options);
    EXPECT_EQ(stream.share(), 100);  // more than there are samples
    keys.push_back(keys_of(stream));
    EXPECT_EQ(keys.back().size(), 100U);
    EXPECT_GE(std::set<int>(keys.back().begin(), keys.back().end()).size(), 15U);
    stream.seek(1, 0);
    EXPECT_NE(keys_of(stream), keys.back());
    // A run goes on at any sample.
    stream.seek(0, 37);
    EXPECT_EQ(keys_of(stream), std::vector<int>(keys.back().begin() + 37, keys.back().end()));
  }
  EXPECT_NE(keys[0], keys[1]);
}

TEST(ShardStream, PartsAreEqualAndDisjointInEveryEpoch) {
  const base::TestFolder folder;
  const ShardSet set = small_set(folder);
  std::set<std::vector<int>> orders;
  for (const int64_t epoch : {0, 1, 2}) {
    std::vector<int> all;
    for (const int64_t part : {0, 1, 2, 3}) {
      ShardStream stream = stream_of(set, {7, true, 4, part, 4, 0});
      EXPECT_EQ(stream.share(), 5);
      stream.seek(epoch, 0);
      const std::vector<int> mine = keys_of(stream);
      EXPECT_EQ(mine.size(), 5U);
      all.insert(all.end(), mine.begin(), mine.end());
    }
    orders.insert(all);
    std::ranges::sort(all);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end()) << "a sample occurs twice";
  }
  EXPECT_EQ(orders.size(), 3U) << "epochs have the same order";
}

TEST(ShardStream, ResumesExactlyAtEveryPosition) {
  const base::TestFolder folder;
  const ShardSet set = small_set(folder);
  ShardStream stream = stream_of(set, {3, true, 6, 0, 1, 0});
  stream.seek(2, 0);
  const std::vector<int> whole = keys_of(stream);
  ASSERT_EQ(whole.size(), 23U);
  for (int64_t position = 0; position <= 23; ++position) {
    ShardStream again = stream_of(set, {3, true, 6, 0, 1, 0});
    again.seek(2, position);
    EXPECT_EQ(keys_of(again), std::vector<int>(whole.begin() + position, whole.end()));
  }
}

TEST(ShardStream, WithoutShufflingTheOrderIsThatOfTheFiles) {
  const base::TestFolder folder;
  ShardStream stream = stream_of(small_set(folder), {3, false, 0, 0, 1, 7});
  EXPECT_THAT(keys_of(stream), ElementsAre(0, 1, 2, 3, 4, 5, 6));
}

TEST(ShardStream, TooFewSamplesAndWrongIndexesAreNamed) {
  const base::TestFolder folder;
  ShardSet set = small_set(folder);
  const auto few = ShardStream::create(set, {1, true, 0, 0, 24, 0});
  ASSERT_FALSE(few);
  EXPECT_THAT(few.error().text(), HasSubstr("23 samples for 24 parts"));
  set.shards[0].samples = 6;
  ShardStream stream = stream_of(set, {3, false, 0, 0, 1, 0});
  base::Result<Sample> sample = Sample{};
  while (sample && !stream.at_end()) sample = stream.next();
  ASSERT_FALSE(sample);
  EXPECT_THAT(sample.error().text(), HasSubstr("s-0.tar: has fewer than the 6 samples"));
  set.shards[0].samples = 2;
  stream = stream_of(set, {3, false, 0, 0, 1, 0});
  sample = Sample{};
  while (sample && !stream.at_end()) sample = stream.next();
  ASSERT_FALSE(sample) << "the others would be left out";
  EXPECT_THAT(sample.error().text(), HasSubstr("s-0.tar: has more than the 2 samples"));
}

using Loader = OrderedLoader<int>;

/// Items 0 .. count-1, of which `fails` fails.
Loader::Take numbers(int count, int fails = -1) {
  return [count, fails, next = 0]() mutable -> base::Result<std::optional<Loader::Finish>> {
    if (next == count) return std::optional<Loader::Finish>{};
    const int mine = next++;
    return std::optional<Loader::Finish>([mine, fails]() -> base::Result<int> {
      std::this_thread::sleep_for(std::chrono::microseconds((mine * 37) % 5 * 100));
      if (mine == fails) return base::failed(fmt::format("item {}", mine));
      return mine;
    });
  };
}

TEST(OrderedLoader, KeepsTheOrderWithAnyNumberOfThreads) {
  for (const size_t threads : {1U, 2U, 5U}) {
    Loader loader(numbers(60), threads, 4);
    for (int i = 0; i < 60; ++i) EXPECT_EQ(**loader.next(), i);
    EXPECT_FALSE(loader.next()->has_value());
  }
}

TEST(OrderedLoader, AFailureComesInItsPlaceAndIsTheEnd) {
  Loader loader(numbers(60, 11), 3, 4);
  for (int i = 0; i < 11; ++i) EXPECT_EQ(**loader.next(), i);
  const auto failed = loader.next();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "item 11");
}

TEST(OrderedLoader, TakesNoMoreThanItsCapacityAhead) {
  std::atomic<int> taken = 0;
  Loader loader(
      [&taken]() -> base::Result<std::optional<Loader::Finish>> {
        ++taken;
        return std::optional<Loader::Finish>([]() -> base::Result<int> { return 0; });
      },
      3, 4);
  ASSERT_TRUE(loader.next());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(taken, 5);  // one given out, four waiting; then the threads pause and can be joined
}

TEST(Image, PgmPngAndJpegDecodeToGrey) {
  const std::string pixels("\x00\x40\x80\xff", 4);
  const auto pgm = decode_grey(to_pgm(2, 2, pixels));
  ASSERT_TRUE(pgm);
  EXPECT_THAT(pgm->pixels, ElementsAre(0, 0x40, 0x80, 0xff));
  EXPECT_FALSE(decode_grey(to_pgm(2, 2, pixels).substr(0, 13)));
  EXPECT_FALSE(decode_grey("P5\n999999999 999999999\n255\n"));
  EXPECT_FALSE(decode_grey("GIF89a"));
  const std::string folder = std::string(GOBAN_SOURCE_DIR) + "/tests/corpus/image/";
  // Written by Pillow 13.0.0: 4 x 2, grey values 0, 30, 60, ... 210.
  const auto png = decode_grey(base::TestFolder::read(folder + "ramp.png"));
  ASSERT_TRUE(png) << png.error().text();
  EXPECT_EQ(png->width, 4);
  EXPECT_THAT(png->pixels, ElementsAre(0, 30, 60, 90, 120, 150, 180, 210));
  const std::string jpeg_bytes = base::TestFolder::read(folder + "flat.jpg");
  const auto jpeg = decode_grey(jpeg_bytes);  // 8 x 8, all 100
  ASSERT_TRUE(jpeg) << jpeg.error().text();
  EXPECT_THAT(jpeg->pixels,
              ::testing::Each(::testing::AllOf(::testing::Ge(99), ::testing::Le(101))));
  EXPECT_FALSE(decode_grey(jpeg_bytes.substr(0, jpeg_bytes.size() - 12)));
}

TEST(TokenFile, ReadsBothWidthsAndNamesBadTokens) {
  const base::TestFolder folder;
  const std::string two = folder.write("a.bin", std::string("\x01\x00\x02\x01", 4));
  EXPECT_THAT(*read_tokens(two, 2, 1000), ElementsAre(1, 258));
  EXPECT_THAT(*read_tokens(two, 4, 1 << 30), ElementsAre(0x01020001));
  const auto large = read_tokens(two, 2, 256);
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().text(),
              HasSubstr("token 1 (at byte 2) is 258; the vocabulary has 256"));
  EXPECT_THAT(read_tokens(folder.write("b.bin", "abc"), 2, 65536).error().text(),
              HasSubstr("ends inside a token"));
}

}  // namespace
}  // namespace goban::train::data
