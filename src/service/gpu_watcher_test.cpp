#include "service/gpu_watcher.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <gmock/gmock.h>
#include <thread>
#include <unistd.h>

#include "series/store_reader.hpp"
#include "service/test_desk.hpp"

namespace goban::service {
namespace {

using engine::local::GpuWatch;
using engine::local::LocalGpu;

constexpr base::TimeNs kStart = 1'700'000'000 * base::kSecond;

struct GpuWatcherTest : testing::Test {
  GpuWatcherTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "goban_watch_XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
    options.every_ns = 2'000'000;
    options.keep_every_ns = base::kSecond;
    options.write_every_ns = 1000 * base::kSecond;
    options.wall_clock = [this] { return clock.fetch_add(step); };
    options.say = [this](const std::string& line) { said += line; };
  }
  ~GpuWatcherTest() override { std::filesystem::remove_all(folder); }

  /// One of 16 virtual GPUs of 30 W at rest.
  std::vector<LocalGpu> gpus() const {
    LocalGpu gpu;
    gpu.is_virtual = true;
    gpu.power_idle_w = 30;
    gpu.power_max_w = 230;
    return std::vector<LocalGpu>(16, gpu);
  }
  /// Looks until it holds.
  template <typename Holds>
  bool wait_for(const GpuWatcher& watcher, Holds holds) {
    for (int i = 0; i < 5000; ++i) {
      if (holds(watcher.latest())) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

  std::string folder;
  std::string said;
  std::atomic<base::TimeNs> clock = kStart;
  std::atomic<base::TimeNs> step = base::kSecond / 4;
  GpuWatcherOptions options;
  TestDesk desk;
};

TEST_F(GpuWatcherTest, ReadingsAreThoseOfTheGpus) {
  const GpuWatcher watcher(GpuWatch(folder, gpus()), desk, options);
  ASSERT_TRUE(wait_for(watcher, [](const auto& now) { return now.gpus.size() == 16; }));
  const GpuReadings now = watcher.latest();
  EXPECT_GE(now.at_ns, kStart);
  EXPECT_EQ(now.gpus[3].util_pct, 0);
  EXPECT_EQ(now.gpus[3].power_w, 30);
  EXPECT_EQ(now.gpus[3].temperature_c, -1);
}

TEST_F(GpuWatcherTest, OldReadingsAreNotGivenOut) {
  options.every_ns = 3600 * base::kSecond;
  const GpuWatcher watcher(GpuWatch(folder, gpus()), desk, options);
  ASSERT_TRUE(wait_for(watcher, [](const auto& now) { return now.gpus.size() == 16; }));
  clock += 3600 * base::kSecond;
  EXPECT_TRUE(watcher.latest().gpus.empty());
  EXPECT_GT(watcher.latest().at_ns, 0) << "when they were taken stays known";
}

TEST_F(GpuWatcherTest, TheStoreHasThem) {
  options.series = folder + "/series";
  {
    const GpuWatcher watcher(GpuWatch(folder, gpus()), desk, options);
    const base::TimeNs end = kStart + 20 * base::kSecond;
    ASSERT_TRUE(wait_for(watcher, [&](const auto& now) { return now.at_ns > end; }));
  }
  EXPECT_EQ(said, "");
  const auto reader = series::StoreReader::open(options.series, series::Metric::GpuPower);
  ASSERT_TRUE(reader) << reader.error().text();
  EXPECT_EQ(reader->step_ms(), 1000U);
  const auto tracks = reader->find({.node = "n1", .device = "2", .uuid = {}});
  ASSERT_EQ(tracks.size(), 1U);
  std::vector<series::StoreReader::Code> codes;
  static_cast<void>(reader->read(tracks, INT64_MIN, INT64_MAX, codes));
  EXPECT_GE(std::ranges::count(codes, 30, &series::StoreReader::Code::code), 3);
  const auto none = series::StoreReader::open(options.series, series::Metric::GpuTemperature);
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->tracks().empty()) << "what is not known is not written";
}

TEST_F(GpuWatcherTest, AStoreThatCannotBeWrittenIsSaidOnce) {
  options.series = "/proc/none/series";
  options.write_every_ns = base::kSecond;
  {
    const GpuWatcher watcher(GpuWatch(folder, gpus()), desk, options);
    const base::TimeNs end = kStart + 20 * base::kSecond;
    ASSERT_TRUE(wait_for(watcher, [&](const auto& now) { return now.at_ns > end; }));
  }
  EXPECT_THAT(said, testing::HasSubstr("/proc/none/series"));
  EXPECT_EQ(said.find("readings"), said.rfind("readings"));
}

}  // namespace
}  // namespace goban::service
