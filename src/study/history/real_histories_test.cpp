// Golden counts of the public histories, from a separate program (awk and Python over the same
// files), and published figures of the data sets.
#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "base/test_data.hpp"
#include "study/history/job_reader.hpp"

namespace goban::study::history {
namespace {

/// Contents of a file; sums are over jobs with GPUs.
struct Golden {
  const char* file;
  const char* format;
  int64_t records;
  int64_t rejected;
  int64_t cpu_jobs;
  double gpu_s;
  double duration_s;
  int64_t first_submit_s;
  int64_t last_submit_s;
  bool unsorted;
  double wait_s;  ///< recorded waits
  double walltime_limit_s;
  size_t users;
  size_t accounts;
  int64_t gpu_shares;
};

std::ostream& operator<<(std::ostream& out, const Golden& golden) { return out << golden.file; }

class RealHistories : public testing::TestWithParam<Golden> {};

TEST_P(RealHistories, HaveTheirOwnCounts) {
  const Golden& golden = GetParam();
  const auto path = base::test_data(std::string("traces/") + golden.file);
  if (!path) GTEST_SKIP() << path.error().text();
  const auto result = read_jobs(*path, {});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->format, golden.format);
  EXPECT_EQ(result->records, golden.records);
  EXPECT_EQ(result->rejected, golden.rejected);
  EXPECT_EQ(result->counts.cpu_jobs, golden.cpu_jobs);
  EXPECT_EQ(result->counts.cpu_jobs_left_out, golden.cpu_jobs);
  EXPECT_EQ(result->counts.gpu_shares, golden.gpu_shares);
  EXPECT_EQ(result->unsorted, golden.unsorted);
  const core::model::JobHistory& history = result->history;
  ASSERT_EQ(static_cast<int64_t>(history.jobs.size()),
            golden.records - golden.rejected - golden.cpu_jobs);
  double gpu_s = 0;
  double duration_s = 0;
  double wait_s = 0;
  double limit_s = 0;
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    const core::model::Job& job = history.jobs[i];
    gpu_s += job.work_s * job.request.num_gpus;
    duration_s += job.work_s;
    limit_s += base::to_seconds(job.request.walltime_limit_ns);
    if (!history.recorded.empty() && history.recorded[i].start_ns >= 0) {
      wait_s += base::to_seconds(history.recorded[i].start_ns - job.request.submit_ns);
    }
  }
  EXPECT_NEAR(gpu_s, golden.gpu_s, 0.01);
  EXPECT_NEAR(duration_s, golden.duration_s, 0.01);
  EXPECT_NEAR(wait_s, golden.wait_s, 0.01);
  EXPECT_NEAR(limit_s, golden.walltime_limit_s, 0.01);
  EXPECT_EQ(history.jobs.front().request.submit_ns, golden.first_submit_s * base::kSecond);
  EXPECT_EQ(history.jobs.back().request.submit_ns, golden.last_submit_s * base::kSecond);
  EXPECT_EQ(history.users.size(), golden.users);
  EXPECT_EQ(history.accounts.size(), golden.accounts);
}

constexpr Golden kGolden[] = {
    {"philly/philly_df_schedule.csv.gz", "philly-attempts", 151816, 0, 0, 11659954294, 3611370598,
     1502114581, 1513947731, false, 112172468, 0, 1, 1, 0},
    {"philly/sia_philly.csv.gz", "philly-sia", 82247, 0, 0, 3521082502, 1080390950, 1504521041,
     1513929731, true, 0, 0, 1, 15, 0},
    {"philly/philly_15k_user_status.csv.gz", "lumos-intervals", 15000, 0, 0, 2756749794, 1124305836,
     0, 4977039, false, 0, 0, 136, 1, 0},
    {"philly/chronus_trace_job_Philly_MIX1.csv.gz", "chronus", 30940, 0, 184, 22279688, 8025769, 1,
     20151, true, 0, 0, 1, 11, 0},
    {"helios/helios_15k.csv.gz", "lumos-intervals", 15000, 0, 4204, 1290987967, 147720578, 0,
     1744281, false, 0, 0, 95, 1, 0},
    {"alcf/blue_waters_15k.csv.gz", "lumos-intervals", 15000, 0, 11597, 2039163599, 129542627,
     4892047, 7474484, false, 0, 459004992, 42, 1, 0},
    {"alcf/data_thetagpu.csv.gz", "lumos", 22606, 0, 0, 219065124.89, 141568194.23, 1663881807,
     1690529371, true, 103839323, 433840620, 52, 30, 0},
    {"alibaba-openb-v2023/openb_pod_list_default.csv.gz", "openb", 8152, 0, 1088, 214769257,
     191534921, 0, 12901761, false, 433907, 0, 1, 1, 3078},
    {"alibaba-openb-v2023/openb_pod_list_gpushare100.csv.gz", "openb", 8152, 0, 1088, 116987363,
     116987363, 0, 12474700, true, 368802, 0, 1, 1, 7064},
    {"alibaba-openb-v2023/openb_pod_list_gpuspec33.csv.gz", "openb", 8152, 0, 1088, 214769257,
     191534921, 0, 12901761, false, 433907, 0, 1, 1, 3078},
    {"swf/hpc2n_part.swf.gz", "swf", 3170, 25, 0, 502634281, 31853357, 1027839845, 1032789856,
     false, 54362656, 75541680, 17, 1, 0},
    {"swf/lublin_256_synthetic.swf.gz", "swf", 10000, 0, 0, 2092781168, 48627667, 5094, 7711701,
     false, 0, 0, 1, 1, 0},
};

