// A study as a function call: three jobs whose runs are computed by hand.
#include "study/study.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/random.hpp"
#include "base/test_folder.hpp"
#include "study/explain.hpp"
#include "study/run_record.hpp"

namespace goban::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Jobs of two GPUs on a cluster of two: a of 100 s at 0, b of 100 s at 10, c of 10 s at 20. The
/// site started them in that order, each 5 s later than possible.
constexpr const char* kJobs =
    "job_id,submit_time,start_time,duration,num_gpus,user\n"
    "a,1600000000,1600000005,100,2,u\n"
    "b,1600000010,1600000105,100,2,u\n"
    "c,1600000020,1600000205,10,2,u\n";

struct StudyTest : testing::Test {
  StudyTest() {
    options.files.cluster = "1x2";
    options.files.jobs = folder.write("jobs.csv", kJobs);
    options.files.rejects = folder / "rejects.csv";
    options.policies = {"fifo+packed", "srtf+packed"};
    options.restart_cost_s = 0;
    options.threads = 1;
  }
  base::Result<results::Comparison> run() {
    const auto study = Study::load(options, progress);
    if (!study) return base::failure(study.error());
    notes = study->notes();
    return study->run(progress);
  }

  base::TestFolder folder{"study"};
  StudyOptions options;
  base::Progress progress;
  std::vector<results::Note> notes;
};

TEST_F(StudyTest, StrictReferencesKeepPenaltyOneWhateverIsGiven) {
  options.files.cluster = "2x1";  // every job spans both nodes
  options.policies = {"fifo-fungible-strict", "fifo+packed"};
  options.locality_penalty = 2;
  const auto comparison = run();
  ASSERT_TRUE(comparison) << comparison.error().text();
  EXPECT_DOUBLE_EQ(comparison->runs[0].avg_jct_s, (100.0 + 190 + 190) / 3);
  EXPECT_GT(comparison->runs[1].avg_jct_s, comparison->runs[0].avg_jct_s);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0].text, HasSubstr("fifo-fungible-strict runs every job at score 1"));
}

TEST_F(StudyTest, ComparesPolicies) {
  const auto comparison = run();
  ASSERT_TRUE(comparison) << comparison.error().text();
  ASSERT_EQ(comparison->runs.size(), 2U);
  // FIFO: 0-100, 100-200, 200-210.
  EXPECT_EQ(comparison->runs[0].policy, "fifo+packed");
  EXPECT_DOUBLE_EQ(comparison->runs[0].avg_jct_s, (100.0 + 190 + 190) / 3);
  // Shortest remaining time first: a until 20, c until 30, a until 110, b until 210.
  EXPECT_DOUBLE_EQ(comparison->runs[1].avg_jct_s, (110.0 + 200 + 10) / 3);
  EXPECT_EQ(comparison->runs[1].preemptions, 1);
  EXPECT_FALSE(comparison->backtest);
  EXPECT_EQ(progress.done, 6) << "jobs of both runs";
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0].text, HasSubstr("srtf+packed uses true durations"));
}

TEST_F(StudyTest, ForecastsAreNoTrueDurations) {
  options.policies = {"goban"};
  ASSERT_TRUE(run());
  for (const auto& note : notes) EXPECT_THAT(note.text, Not(HasSubstr("true durations")));
  options.policies = {"easy-backfill+packed"};
  ASSERT_TRUE(run());
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0].text, HasSubstr("the jobs have no walltime limits"));
}

TEST_F(StudyTest, AsksWhetherYearsAreMeant) {
  options.files.jobs = folder.write("years.csv",
                                    "job_id,submit_time,duration,num_gpus,user\n"
                                    "a,1600000000,32000000,1,u\n"
                                    "b,1600000000,64000000,1,u\n"
                                    "c,1600000000,31000000,1,u\n");
  ASSERT_TRUE(run());
  EXPECT_THAT(notes.front().text, HasSubstr("2 jobs run for more than a year, the longest for"));
  options.files.jobs = folder.write("jobs.csv", kJobs);
  ASSERT_TRUE(run());
  for (const auto& note : notes) EXPECT_THAT(note.text, Not(HasSubstr("a year")));
}

