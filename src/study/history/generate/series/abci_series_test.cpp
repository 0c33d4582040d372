// A few synthetic days: placement without overlap, truth equal to the store's contents, shares of
// the paper's figures, identical bytes when repeated.
#include "study/history/generate/series/abci_series.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <sstream>
#include <unistd.h>

#include "base/csv.hpp"
#include "base/number.hpp"
#include "base/text_file.hpp"
#include "site/records/record_csv.hpp"
#include "site/series/job_series.hpp"
#include "study/history/generate/series/placement.hpp"
#include "study/history/generate/series/shapes.hpp"

namespace goban::study::history {
namespace {

class AbciSeries : public testing::Test {
 public:
  AbciSeries()
      : folder(std::filesystem::temp_directory_path() /
               ("goban_synthetic_" + std::to_string(getpid()) + "_" +
                testing::UnitTest::GetInstance()->current_test_info()->name())) {}
  ~AbciSeries() override { std::filesystem::remove_all(folder); }
  AbciSeries(const AbciSeries&) = delete;
  AbciSeries& operator=(const AbciSeries&) = delete;

  [[nodiscard]] SeriesYearOptions options(const std::string& name, int64_t jobs,
                                          int32_t days) const {
    SeriesYearOptions options;
    options.abci.num_jobs = jobs;
    options.abci.days = days;
    options.folder = folder.string() + "/" + name;
    options.sync = false;
    return options;
  }
  static std::string read(const std::string& path) { return *base::read_text_file(path); }

