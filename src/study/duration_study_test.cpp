#include "study/duration_study.hpp"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/byte_source.hpp"
#include "base/random.hpp"
#include "base/test_data.hpp"
#include "study/duration_report.hpp"
#include "study/history/job_reader.hpp"

namespace goban::study {
namespace {

core::model::JobHistory read(const std::string& csv) {
  base::MemorySource source(csv);
  return history::read_jobs(source, "jobs.csv", {}).value().history;
}

/// Jobs one minute apart; job i of user i % 3 runs for `duration(i)` seconds.
template <typename Duration>
std::string csv_of(int jobs, Duration duration) {
  std::string out = "job_id,submit_time,duration,num_gpus,user,model,start_time\n";
  for (int i = 0; i < jobs; ++i) {
    out += fmt::format("{},{},{},1,u{},,{}\n", i, 60 * i, duration(i), i % 3, 60 * i);
  }
  return out;
}

TEST(DurationStudy, JudgesFourFifthsOfTheJobs) {
  const auto study = study_durations(read(csv_of(1000, [](int i) { return 100 * (i % 3 + 1); })));
  EXPECT_EQ(study.jobs, 1000);
  EXPECT_EQ(study.judged, 800);
  EXPECT_TRUE(study.ends_known);
  EXPECT_GT(study.rules.front().within_2x, 0.99);
  EXPECT_LT(study.rules.front().median_ln, 0.1);
  EXPECT_EQ(study.all.jobs, 800);
  ASSERT_EQ(study.users.size(), 3u);
}

TEST(DurationStudy, RunsOfHalfASecondAreCoveredWhereTheyAreNoErrors) {
  const auto study = study_durations(read(csv_of(1000, [](int) { return 0.5; })));
  EXPECT_EQ(study.all.jobs, 800);
  EXPECT_DOUBLE_EQ(study.pinball_mean, 0);
  EXPECT_EQ(study.all.below, 0);
  EXPECT_EQ(study.all.above, 0);
}

TEST(DurationStudy, LearnsNothingFromRunsThatHaveNotEnded) {
  base::Random random(5);
  std::vector<int> durations;
  for (int i = 0; i < 500; ++i) durations.push_back(20 + static_cast<int>(random.below(2000)));
  const auto before = study_durations(
      read(csv_of(500, [&](int i) { return durations.at(static_cast<size_t>(i)); })));
  // The runs of the last hour end after all submissions, whatever their length.
  for (int i = 470; i < 500; ++i) durations.at(static_cast<size_t>(i)) = 1'000'000 + i;
  const auto after = study_durations(
      read(csv_of(500, [&](int i) { return durations.at(static_cast<size_t>(i)); })));
  EXPECT_EQ(before.judged, after.judged);
  EXPECT_LE(after.all.below, before.all.below);
  EXPECT_GE(after.all.above, before.all.above + 20);
  EXPECT_LE(after.all.above, before.all.above + 30);
}

// A user whose runs alternate between 100 s and 1,000 s, each killed at its limit: a mean of 550 s
// is no forecast of a run that ends after 100 s at the latest.
TEST(DurationStudy, RulesKnowTheLimitToo) {
  std::string csv = "job_id,submit_time,duration,num_gpus,user,walltime_s\n";
  for (int i = 0; i < 400; ++i) {
    const int limit_s = i % 2 == 0 ? 100 : 1000;
    csv += fmt::format("{},{},{},1,ann,{}\n", i, 2000 * i, limit_s, limit_s);
  }
  const auto study = study_durations(read(csv));
  const double too_low = std::log(1000.0 / 550) / 2 / 2;  // half of the runs, at the level 0.5
  for (const RuleErrors& rule : study.rules) {
    if (rule.rule != "last-two" && rule.rule != "median-of-similar") continue;
    EXPECT_EQ(rule.jobs, 320) << rule.rule;
    EXPECT_NEAR(rule.pinball_median, too_low, 1e-3) << rule.rule;
  }
}

TEST(DurationStudy, TooFewRunsAreAReasonNotANumber) {
  const auto history = read(csv_of(10, [](int) { return 50; }));
  const auto study = study_durations(history);
  EXPECT_EQ(study.judged, 0);
  const auto report = duration_report(study, history);
  ASSERT_EQ(report.absent.size(), 1u);
  EXPECT_TRUE(report.tables.empty());
  EXPECT_EQ(study_durations({}).jobs, 0);
}

/// Every figure of a study is a number, and shares are shares.
void expect_sound(const DurationStudy& study) {
  for (const RuleErrors& rule : study.rules) {
    EXPECT_TRUE(std::isfinite(rule.median_ln) && std::isfinite(rule.pinball_median)) << rule.rule;
    EXPECT_TRUE(rule.within_2x >= 0 && rule.within_2x <= 1) << rule.rule;
  }
  EXPECT_TRUE(study.all.covered() >= 0 && study.all.covered() <= 1);
  for (const double width : study.width) EXPECT_TRUE(std::isfinite(width) && width >= 0);
}

TEST(DurationStudy, ConstantRunTimesAreKnown) {
  const auto study = study_durations(read(csv_of(400, [](int) { return 777; })));
  expect_sound(study);
  EXPECT_EQ(study.judged, 320);
  EXPECT_EQ(study.rules.front().within_2x, 1);
  EXPECT_LT(study.rules.front().median_ln, 0.2);
}

TEST(DurationStudy, AbsurdRunTimesStayNumbers) {
  const auto study = study_durations(read(csv_of(400, [](int i) {
    constexpr int64_t kLong_s = 4'000'000'000;  // 127 years
    return i % 4 == 0 ? kLong_s : int64_t{i % 2};
  })));
  expect_sound(study);
  EXPECT_EQ(study.judged + study.jobs / 5, study.jobs);
}

TEST(DurationStudy, WithoutUsersAndLimitsTheSiteStandsForThem) {
  std::string csv = "job_id,submit_time,duration,num_gpus,user\n";
  for (int i = 0; i < 400; ++i) csv += fmt::format("{},{},{},{},\n", i, 600 * i, 500, 1 + i % 2);
  const auto study = study_durations(read(csv));
  expect_sound(study);
  EXPECT_EQ(study.judged, 320);
  EXPECT_TRUE(study.users.empty());
  for (const RuleErrors& rule : study.rules) {
    const bool is_limit = rule.rule == "limit";
    EXPECT_TRUE(!is_limit || rule.jobs == 0) << "no limit is invented";
  }
}

// A clock that was set back by ten hours in the middle of the history, and starts before
// submissions.
TEST(DurationStudy, ClocksThatJumpTeachNothingEarly) {
  std::string csv = "job_id,submit_time,duration,num_gpus,user,start_time\n";
  for (int i = 0; i < 400; ++i) {
    const int submit_s = 100'000 + 60 * i - (i >= 200 ? 36'000 : 0);
    const int start_s = i % 10 == 0 ? submit_s - 500 : submit_s;
    csv += fmt::format("{},{},{},1,u{},{}\n", i, submit_s, 100 * (i % 3 + 1), i % 3, start_s);
  }
  base::MemorySource source(csv);
  const auto read_again = history::read_jobs(source, "jobs.csv", {});
  ASSERT_TRUE(read_again) << read_again.error().text();
  expect_sound(study_durations(read_again->history));
}

/// The figures of an independent implementation of the method.
TEST(DurationStudy, EqualsAnIndependentImplementation) {
  struct Case {
    const char* file;
    double pinball_mean;
    double covered;
    double last_two;  ///< loss of the user's last two runs; 0: there are no users
  };
  for (const Case& c : {Case{"traces/alcf/data_thetagpu.csv.gz", 0.370, 0.81, 0.7349},
                        Case{"traces/philly/sia_philly.csv.gz", 0.321, 0.78, 0},
                        Case{"traces/philly/philly_df_schedule.csv.gz", 0.598, 0.81, 0}}) {
    const auto path = base::test_data(c.file);
    if (!path) GTEST_SKIP() << path.error().text();
    const auto study = study_durations(history::read_history(*path, {}).value().history);
    EXPECT_NEAR(study.pinball_mean, c.pinball_mean, 0.0015) << c.file;
    EXPECT_NEAR(study.all.covered(), c.covered, 0.012) << c.file;
    for (const Coverage& part : study.parts) {
      if (part.jobs < 1000) continue;
      EXPECT_NEAR(part.covered(), 0.8, 0.05) << c.file;
    }
    for (const RuleErrors& rule : study.rules) {
      if (rule.rule == "last-two" && c.last_two > 0) {
        EXPECT_NEAR(rule.pinball_median, c.last_two, 0.0005);
      }
    }
  }
}

}  // namespace
}  // namespace goban::study
