// What policies are worth, through a whole study: costs by hand, intervals, and what is refused.
#include "study/priced_runs.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/test_folder.hpp"
#include "study/results/worth_report.hpp"
#include "study/study.hpp"

namespace goban::study {
namespace {

using testing::HasSubstr;

/// 100 W of host, GPUs of 10 W idle and 100 W busy; nodes never sleep.
constexpr const char* kPower =
    "[[node]]\nname = \"plain\"\ngpus = 2\nhost_idle_w = 100\ngpu_idle_w = 10\ngpu_max_w = 200\n"
    "gpu_dynamic_w = 90\n";
/// Hours cost 0.1, 0.2, 1 and then nothing.
constexpr const char* kPrices =
    "currency = \"EUR\"\ngpu_hour_value = 2\ncarbon_g_per_kwh = 100\nelectricity_per_kwh = [0.1, "
    "0.2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n";

struct PricedRuns : testing::Test {
  PricedRuns() {
    options.files.cluster = "1x2";
    options.files.energy = folder.write("power.toml", kPower);
    options.files.prices = folder.write("prices.toml", kPrices);
    options.files.rejects = folder / "rejects.csv";
    options.policies = {"fifo+packed", "srtf+packed"};
    options.threads = 1;
    options.seeds = 4;
    jobs("a,0,7200,2,ann,7200\nb,0,3600,1,bob,7200\n");
  }

  void jobs(const std::string& rows) {
    options.files.jobs =
        folder.write("jobs.csv", "job_id,submit_time,duration,num_gpus,user,deadline_s\n" + rows);
  }

  /// Twelve days with a few jobs each; the history begins at `from_s`.
  void days_of_jobs(int64_t from_s) {
    std::string rows;
    for (int64_t i = 0; i < 60; ++i) {
      rows += fmt::format("{},{},{},{},u{},\n", i, from_s + i * 17'280, 1000 + (i * 7919) % 30'000,
                          1 + i % 2, i % 3);
    }
    jobs(rows);
  }

  base::Result<results::Comparison> run() {
    const auto study = Study::load(options, progress);
    if (!study) return base::failure(study.error());
    notes = study->notes();
    return study->run(progress);
  }

  results::Worth worth() {
    const auto comparison = run();
    EXPECT_TRUE(comparison) << comparison.error().text();
    return comparison ? comparison->worth.value_or(results::Worth{}) : results::Worth{};
  }

  std::string problem() {
    const auto comparison = run();
    return comparison ? std::string() : comparison.error().text();
  }

  base::TestFolder folder{"priced"};
  StudyOptions options;
  base::Progress progress;
  std::vector<results::Note> notes;
};

TEST_F(PricedRuns, AnHoursEnergyCostsItsPrice) {
  const results::Worth of = worth();
  // FIFO runs a for two hours at 300 W, then b at 210 W; the shorter job first saves waiting and
  // draws more in the dear hour.
  ASSERT_EQ(of.histories.size(), 1U) << "one day has no resamples";
  const results::PricedHistory& recorded = of.histories.front();
  EXPECT_EQ(recorded.span_s, 3 * 3600);
  EXPECT_NEAR(recorded.runs[0].energy.money, 0.3 * 0.1 + 0.3 * 0.2 + 0.21 * 1, 1e-12);
  EXPECT_NEAR(recorded.runs[1].energy.money, 0.21 * 0.1 + 0.3 * 0.2 + 0.3 * 1, 1e-12);
  EXPECT_NEAR(recorded.runs[0].energy.kwh, 0.81, 1e-12);
  EXPECT_NEAR(recorded.runs[1].energy.carbon_kg, 0.081, 1e-12);
  EXPECT_NEAR(recorded.runs[0].gpu_hours, 5, 1e-12);
  const results::PolicyWorth& policy = of.policies[1];
  EXPECT_NEAR(policy.saving.value, -0.081 * 2922, 1e-9) << "8766 hours a year";
  EXPECT_FALSE(policy.saving.half_width);
  EXPECT_NEAR(policy.gpu_hours_freed.value, 0, 1e-9);
  EXPECT_DOUBLE_EQ(policy.wait_change_s.value, -1800);
  ASSERT_TRUE(policy.worst_account);
  EXPECT_EQ(policy.worst_account->name, "ann");
  EXPECT_EQ(policy.worst_account->wait_s, 3600);
  EXPECT_EQ(of.deadline_jobs, 2);
  EXPECT_EQ(of.policies[0].deadline_misses, 1) << "b ends after three hours";
  EXPECT_EQ(policy.deadline_misses, 1) << "a does";
  EXPECT_FALSE(policy.cost_pilot.days);
}

TEST_F(PricedRuns, WhoEndsEarlierPaysForTheRestOfTheTime) {
  options.files.cluster = "2x1";
  options.policies = {"fifo+packed", "fifo+skip+packed"};
  // FIFO: a 0-1 h, b 1-2 h, c 2-5 h. Skipping b: a 0-1 h, c 0-3 h, b 3-4 h.
  jobs("a,0,3600,1,u,\nb,0,3600,2,u,\nc,0,10800,1,u,\n");
  const auto comparison = run();
  ASSERT_TRUE(comparison) << comparison.error().text();
  const results::PricedHistory& recorded = comparison->worth->histories.front();
  EXPECT_EQ(recorded.span_s, 5 * 3600);
  constexpr auto kD = static_cast<size_t>(core::knowledge::kHeadline);
  EXPECT_NEAR(recorded.runs[0].energy.kwh, comparison->runs[0].energy->kwh[kD], 1e-9);
  EXPECT_EQ(comparison->runs[1].makespan_s, 4 * 3600);
  EXPECT_NEAR(recorded.runs[1].energy.kwh - comparison->runs[1].energy->kwh[kD], 2 * 0.11, 1e-9)
      << "two idle nodes of 110 W for an hour";
}

TEST_F(PricedRuns, PricesChangeNoRun) {
  const auto priced = run();
  options.files.prices.clear();
  const auto plain = run();
  ASSERT_TRUE(priced && plain);
  EXPECT_FALSE(plain->worth);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(plain->runs[i].avg_jct_s, priced->runs[i].avg_jct_s);
    EXPECT_EQ(plain->runs[i].energy->kwh, priced->runs[i].energy->kwh);
  }
  EXPECT_EQ(results::simulate_json(*plain).find("worth"), std::string::npos);
}

TEST_F(PricedRuns, ResamplesGiveIntervalsWhateverTheThreads) {
  days_of_jobs(0);
  options.out = folder / "out";
  const results::Worth one = worth();
  ASSERT_EQ(one.histories.size(), 5U);
  EXPECT_EQ(one.history_days, 12);
  EXPECT_EQ(one.pilot_days, 11);
  EXPECT_EQ(one.histories[1].seed, options.seed + 1);
  const results::PolicyWorth& policy = one.policies[1];
  ASSERT_TRUE(policy.saving.half_width);
  EXPECT_GT(*policy.saving.half_width, 0);
  ASSERT_TRUE(policy.worst_seed);
  EXPECT_GE(policy.worst_seed->seed, options.seed + 1);
  EXPECT_GT(policy.wait_pilot.sd_reference, 0);
  const std::string csv = base::TestFolder::read(options.out + "/worth.csv");
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 5 * 2);
  EXPECT_THAT(csv, HasSubstr("\nsrtf+packed,2,"));
  options.threads = 3;
  EXPECT_EQ(results::worth_json(worth()), results::worth_json(one));
  options.seed = 90;
  EXPECT_NE(results::worth_json(worth()), results::worth_json(one));
}