  std::filesystem::path folder;
};

struct Held {
  int64_t start_s = 0;
  int64_t end_s = 0;
};

/// The jobs of a jobs.csv as the series see them.
std::vector<site::series::SeriesJob> jobs_of(const std::string& text) {
  base::CsvReader csv(text, "jobs.csv");
  const size_t id = *csv.require("job_id");
  const size_t start = *csv.require("start_unix_s");
  const size_t end = *csv.require("end_unix_s");
  const size_t gpus = *csv.require("gpus");
  std::vector<site::series::SeriesJob> jobs;
  std::vector<site::records::HeldGpu> list;
  while (csv.next()) {
    site::series::SeriesJob& job = jobs.emplace_back();
    job.id = csv.field(id);
    job.start_ms = *base::parse_int(csv.field(start)) * 1000;
    job.end_ms = *base::parse_int(csv.field(end)) * 1000;
    EXPECT_TRUE(site::records::parse_gpu_list(csv.field(gpus), list));
    for (const site::records::HeldGpu& gpu : list) {
      job.devices.push_back({std::string(gpu.node), std::string(gpu.gpu), ""});
    }
  }
  return jobs;
}

TEST_F(AbciSeries, TheStoreSaysWhatTheTruthSays) {
  SeriesYearOptions small = options("a", 40'000, 3);
  small.nodes = 600;
  const auto made = generate_series_year(small);
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_GT(made->jobs, 100);
  EXPECT_EQ(made->too_large, 0);
  const auto store = site::series::StoreReader::open(small.folder + "/series",
                                                     site::series::Metric::GpuUtilization);
  ASSERT_TRUE(store);
  EXPECT_EQ(store->tracks().size(), 2400U);
  site::series::JobSeries values(*store, nullptr, {});
  const std::string jobs_text = read(small.folder + "/jobs.csv");
  const std::string truth_text = read(small.folder + "/truth.csv");
  base::CsvReader truth(truth_text, "truth.csv");
  std::map<site::series::DeviceKey, std::vector<Held>> held;
  int64_t compared = 0;
  for (const site::series::SeriesJob& job : jobs_of(jobs_text)) {
    ASSERT_TRUE(truth.next());
    ASSERT_EQ(truth.field(0), job.id);
    const site::series::JobSeriesValues found = values.of(job);
    const auto number = [&](size_t column) { return *base::parse_double(truth.field(column)); };
    EXPECT_EQ(number(2), found.busy) << job.id;
    uint64_t samples = 0;
    for (const site::series::DeviceValues& gpu : found.gpus)
      samples += gpu.values ? gpu.values->count : 0;
    EXPECT_EQ(number(3), samples) << job.id;
    if (found.busy > 0) {
      EXPECT_NEAR(number(4), *found.busy_mean, 1e-9) << job.id;
      EXPECT_NEAR(number(5), *found.busy_sd, 1e-6) << job.id;
      ++compared;
    }
    for (const site::series::DeviceKey& gpu : job.devices) {
      held[gpu].push_back({job.start_ms / 1000, job.end_ms / 1000});
    }
  }
  EXPECT_GT(compared, 100);
  for (auto& [gpu, list] : held) {
    std::ranges::sort(list, {}, &Held::start_s);
    for (size_t i = 1; i < list.size(); ++i) ASSERT_LT(list[i - 1].end_s, list[i].start_s);
  }
}

TEST_F(AbciSeries, TheSameSeedGivesTheSameBytes) {
  SeriesYearOptions first = options("a", 5'000, 2);
  first.nodes = 600;
  SeriesYearOptions second = first;
  second.folder = folder.string() + "/b";
  ASSERT_TRUE(generate_series_year(first));
  ASSERT_TRUE(generate_series_year(second));
  for (const char* file : {"jobs.csv", "truth.csv", "series/gpu_utilization/2019-04.series"}) {
    EXPECT_EQ(read(first.folder + "/" + file), read(second.folder + "/" + file)) << file;
  }
}

// Figures 5a, 5b and 6c of the paper, on the shapes themselves.
TEST(Shapes, SharesOfThePaper) {
  constexpr int64_t kJobs = 20'000;
  int all_four = 0;
  int all_of_many = 0;
  int high = 0;
  for (int64_t job = 0; job < kJobs; ++job) {
    const auto used = [](const std::vector<GpuShape>& shapes) {
      return std::ranges::count_if(shapes, [](const GpuShape& shape) {
        return shape.kind() != GpuShape::Kind::Idle && shape.kind() != GpuShape::Kind::Spike;
      });
    };
    all_four += used(shapes_of_job(1, job, JobUse::OneNode, 4)) == 4 ? 1 : 0;
    const auto many = shapes_of_job(1, job, JobUse::ManyNodes, 8);
    all_of_many += used(many) == 8 ? 1 : 0;
    double sum = 0;
    int samples = 0;
    for (int64_t minute = 0; minute < 60; ++minute) {
      const ShapedSample sample = many[0].at(minute);
      if (sample.missing || sample.stale) continue;
      sum += sample.percent;
      ++samples;
    }
    high += sum / samples > 80 ? 1 : 0;
  }
  EXPECT_NEAR(all_four / double{kJobs}, 0.95, 0.006);
  EXPECT_NEAR(all_of_many / double{kJobs}, 0.88, 0.008);
  EXPECT_NEAR(high / double{kJobs}, 0.60, 0.05);
}

TEST(Placement, FullNodesMakeJobsWaitInOrder) {
  Placement placement(2);
  EXPECT_EQ(placement.start(0, 100, 2).start_s, 0);
  const auto one = placement.start(10, 50, 0);
  EXPECT_EQ(one.start_s, 101);
  const auto whole = placement.start(20, 10, 1);
  EXPECT_EQ(whole.start_s, 101);
  EXPECT_NE(whole.gpus[0].node, one.gpus[0].node);
  const auto other = placement.start(30, 10, 0);
  EXPECT_EQ(other.gpus[0].node, one.gpus[0].node);
  EXPECT_NE(other.gpus[0].gpu, one.gpus[0].gpu);
  EXPECT_EQ(placement.start(40, 10, 2).start_s, 152);
}

}  // namespace
}  // namespace goban::study::history
