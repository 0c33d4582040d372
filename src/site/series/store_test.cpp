// Writing and reading a store: contents, repeated imports, crashes, damage.
#include <filesystem>
#include <gmock/gmock.h>

#include "base/random.hpp"
#include "base/test_folder.hpp"
#include "site/series/store_reader.hpp"
#include "site/series/store_writer.hpp"

namespace goban::site::series {
namespace {

constexpr int64_t kStart_ms = 1'554'422'430'000;  // 2019-04-05 00:00:30 UTC
constexpr int64_t kMinute_ms = 60'000;
const DeviceKey kGpu{"g0001", "0", "GPU-1"};

Reading value(double v) { return {State::Value, v}; }

std::unique_ptr<StoreWriter> writer(const std::string& path) {
  auto opened = StoreWriter::open(path, {60'000, false});
  EXPECT_TRUE(opened) << opened.error().text();
  return std::move(*opened);
}

StoreReader reader(const std::string& path) {
  auto opened = StoreReader::open(path, Metric::GpuUtilization);
  EXPECT_TRUE(opened) << opened.error().text();
  return std::move(*opened);
}

void add(StoreWriter& store, int64_t time_ms, Reading reading, const DeviceKey& gpu = kGpu) {
  ASSERT_TRUE(store.add(gpu, Metric::GpuUtilization, time_ms, reading));
}

/// "0 35 na stale" in order of time.
std::string codes_of(const StoreReader& store, const DeviceKey& gpu = kGpu) {
  std::vector<StoreReader::Code> codes;
  const auto tracks = store.find(gpu);
  store.read(tracks, INT64_MIN / 2, INT64_MAX / 2, codes);
  std::string text;
  for (const auto& code : codes) {
    if (!text.empty()) text += ' ';
    text += is_value(code.code)              ? std::to_string(code.code)
            : code.code == kNotAvailableCode ? "na"
                                             : "stale";
  }
  return text;
}

std::string only_file(const std::string& store) {
  return store + "/gpu_utilization/2019-04.series";
}

TEST(Store, ZeroStaleAndNotAvailableStayApart) {
  const base::TestFolder folder("marks");
  {
    const auto store = writer(folder.path());
    add(*store, kStart_ms, value(0));
    add(*store, kStart_ms + kMinute_ms, {State::NotAvailable, 0});
    add(*store, kStart_ms + 2 * kMinute_ms, {State::Stale, 0});
    add(*store, kStart_ms + 4 * kMinute_ms, value(100));
    ASSERT_TRUE(store->finish());
    EXPECT_EQ(store->counts().written, 4U);
  }
  const StoreReader store = reader(folder.path());
  EXPECT_EQ(codes_of(store), "0 na stale 100");
  const auto tracks = store.find(kGpu);
  CodeCounts counts(100);
  const auto visit = store.count(tracks, kStart_ms, kStart_ms + 4 * kMinute_ms, counts);
  EXPECT_EQ(visit.slots, 5U);
  EXPECT_EQ(counts.values(), 2U);
  EXPECT_EQ(counts.stale(), 1U);
  EXPECT_EQ(counts.not_available(), 1U);
}

TEST(Store, ValuesThatCannotBeAreCountedNotClipped) {
  const base::TestFolder folder("range");
  const auto store = writer(folder.path());
  add(*store, kStart_ms, value(101));
  add(*store, kStart_ms + kMinute_ms, value(-1));
  add(*store, kStart_ms + 2 * kMinute_ms, value(std::nan("")));
  add(*store, kStart_ms + 3 * kMinute_ms, value(99.6));
  ASSERT_TRUE(store->finish());
  EXPECT_EQ(store->counts().out_of_range, 3U);
  EXPECT_THAT(store->counts().first_out_of_range, testing::HasSubstr("101 percent"));
  EXPECT_EQ(codes_of(reader(folder.path())), "100");
}

TEST(Store, JitterFindsItsSlotAndEarlierSamplesMoveTheStart) {
  const base::TestFolder folder("jitter");
  {
    const auto store = writer(folder.path());
    add(*store, kStart_ms + 10 * kMinute_ms, value(10));
    add(*store, kStart_ms + 11 * kMinute_ms + 9'000, value(11));
    add(*store, kStart_ms + 12 * kMinute_ms - 9'000, value(12));
    add(*store, kStart_ms + 12 * kMinute_ms - 8'000, value(50));  // same slot: the first stays
    add(*store, kStart_ms + 2'000, value(1));
    ASSERT_TRUE(store->finish());
    EXPECT_EQ(store->counts().same_slot, 1U);
  }
  const StoreReader store = reader(folder.path());
  EXPECT_EQ(codes_of(store), "1 10 11 12");
  EXPECT_EQ(store.tracks()[0].blocks[0].head.jitter_ms, 9'000U);
  EXPECT_EQ(store.tracks()[0].blocks[0].head.start_ms, kStart_ms);
}

TEST(Store, ImportingTwiceChangesNothing) {
  const base::TestFolder folder("twice");
  const auto import = [&] {
    const auto store = writer(folder.path());
    for (int64_t i = 0; i < 5000; ++i) {  // across midnight
      add(*store, kStart_ms + i * kMinute_ms, value(static_cast<double>(i % 100)));
    }
    EXPECT_TRUE(store->finish());
    return store->counts();
  };
  EXPECT_EQ(import().written, 5000U);
  const std::string before = base::TestFolder::read(only_file(folder.path()));
  const WriteCounts again = import();
  EXPECT_EQ(again.written, 0U);
  EXPECT_EQ(again.already_there, 5000U);
  EXPECT_EQ(base::TestFolder::read(only_file(folder.path())), before);
}

TEST(Store, ABackfillFillsHolesOnly) {
  const base::TestFolder folder("backfill");
  {
    const auto store = writer(folder.path());
    for (int64_t i = 0; i < 10; ++i) {
      if (i < 3 || i > 5) add(*store, kStart_ms + i * kMinute_ms, value(1));
    }
    ASSERT_TRUE(store->finish());
  }
  {
    const auto store = writer(folder.path());
    for (int64_t i = 0; i < 12; ++i) add(*store, kStart_ms + i * kMinute_ms, value(2));
    ASSERT_TRUE(store->finish());
    EXPECT_EQ(store->counts().written, 5U);
  }
  const StoreReader store = reader(folder.path());
  EXPECT_TRUE(store.tracks()[0].overlaps);
  EXPECT_EQ(codes_of(store), "1 1 1 2 2 2 1 1 1 1 2 2");
  CodeCounts counts(100);
  const auto tracks = store.find(kGpu);
  store.count(tracks, kStart_ms + 2 * kMinute_ms, kStart_ms + 10 * kMinute_ms, counts);
  EXPECT_EQ(counts.count(1), 5U);
  EXPECT_EQ(counts.count(2), 4U);
}

TEST(Store, DevicesAreFoundByUuidAndByPlace) {
  const base::TestFolder folder("find");
  {
    const auto store = writer(folder.path());
    add(*store, kStart_ms, value(1), {"a", "0", "GPU-1"});
    add(*store, kStart_ms + kMinute_ms, value(2), {"a", "0", "GPU-2"});      // replaced
    add(*store, kStart_ms + 2 * kMinute_ms, value(3), {"b", "0", "GPU-1"});  // and installed there
    add(*store, kStart_ms, value(4), {"a", "1", ""});
    ASSERT_TRUE(store->finish());
  }
  const StoreReader store = reader(folder.path());
  EXPECT_EQ(codes_of(store, {"a", "0", ""}), "1 2");
  EXPECT_EQ(codes_of(store, {"a", "0", "GPU-2"}), "2");
  EXPECT_EQ(codes_of(store, {"", "", "GPU-1"}), "1 3");
  EXPECT_EQ(codes_of(store, {"a", "1", "GPU-9"}), "4");
  EXPECT_EQ(codes_of(store, {"c", "0", ""}), "");
}

TEST(Store, OneWriterAtATime) {
  const base::TestFolder folder("lock");
  const auto first = writer(folder.path());
  const auto second = StoreWriter::open(folder.path(), {});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().text(), testing::HasSubstr("another import"));
}

/// A store with three days of two GPUs, and the bytes of its file.
std::string small_store(const base::TestFolder& folder) {
  const auto store = writer(folder.path());
  base::Random random(1);
  for (int64_t i = 0; i < 3 * 1440; ++i) {
    for (const char* index : {"0", "1"}) {
      add(*store, kStart_ms + i * kMinute_ms, value(static_cast<double>(random.below(101))),
          {"g0001", index, ""});
    }
  }
  EXPECT_TRUE(store->finish());
  return base::TestFolder::read(only_file(folder.path()));
}

TEST(Store, AWriteCutOffAtAnyByteLosesOnlyTheLastRecord) {
  const base::TestFolder folder("torn");
  const std::string whole = small_store(folder);
  const std::string path = only_file(folder.path());
  size_t records = 0;
  for (size_t size = 0; size < whole.size();
       size += size < 200 || size > whole.size() - 40 ? 1 : 97) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    RecordScanner scanner({reinterpret_cast<const uint8_t*>(whole.data()), size});
    while (scanner.next()) {
    }
    {
      const StoreReader store = reader(folder.path());
      size_t blocks = 0;
      for (const Track& track : store.tracks()) blocks += track.blocks.size();
      EXPECT_GE(blocks, records);
      records = blocks;
      EXPECT_EQ(store.damage().empty(), size == scanner.end()) << size;
    }
    {
      const auto store = writer(folder.path());
      add(*store, kStart_ms, value(1), {"other", "0", ""});
      ASSERT_TRUE(store->finish());
      EXPECT_EQ(store->counts().cut_bytes, size - scanner.end());
    }
    const StoreReader store = reader(folder.path());
    EXPECT_TRUE(store.damage().empty());
    EXPECT_EQ(codes_of(store, {"other", "0", ""}), "1");
  }
}

TEST(Store, AFlippedBitIsNoticedAndOnlyItsBlockIsLost) {
  const base::TestFolder folder("flip");
  const std::string whole = small_store(folder);
  const std::string path = only_file(folder.path());
  CodeCounts counts(100);
  const auto samples = [&] {
    const StoreReader store = reader(folder.path());
    uint64_t seen = 0;
    uint64_t damaged = store.damage().size();
    for (const char* index : {"0", "1"}) {
      counts.clear();
      const auto tracks = store.find({"g0001", index, ""});
      damaged += store.count(tracks, 0, INT64_MAX / 2, counts).damaged_blocks;
      seen += counts.values();
    }
    EXPECT_EQ(damaged > 0, seen < 2U * 3 * 1440);
    return seen;
  };
  EXPECT_EQ(samples(), 2U * 3 * 1440);
  for (size_t at = 80; at < whole.size(); at += 131) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << changed;
    const uint64_t seen = samples();
    EXPECT_LT(seen, 2U * 3 * 1440) << at;
    EXPECT_GE(seen, 3U * 1440) << at;  // worst case: all of one GPU, as its name was hit
  }
}

TEST(Store, OtherFilesAreRefused) {
  const base::TestFolder folder("other");
  std::filesystem::create_directories(folder / "gpu_utilization");
  std::ofstream(only_file(folder.path())) << std::string(500, 'x');
  const auto store = writer(folder.path());
  ASSERT_TRUE(store->add(kGpu, Metric::GpuUtilization, kStart_ms, value(1)));
  const auto finished = store->finish();
  ASSERT_FALSE(finished);
  EXPECT_THAT(finished.error().text(), testing::HasSubstr("2019-04.series"));
  const auto absent = StoreReader::open(folder / "nothing", Metric::GpuUtilization);
  ASSERT_FALSE(absent);
  EXPECT_THAT(absent.error().text(), testing::HasSubstr("goban series import"));
}

TEST(Store, NodesAreFoundWithoutTheirDomainIfThatIsUnambiguous) {
  const base::TestFolder folder("domains");
  {
    const auto store = writer(folder.path());
    add(*store, kStart_ms, value(1), {"a.site", "0", ""});
    add(*store, kStart_ms, value(2), {"b", "0", ""});
    add(*store, kStart_ms, value(3), {"c.x", "0", ""});
    add(*store, kStart_ms, value(4), {"c.y", "0", ""});
    add(*store, kStart_ms, value(5), {"10.0.0.1", "0", ""});
    ASSERT_TRUE(store->finish());
  }
  const StoreReader store = reader(folder.path());
  EXPECT_EQ(codes_of(store, {"a", "0", ""}), "1");
  EXPECT_EQ(codes_of(store, {"b.site", "0", ""}), "2");
  EXPECT_EQ(codes_of(store, {"a.other", "0", ""}), "");
  EXPECT_EQ(codes_of(store, {"c", "0", ""}), "");
  EXPECT_EQ(codes_of(store, {"c.y", "0", ""}), "4");
  EXPECT_EQ(codes_of(store, {"10", "0", ""}), "");
}

TEST(Store, SeveralStoresReadAsOne) {
  const base::TestFolder folder("several");
  const std::vector<std::string> stores{folder / "a", folder / "b"};
  for (size_t i = 0; i < 2; ++i) {
    const auto store = writer(stores[i]);
    add(*store, kStart_ms + static_cast<int64_t>(i) * kMinute_ms, value(static_cast<double>(i)));
    add(*store, kStart_ms + 5 * kMinute_ms, value(9));
    ASSERT_TRUE(store->finish());
  }
  const auto both = StoreReader::open(stores, Metric::GpuUtilization);
  ASSERT_TRUE(both);
  EXPECT_EQ(codes_of(*both), "0 1 9");
}

}  // namespace
}  // namespace goban::site::series