INSTANTIATE_TEST_SUITE_P(Traces, RealHistories, testing::ValuesIn(kGolden), [](const auto& each) {
  std::string name = each.param.file;
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

TEST(RealHistoriesFacts, PhillyAttempts) {  // regression values of the public logs
  const auto path = base::test_data("traces/philly/philly_df_schedule.csv.gz");
  if (!path) GTEST_SKIP() << path.error().text();
  const auto result = read_jobs(*path, {});
  ASSERT_TRUE(result) << result.error().text();
  std::map<int32_t, int64_t> jobs_of_size;
  int64_t five_minutes = 0;
  for (const core::model::Job& job : result->history.jobs) {
    ++jobs_of_size[job.request.num_gpus];
    five_minutes += job.work_s >= 300 ? 1 : 0;
  }
  EXPECT_EQ(result->history.jobs.size(), 151'816u);
  EXPECT_EQ(five_minutes, 95'418);
  EXPECT_EQ(jobs_of_size[1], 122'287);
  EXPECT_EQ(jobs_of_size[4], 11'957);
  EXPECT_EQ(jobs_of_size[8], 11'676);
  EXPECT_EQ(jobs_of_size[2], 3'435);
  EXPECT_EQ(jobs_of_size[16], 1'910);
}

TEST(RealHistoriesFacts, ThetaGpu) {
  const auto path = base::test_data("traces/alcf/data_thetagpu.csv.gz");
  if (!path) GTEST_SKIP() << path.error().text();
  const auto result = read_jobs(*path, {});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_THAT(result->notes, testing::ElementsAre(testing::HasSubstr("one GPU per node")));
  std::vector<double> hours;
  for (const core::model::Job& job : result->history.jobs) {
    if (job.work_s >= 300) hours.push_back(job.work_s / 3600);
  }
  ASSERT_EQ(hours.size(), 13'175u);
  std::ranges::sort(hours);
  double sum = 0;
  double squares = 0;
  for (const double h : hours) sum += h;
  const double mean = sum / 13'175;
  for (const double h : hours) squares += (h - mean) * (h - mean);
  EXPECT_NEAR(mean, 2.961, 0.0005);
  EXPECT_NEAR(std::sqrt(squares / 13'174), 4.010, 0.0005);
  EXPECT_NEAR(hours[6587], 1.001, 0.0005);
  EXPECT_NEAR(hours.front(), 0.08337, 0.00001);
  EXPECT_NEAR(hours.back(), 40.0007, 0.0001);
}

TEST(RealHistoriesFacts, IntervalsAreTheSubmitTimesOfPhillyAttempts) {
  const auto intervals = base::test_data("traces/philly/philly_15k_user_status.csv.gz");
  const auto attempts = base::test_data("traces/philly/philly_df_schedule.csv.gz");
  if (!intervals) GTEST_SKIP() << intervals.error().text();
  if (!attempts) GTEST_SKIP() << attempts.error().text();
  const auto sums = read_jobs(*intervals, {});
  const auto dates = read_jobs(*attempts, {});
  ASSERT_TRUE(sums && dates);
  ASSERT_EQ(sums->history.jobs.size(), 15'000u);
  const base::TimeNs start_ns = dates->history.jobs[0].request.submit_ns;
  for (size_t i = 0; i < 15'000; ++i) {
    ASSERT_EQ(sums->history.jobs[i].request.submit_ns + start_ns,
              dates->history.jobs[i].request.submit_ns);
  }
}

TEST(RealHistoriesFacts, CpuMachinesHaveCpuJobsOnly) {
  for (const auto& [name, jobs] : {std::pair{"theta", 14'374}, std::pair{"mira", 22'508}}) {
    const auto path = base::test_data(std::string("traces/alcf/data_") + name + ".csv.gz");
    if (!path) GTEST_SKIP() << path.error().text();
    ReadOptions options;
    options.cpu_jobs = CpuJobs::Keep;
    const auto kept = read_jobs(*path, options);
    ASSERT_TRUE(kept) << kept.error().text();
    EXPECT_EQ(kept->counts.cpu_jobs, jobs);
    EXPECT_EQ(kept->history.jobs.size(), static_cast<size_t>(jobs));
    const auto left_out = read_jobs(*path, {});
    ASSERT_TRUE(left_out);
    EXPECT_EQ(left_out->counts.cpu_jobs_left_out, jobs);
    EXPECT_EQ(left_out->history.jobs.size(), 0u);
  }
}

TEST(RealHistoriesFacts, EndsOfHelios) {
  const auto path = base::test_data("traces/helios/helios_15k.csv.gz");
  if (!path) GTEST_SKIP() << path.error().text();
  const auto result = read_jobs(*path, {});
  ASSERT_TRUE(result);
  std::map<core::model::RecordedEnd, int64_t> ends;
  for (const core::model::Recorded& recorded : result->history.recorded) ++ends[recorded.end];
  EXPECT_EQ(ends[core::model::RecordedEnd::Completed], 5'378);
  EXPECT_EQ(ends[core::model::RecordedEnd::Cancelled], 3'375);
  EXPECT_EQ(ends[core::model::RecordedEnd::Failed], 2'043);
}

}  // namespace
}  // namespace goban::study::history
