#include "serve/daemon/gpu_watcher.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <gmock/gmock.h>
#include <thread>
#include <unistd.h>

#include "live/engine/engines.hpp"
#include "serve/api/test_scheduler_client.hpp"
#include "site/series/store_reader.hpp"

namespace goban::serve::daemon {
namespace {

using base::gpus::LocalGpu;

constexpr base::TimeNs kStart = 1'700'000'000 * base::kSecond;

struct GpuWatcherTest : testing::Test {
  GpuWatcherTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "goban_watch_XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
    engine = *live::engine::make_engine({.state = folder, .machine = {.gpus = gpus()}});
    options.every_ns = 2'000'000;
    options.keep_every_ns = base::kSecond;
    options.write_every_ns = 1000 * base::kSecond;
    options.wall_clock = [this] { return clock.fetch_add(step); };
    options.say = [this](const std::string& line) { said += line; };
  }
  ~GpuWatcherTest() override { std::filesystem::remove_all(folder); }

  /// One of 16 virtual GPUs with an idle power of 30 W.
  static std::vector<LocalGpu> gpus() {
    LocalGpu gpu;
    gpu.is_virtual = true;
    gpu.power_idle_w = 30;
    gpu.power_max_w = 230;
    return std::vector<LocalGpu>(16, gpu);
  }
  /// Polls until the condition holds.
  template <typename Holds>
  bool wait_for(const GpuWatcher& watcher, Holds holds) {
    for (int i = 0; i < 5000; ++i) {
      if (holds(watcher.latest())) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

  std::string folder;
  live::EngineParts engine;
  std::string said;
  std::atomic<base::TimeNs> clock = kStart;
  std::atomic<base::TimeNs> step = base::kSecond / 4;
  GpuWatcherOptions options;
  api::TestSchedulerClient scheduler;
};

TEST_F(GpuWatcherTest, ReadingsAreThoseOfTheGpus) {
  const GpuWatcher watcher(*engine.view, scheduler, options);
  ASSERT_TRUE(wait_for(watcher, [](const auto& now) { return now.gpus.size() == 16; }));
  const api::GpuReadings now = watcher.latest();
  EXPECT_GE(now.at_ns, kStart);
  EXPECT_EQ(now.gpus[3].util_pct, 0);
  EXPECT_EQ(now.gpus[3].power_w, 30);
  EXPECT_EQ(now.gpus[3].temperature_c, -1);
}

TEST_F(GpuWatcherTest, OldReadingsAreNotGivenOut) {
  options.every_ns = 3600 * base::kSecond;
  const GpuWatcher watcher(*engine.view, scheduler, options);
  ASSERT_TRUE(wait_for(watcher, [](const auto& now) { return now.gpus.size() == 16; }));
  clock += 3600 * base::kSecond;
  EXPECT_TRUE(watcher.latest().gpus.empty());
  EXPECT_GT(watcher.latest().at_ns, 0) << "the time of the readings is kept";
}

TEST_F(GpuWatcherTest, TheStoreHasThem) {
  options.series = folder + "/series";
  {
    const GpuWatcher watcher(*engine.view, scheduler, options);
    const base::TimeNs end = kStart + 20 * base::kSecond;
    ASSERT_TRUE(wait_for(watcher, [&](const auto& now) { return now.at_ns > end; }));
  }
  EXPECT_EQ(said, "");
  const auto reader =
      site::series::StoreReader::open(options.series, site::series::Metric::GpuPower);
  ASSERT_TRUE(reader) << reader.error().text();
  EXPECT_EQ(reader->step_ms(), 1000U);
  const auto tracks = reader->find({.node = "n1", .device = "2", .uuid = {}});
  ASSERT_EQ(tracks.size(), 1U);
  std::vector<site::series::StoreReader::Code> codes;
  static_cast<void>(reader->read(tracks, INT64_MIN, INT64_MAX, codes));
  EXPECT_GE(std::ranges::count(codes, 30, &site::series::StoreReader::Code::code), 3);
  const auto none =
      site::series::StoreReader::open(options.series, site::series::Metric::GpuTemperature);
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->tracks().empty()) << "unknown values are not written";
}

TEST_F(GpuWatcherTest, CurvesAreOfTheStoreAndOfWhatIsNotWrittenYet) {
  options.series = folder + "/series";
  const api::GpuWindow window{.gpus = {core::model::GpuId(6U), core::model::GpuId(99U)},
                              .from_ns = kStart,
                              .to_ns = kStart + 40 * base::kSecond,
                              .points_max = 8};
  {
    const GpuWatcher before(*engine.view, scheduler, options);
    ASSERT_TRUE(
        wait_for(before, [&](const auto& now) { return now.at_ns > kStart + 20 * base::kSecond; }));
  }
  const base::TimeNs written_ns = clock;
  const GpuWatcher watcher(*engine.view, scheduler, options);
  ASSERT_TRUE(
      wait_for(watcher, [&](const auto& now) { return now.at_ns > kStart + 45 * base::kSecond; }));
  const auto curves = watcher.curves(window);
  ASSERT_TRUE(curves) << curves.error().text();
  EXPECT_EQ(curves->step_s, 5);
  ASSERT_EQ(curves->gpus.size(), 2U);
  EXPECT_TRUE(curves->gpus[1].empty()) << "there is no such GPU";
  const std::vector<api::GpuPoint>& points = curves->gpus[0];
  ASSERT_GE(points.size(), 6U);
  ASSERT_LE(points.size(), 8U);
  EXPECT_LT(points.front().at_s, base::to_seconds(written_ns)) << "from the store";
  EXPECT_GT(points.back().at_s, base::to_seconds(kStart) + 35) << "from memory";
  for (const api::GpuPoint& point : points) {
    EXPECT_EQ(point.mean.power_w, 30);
    EXPECT_EQ(point.mean.util_pct, 0);
    EXPECT_EQ(point.mean.mem_used_bytes, 0);
  }
}

TEST_F(GpuWatcherTest, BeforeTheFirstWriteCurvesAreOfWhatIsInMemory) {
  options.series = folder + "/series";
  const GpuWatcher watcher(*engine.view, scheduler, options);
  const base::TimeNs end = kStart + 20 * base::kSecond;
  ASSERT_TRUE(wait_for(watcher, [&](const auto& now) { return now.at_ns > end; }));
  const auto curves =
      watcher.curves({.gpus = {core::model::GpuId(0U)}, .from_ns = kStart, .to_ns = end});
  ASSERT_TRUE(curves) << curves.error().text();
  EXPECT_GT(curves->gpus[0].size(), 3U);
}

TEST_F(GpuWatcherTest, WithoutAStoreCurvesAreOfTheLastHour) {
  step = 60 * base::kSecond;
  const GpuWatcher watcher(*engine.view, scheduler, options);
  const base::TimeNs end = kStart + 3 * 3600 * base::kSecond;
  ASSERT_TRUE(wait_for(watcher, [&](const auto& now) { return now.at_ns > end; }));
  const auto curves =
      watcher.curves({.gpus = {core::model::GpuId(0U)}, .from_ns = kStart, .to_ns = clock});
  ASSERT_TRUE(curves);
  EXPECT_FALSE(curves->gpus[0].empty());
  EXPECT_FALSE(std::filesystem::exists(folder + "/n0"));
}

TEST_F(GpuWatcherTest, AStoreThatCannotBeWrittenIsSaidOnce) {
  options.series = "/proc/none/series";
  options.write_every_ns = base::kSecond;
  {
    const GpuWatcher watcher(*engine.view, scheduler, options);
    const base::TimeNs end = kStart + 20 * base::kSecond;
    ASSERT_TRUE(wait_for(watcher, [&](const auto& now) { return now.at_ns > end; }));
  }
  EXPECT_THAT(said, testing::HasSubstr("/proc/none/series"));
  EXPECT_EQ(said.find("readings"), said.rfind("readings"));
}

}  // namespace
}  // namespace goban::serve::daemon