TEST_F(StudyTest, NonStickyPoliciesHaveAQuantum) {
  std::string jobs = "job_id,submit_time,duration,num_gpus,user\n";
  constexpr std::array<int, 5> kGpus = {1, 2, 3, 4, 6};
  for (int i = 0; i < 120; ++i) {
    jobs += fmt::format("{},{},{},{},u\n", i, 20 * i, 300 + 37 * i % 900,
                        kGpus[static_cast<size_t>(i) % kGpus.size()]);
  }
  options.files.cluster = "4x4";
  options.files.jobs = folder.write("many.csv", jobs);
  options.policies = {"las+non-sticky+pal"};
  options.restart_cost_s = 30;
  const auto by_default = run();
  ASSERT_TRUE(by_default) << by_default.error().text();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].level, results::NoteLevel::Warning);
  EXPECT_THAT(notes[0].text, HasSubstr("decides every 360 s; --round 0"));

  options.round_s = 360;
  const auto rounds = run();
  ASSERT_TRUE(rounds) << rounds.error().text();
  EXPECT_EQ(by_default->runs[0].avg_jct_s, rounds->runs[0].avg_jct_s);
  EXPECT_EQ(by_default->runs[0].preemptions, rounds->runs[0].preemptions);

  options.round_s = 0;
  const auto at_events = run();
  ASSERT_TRUE(at_events) << at_events.error().text();
  EXPECT_THAT(notes[0].text, HasSubstr("at every event"));
  EXPECT_GT(at_events->runs[0].preemptions, 2 * by_default->runs[0].preemptions);
}

TEST_F(StudyTest, RatesDropTheBoundOnlyOfElasticJobs) {
  options.files.rates =
      folder.write("rates.csv", "model,num_gpus,steps_per_s\nnet,1,1\nnet,2,1.9\n");
  const std::string header =
      "job_id,submit_time,duration,num_gpus,user,model,gpus_min,gpus_max,deadline_s\n";
  options.files.jobs = folder.write("jobs.csv", header + "a,0,100,2,u,net,,,\nb,0,100,1,u,,,,\n");
  const auto rigid = run();
  ASSERT_TRUE(rigid) << rigid.error().text();
  EXPECT_TRUE(rigid->bounds);
  // 100 steps take 100 s on the one GPU that it requests, and 52.7 s on two.
  options.files.jobs =
      folder.write("jobs.csv", header + "a,0,100,1,u,net,1,2,60\nb,0,100,1,u,net,1,2,50\n");
  const auto elastic = run();
  ASSERT_TRUE(elastic) << elastic.error().text();
  EXPECT_FALSE(elastic->bounds);
  EXPECT_TRUE(std::ranges::any_of(notes, [](const results::Note& note) {
    return note.text.ends_with(": 1 deadline cannot be met even without waiting");
  }));
}

TEST_F(StudyTest, NoPolicyBeatsTheBound) {
  options.policies = {"fifo+packed", "srtf+packed", "easy-backfill+packed", "las+pal",
                      "srtf+skip+spread"};
  options.files.cluster = "2x4";
  base::Random random(11);
  for (int round = 0; round < 12; ++round) {
    std::string jobs = "job_id,submit_time,duration,num_gpus,user,model\n";
    const uint64_t gap_s = 20 * static_cast<uint64_t>(round + 1);
    for (uint64_t i = 0, at_s = 0; i < 120; ++i, at_s += random.below(gap_s)) {
      const std::array<int, 5> gpus = {1, 1, 2, 4, 8};
      jobs += fmt::format("{},{},{},{},u,\n", i, at_s, 1 + random.below(random.below(900) + 1),
                          gpus[random.below(gpus.size())]);
    }
    options.files.jobs = folder.write("random.csv", jobs);
    const auto comparison = run();
    ASSERT_TRUE(comparison) << comparison.error().text();
    ASSERT_TRUE(comparison->bounds);
    EXPECT_GE(comparison->bounds->lower_s, comparison->bounds->no_wait_s);
    for (const results::RunMetrics& each : comparison->runs) {
      EXPECT_GE(each.avg_jct_s, comparison->bounds->lower_s - 1e-6) << each.policy << round;
      EXPECT_LE(
          results::gap_closed(each.avg_jct_s, comparison->runs[0].avg_jct_s, *comparison->bounds),
          1 + 1e-9);
    }
  }
}