TEST_F(PricedRuns, NoIntervalsWhereIncidentsNameJobs) {
  days_of_jobs(0);
  options.files.incidents =
      folder.write("i.toml", "[[job_failure]]\njob = \"3\"\nat = \"60000s\"\nreason = \"crash\"\n");
  EXPECT_EQ(worth().histories.size(), 1U);
  ASSERT_FALSE(notes.empty());
  EXPECT_THAT(notes.back().text, HasSubstr("no intervals: the incidents name jobs"));
}

TEST_F(PricedRuns, DatedHoursNeedDatesAndTheirTime) {
  // 2024-03-04 00:00 UTC, when dated hours begin; two days of them.
  constexpr int64_t kMarch_s = 1'709'510'400;
  std::string hours = "time,electricity_per_kwh\n";
  for (int i = 0; i < 48; ++i) {
    hours += fmt::format("2024-03-{:02} {:02}:00:00,{}\n", 4 + i / 24, i % 24, i == 0 ? 1 : -1);
  }
  static_cast<void>(folder.write("hours.csv", hours));
  const std::string toml = "currency = \"EUR\"\nhours = \"hours.csv\"\n";
  static_cast<void>(folder.write("prices.toml", toml));
  EXPECT_THAT(problem(), HasSubstr("history_zero: is missing: the prices have dates"));
  static_cast<void>(folder.write("prices.toml", toml + "history_zero = \"2024-03-04 23:00:00\"\n"));
  EXPECT_NEAR(worth().histories.front().runs[0].energy.money, -0.81, 1e-12);
  EXPECT_THAT(notes.back().text, HasSubstr("47 hours have a negative price of electricity"));
  static_cast<void>(folder.write("prices.toml", toml + "history_zero = \"2024-03-03 23:00:00\"\n"));
  EXPECT_THAT(problem(), HasSubstr("covers 2024-03-04 00:00:00 to 2024-03-06 00:00:00 UTC, but"));
  days_of_jobs(kMarch_s);
  EXPECT_THAT(problem(), HasSubstr("history_zero: is not needed"));
  static_cast<void>(folder.write("prices.toml", toml));
  EXPECT_THAT(problem(), HasSubstr("or write missing_hours = \"mean\""));
  static_cast<void>(folder.write("prices.toml", toml + "missing_hours = \"mean\"\n"));
  const results::Worth filled = worth();
  EXPECT_GT(filled.histories.front().runs[0].energy.uncovered_kwh, 0);
  EXPECT_THAT(results::worth_table(filled), HasSubstr("outside the hours given"));
}

TEST_F(PricedRuns, EnergyWithAPriceNeedsPower) {
  options.files.energy.clear();
  EXPECT_THAT(problem(), HasSubstr("the power of nodes is not known (give --energy"));
  static_cast<void>(folder.write("prices.toml", "currency = \"EUR\"\ngpu_hour_value = 2\n"));
  const results::Worth of = worth();
  EXPECT_FALSE(of.is_metered);
  EXPECT_NEAR(of.policies[0].year.money(), 5 * 2 * 2922, 1e-9);
  options.files.fillers = folder.write("f.csv", "k,inter_arrival_s\n0,1\n");
  EXPECT_THAT(problem(), HasSubstr("cannot be combined with --filler-interarrivals"));
}

}  // namespace
}  // namespace goban::study