TEST_F(StudyTest, ComparesTheSitesPolicyWithItsRecord) {
  options.backtest = "fifo+packed";
  options.policies = {"srtf+packed"};
  const auto comparison = run();
  ASSERT_TRUE(comparison) << comparison.error().text();
  ASSERT_EQ(comparison->runs.size(), 2U) << "the site's policy is added";
  EXPECT_EQ(comparison->runs[comparison->reference].policy, "fifo+packed");
  ASSERT_TRUE(comparison->backtest);
  EXPECT_EQ(comparison->backtest->jobs, 3);
  EXPECT_DOUBLE_EQ(comparison->backtest->error_mean_s, -5);
}

TEST_F(StudyTest, WritesWhatIsAskedFor) {
  options.out = folder / "out";
  options.decisions = true;
  options.arguments = {"--cluster=1x2"};
  ASSERT_TRUE(run());
  for (const char* policy : {"fifo+packed", "srtf+packed"}) {
    for (const char* file : {"jobs.csv", "history.csv", "decisions.jsonl", "run.json"}) {
      EXPECT_TRUE(std::filesystem::exists(options.out + "/" + policy + "/" + file))
          << policy << " " << file;
    }
  }
  EXPECT_TRUE(std::filesystem::exists(options.files.rejects)) << "kept because it was named";
  const auto record = read_run_record(options.out + "/srtf+packed");
  ASSERT_TRUE(record) << record.error().text();
  EXPECT_EQ(record->policy, "srtf+packed");
  EXPECT_THAT(record->arguments, ElementsAre("--cluster=1x2"));
  ASSERT_EQ(record->inputs.size(), 1U);
  EXPECT_EQ(record->inputs[0].path, options.files.jobs);
  EXPECT_TRUE(check_unchanged(*record, options.out));
  static_cast<void>(folder.write("jobs.csv", std::string(kJobs) + "d,1600000030,,1,1,u\n"));
  const auto changed = check_unchanged(*record, options.out);
  ASSERT_FALSE(changed);
  EXPECT_THAT(changed.error().text(), HasSubstr("the file changed since the run was made"));
}

TEST_F(StudyTest, ExplainsAJobOfARun) {
  options.policies = {"fifo+packed"};
  const auto text = explain(options, "b", ExplainFormat::Text, progress);
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_THAT(*text, HasSubstr("90"));
  const auto json = explain(options, "b", ExplainFormat::Json, progress);
  ASSERT_TRUE(json) << json.error().text();
  EXPECT_THAT(*json, HasSubstr("\"b\""));
  const auto nobody = explain(options, "z", ExplainFormat::Text, progress);
  ASSERT_FALSE(nobody);
  EXPECT_THAT(nobody.error().text(), HasSubstr("no job is named z"));
}

TEST_F(StudyTest, RefusesWhatContradictsItself) {
  const auto refused = [&](const char* why) {
    const auto comparison = run();
    ASSERT_FALSE(comparison) << why;
    EXPECT_THAT(comparison.error().text(), HasSubstr(why));
  };
  options.decisions = true;
  refused("--decisions requires --out");
  options.decisions = false;
  options.warmup_ns = 100 * base::kSecond;
  refused("--warmup leaves no job");
  options.warmup_ns = 0;
  options.policies = {"fifo+packed", "fifo+packed"};
  refused("given twice");
  options.policies = {"fifo+packed"};
  options.files.jobs = folder.write("none.csv", "job_id,submit_time,duration,num_gpus,user\n");
  refused("no jobs remain");
}

TEST_F(StudyTest, EndsWhenCancelled) {
  std::atomic<bool> cancel = false;
  base::Progress cancelled(cancel);
  const auto study = Study::load(options, cancelled);
  ASSERT_TRUE(study) << study.error().text();
  cancel = true;
  EXPECT_FALSE(study->run(cancelled));
}

}  // namespace
}  // namespace goban::study
