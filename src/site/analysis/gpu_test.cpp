// Condition 5 and Figures 5 to 7 on a store with known contents.
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "base/test_folder.hpp"
#include "site/analysis/gpu_values.hpp"
#include "site/analysis/test_population.hpp"
#include "site/analysis/what_if.hpp"
#include "site/analysis/why.hpp"
#include "site/series/store_writer.hpp"

namespace goban::site::analysis {
namespace {

using series::Metric;
using testing::HasSubstr;

constexpr int64_t kStart_s = 1'577'836'800;

/// Six jobs; all run for ten minutes, the last one for 240 s + 1 minute of samples.
constexpr std::string_view kRecords =
    "job_id,user,submit_unix_s,start_unix_s,end_unix_s,num_gpus,num_nodes,node_list,gpus,mem_bytes,"
    "mem_max,exit_code\n"
    "one,u,1577836800,1577836800,1577837400,1,1,n1,n1|0|||,,,0\n"
    "part,u,1577836800,1577836800,1577837400,4,1,n2,n2|0|||;n2|1|||;n2|2|||;n2|3|||,,,0\n"
    "multi,u,1577836800,1577836800,1577837400,8,2,n[3-4],,,,0\n"
    "idle,u,1577836800,1577836800,1577837400,1,1,n1,n1|1|||,,,0\n"
    "unseen,u,1577836800,1577836800,1577837400,1,1,n9,n9|0|||,,,0\n"
    "spike,u,1577836800,1577836800,1577837100,1,1,n1,n1|2|||,,,0\n";

class GpuTest : public testing::Test {
 protected:
  GpuTest()
      : folder_(testing::UnitTest::GetInstance()->current_test_info()->name()),
        store_(folder_ / "store") {}

  /// A sample a minute, `minutes` of them.
  void add(const std::string& node, int gpu, double value, int minutes = 11,
           Metric metric = Metric::GpuUtilization) {
    for (int minute = 0; minute < minutes; ++minute) put(node, gpu, minute, value, metric);
  }
  void put(const std::string& node, int gpu, int minute, double value,
           Metric metric = Metric::GpuUtilization) {
    samples_.push_back(
        {{node, std::to_string(gpu), ""}, metric, (kStart_s + int64_t{60} * minute) * 1000, value});
  }
  void write() {
    auto writer = series::StoreWriter::open(store_, {.sync = false});
    ASSERT_TRUE(writer);
    for (const Sample& s : samples_) {
      ASSERT_TRUE((*writer)->add(s.device, s.metric, s.time_ms, {series::State::Value, s.value}));
    }
    ASSERT_TRUE((*writer)->finish());
  }
  void write_known() {
    add("n1", 0, 50);
    add("n1", 1, 0);
    for (int gpu = 0; gpu < 4; ++gpu) {
      add("n2", gpu, gpu < 2 ? 80 : 0);
      add("n3", gpu, 90);
      add("n4", gpu, gpu == 3 ? 70 : 90);
    }
    for (int minute = 0; minute < 5; ++minute) put("n1", 2, minute, minute == 2 ? 100 : 0);
    write();
  }
  /// Population with condition 5 applied; with `memory` also the store's memory series are used.
  TestPopulation analysed(const Rules& rules = {}, bool memory = false,
                          std::string_view records = kRecords) {
    TestPopulation test = population_of(records, rules);
    const auto utilization = series::StoreReader::open(store_, Metric::GpuUtilization);
    const auto used = series::StoreReader::open(store_, Metric::GpuMemoryUsed);
    const auto tensor = series::StoreReader::open(store_, Metric::GpuTensorActive);
    use_ =
        gpu_use_of_series(test.population, rules,
                          {&*utilization, memory ? &*used : nullptr, nullptr, &*tensor, nullptr});
    apply_gpu_use(test.population, rules, use_verdicts(test.population, use_), {});
    return test;
  }
  ReportData report(const TestPopulation& test) const {
    ReportData report = analyse(test.population, test.rules, Labels(Language::English), &use_);
    check_quality(report);
    return report;
  }
  static const RuleCount& condition5(const TestPopulation& test) {
    return test.population.funnel[static_cast<size_t>(Rule::GpuUse)];
  }

  struct Sample {
    series::DeviceKey device;
    Metric metric = Metric::GpuUtilization;
    int64_t time_ms = 0;
    double value = 0;
  };
  base::TestFolder folder_;
  std::string store_;
  std::vector<Sample> samples_;
  GpuUse use_;
};

TEST_F(GpuTest, ConditionFiveTellsUsedIdleAndUnknown) {
  write_known();
  TestPopulation test = analysed();
  EXPECT_TRUE(condition5(test).applied);
  EXPECT_EQ(condition5(test).passed, 4);
  EXPECT_EQ(condition5(test).failed, 1);
  EXPECT_EQ(condition5(test).unknown, 1) << "a GPU without series is unknown, not idle";
  EXPECT_EQ(condition5(test).kept, 4);
  Rules rules;
  rules.use.unknown = Unknowns::Keep;
  EXPECT_EQ(condition5(analysed(rules)).kept, 5);
}

TEST_F(GpuTest, TheBorderOfTheIntervalDecidesAtFiveSamples) {
  write_known();
  // 0, 0, 100, 0, 0: mu = 20, sigma = 40, so mu + 2 sigma is the spike itself. The window of
  // [start, end] holds a sixth slot without a sample.
  EXPECT_EQ(condition5(analysed()).passed, 4);
  Rules exclusive;
  exclusive.use.trim.tolerance = -1e-6;
  EXPECT_EQ(condition5(analysed(exclusive)).passed, 3);
  Rules sample;
  sample.use.trim.sigma = base::statistics::SigmaRule::Sample;
  sample.use.trim.tolerance = -1e-6;
  EXPECT_EQ(condition5(analysed(sample)).passed, 4) << "with n - 1 sigma is larger";
}

TEST_F(GpuTest, TheBordersOfAJobAndLateSamplesAreSwitches) {
  // Busy at the very start and end of job `one`, idle between.
  for (int minute = 0; minute < 11; ++minute) {
    put("n1", 0, minute, minute == 0 || minute == 10 ? 100 : 0);
  }
  write();
  const auto used = [this](const Rules& rules) {
    analysed(rules);
    return use_.used(0);
  };
  Rules rules;
  rules.use.trim.sigmas = 100;
  EXPECT_EQ(used(rules), 1);
  rules.use.include_end = false;
  EXPECT_EQ(used(rules), 1) << "the start is busy, too";
  rules.use.include_start = false;
  EXPECT_EQ(used(rules), 0);
  rules.use.include_end = rules.use.include_start = true;
  rules.use.delay_ns = 60 * base::kSecond;
  rules.use.include_end = false;
  EXPECT_EQ(used(rules), 0) << "the first minute may be of the job before";
}

TEST_F(GpuTest, FiguresFiveToSeven) {
  write_known();
  const ReportData report = this->report(analysed());
  const Figure* used = find_figure(report, "figure5a_used_gpus");
  ASSERT_NE(used, nullptr);
  EXPECT_EQ(used->series[0].y, (std::vector<double>{0, 100, 0, 0}));
  EXPECT_EQ(number_of(scalar_of(report, "all_gpus_used_multi_share")), 100);
  const Figure* one = find_figure(report, "figure6a_one_gpu");
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(one->series[0].x, (std::vector<double>{20, 50})) << "the spike's mean and 50 %";
  const Figure* node = find_figure(report, "figure6b_one_node");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->series[0].x, (std::vector<double>{80})) << "mean of the used GPUs";
  const Figure* multi = find_figure(report, "figure6c_multi_node");
  ASSERT_NE(multi, nullptr);
  EXPECT_EQ(multi->series[0].x, (std::vector<double>{87.5}));
  EXPECT_EQ(number_of(scalar_of(report, "multi_node_busy_share")), 100);
  const Table* spread = find_table(report, "figure7b_multi_node");
  ASSERT_NE(spread, nullptr);
  EXPECT_NEAR(number_of(spread->rows[0][2]), std::sqrt(43.75), 1e-9) << "7 x 90, 70; by n";
  const Table* same = find_table(report, "figure7a_one_node");
  ASSERT_NE(same, nullptr);
  EXPECT_EQ(number_of(same->rows[0][2]), 0);
}

TEST_F(GpuTest, JobsThatDidNotEndWellAreInNoFigure) {
  constexpr std::array<std::pair<const char*, bool>, 8> kEnds{{{"COMPLETED|0:0", true},
                                                               {"COMPLETED|1:0", false},
                                                               {"COMPLETED|0:6", false},
                                                               {"FAILED|0:9", false},
                                                               {"OUT_OF_MEMORY|0:125", false},
                                                               {"TIMEOUT|0:0", false},
                                                               {"CANCELLED by 7|0:15", false},
                                                               {"NODE_FAIL|0:0", false}}};
  std::string records = "JobID|User|Submit|Start|End|NNodes|AllocTRES|NodeList|State|ExitCode\n";
  std::vector<double> means;  // of the completed jobs
  for (size_t i = 0; i < kEnds.size(); ++i) {
    const std::string node = fmt::format("g{}", i);
    records += fmt::format("{}|u|{}|{}|{}|1|gres/gpu=1,node=1|{}|{}\n", i + 1, kStart_s, kStart_s,
                           kStart_s + 600, node, kEnds[i].first);
    add(node, 0, static_cast<double>(50 + i));
    if (kEnds[i].second) means.push_back(static_cast<double>(50 + i));
  }
  write();
  const ReportData report = this->report(analysed({}, false, records));
  const Figure* one = find_figure(report, "figure6a_one_gpu");
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(one->series[0].x, means);
  const Table* codes = find_table(report, "exit_codes");
  ASSERT_NE(codes, nullptr);
  std::map<double, double> jobs;
  for (const auto& row : codes->rows) jobs[number_of(row[0])] = number_of(row[1]);
  EXPECT_EQ(jobs, (std::map<double, double>{
                      {0, 3}, {1, 1}, {134, 1}, {137, 1}, {128 + 125, 1}, {143, 1}}));
}

TEST_F(GpuTest, MeansMayBeOfAllGpusHeld) {
  write_known();
  Rules rules;
  rules.mean_over = MeanOver::Allocated;
  const ReportData report = this->report(analysed(rules));
  EXPECT_EQ(find_figure(report, "figure6b_one_node")->series[0].x, (std::vector<double>{40}));
}

TEST_F(GpuTest, IdleGpusWithMemoryTakenAreAnImbalance) {
  for (int gpu = 0; gpu < 4; ++gpu) add("n2", gpu, 8192, 11, Metric::GpuMemoryUsed);
  write_known();
  const Table* table = nullptr;
  const ReportData with = report(analysed({}, true));
  table = find_table(with, "partial_gpus");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(number_of(table->rows[1][1]), 1) << "imbalance";
  EXPECT_NEAR(number_of(table->rows[1][3]), 2.0 / 6, 1e-9) << "two GPUs for ten minutes";
  const Figure* memory = find_figure(with, "gpu_memory");
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(memory->series[0].x, (std::vector<double>{8}));
  const ReportData without = report(analysed());
  table = find_table(without, "partial_gpus");
  EXPECT_EQ(number_of(table->rows[3][1]), 1) << "unknown without memory";
}

TEST_F(GpuTest, GpuHoursAreHeldUsedAndBusy) {
  write_known();
  const ReportData report = this->report(analysed());
  // Of ten minutes each: 1 + 4 + 8 GPUs held and 13 - 2 used; the spike: five minutes, one GPU.
  const double hours = 13.0 / 6 + 1.0 / 12;
  EXPECT_NEAR(number_of(scalar_of(report, "used_of_known")), 100 * (hours - 2.0 / 6) / hours, 1e-4);
  const double busy = (.5 + 1.6 + 7 * .9 + .7) / 6 + .2 / 12;
  EXPECT_NEAR(number_of(scalar_of(report, "busy_of_known")), 100 * busy / hours, 1e-4);
}

TEST_F(GpuTest, AProcessSeenOnAGpuMeetsConditionThree) {
  add("n1", 0, 0, 11, Metric::GpuProcesses);
  put("n2", 3, 5, 1, Metric::GpuProcesses);
  for (int gpu = 0; gpu < 3; ++gpu) add("n2", gpu, 0, 11, Metric::GpuProcesses);
  write();
  const auto processes = series::StoreReader::open(store_, Metric::GpuProcesses);
  TestPopulation test = population_of(kRecords);
  const auto verdicts = software_verdicts(test.population, test.rules, *processes);
  ASSERT_EQ(verdicts.size(), 6U);
  EXPECT_EQ(verdicts[0], Verdict::Fail) << "one: sampled throughout, no process";
  EXPECT_EQ(verdicts[1], Verdict::Pass) << "part: a single sample is enough";
  EXPECT_EQ(verdicts[4], Verdict::Unknown) << "unseen";
  const RuleCount& count = test.population.funnel[static_cast<size_t>(Rule::Software)];
  EXPECT_FALSE(count.applied) << "the records alone say nothing";
  apply_software(test.population, test.rules, verdicts);
  EXPECT_TRUE(count.applied);
  EXPECT_EQ(count.passed, 1);
  EXPECT_EQ(count.failed, 1);
  EXPECT_EQ(count.kept, 1);
  test.rules.software = SoftwareEvidence::Module;
  EXPECT_TRUE(software_verdicts(test.population, test.rules, *processes).empty());
}

TEST_F(GpuTest, ConditionFiveMayAskAllGpusOfTheNodes) {
  write_known();
  EXPECT_EQ(condition5(analysed()).failed, 1) << "the idle job, beside busy GPUs of others";
  Rules rules;
  rules.use.gpus = GpusAsked::Nodes;
  const TestPopulation test = analysed(rules);
  EXPECT_EQ(condition5(test).failed, 0);
  EXPECT_EQ(condition5(test).passed, 5);
  EXPECT_EQ(condition5(test).unknown, 1) << "a node without series stays unknown";
}

TEST_F(GpuTest, OperationsArePeakBusyAndAchieved) {
  write_known();
  Rules rules;
  rules.gpu_model = "Tesla V100-SXM2-16GB";
  const auto flops_of = [&](const TestPopulation& test) {
    const ReportData report = this->report(test);
    const Table* table = find_table(report, "gpu_flops");
    return table == nullptr ? std::vector<Cell>{} : *row_named(*table, "all");
  };
  EXPECT_TRUE(flops_of(analysed()).empty()) << "no model";
  // 14 GPUs in use: see GpuHoursAreHeldUsedAndBusy.
  const double hours = 13.0 / 6 + 1.0 / 12;
  const double busy = ((.5 + 1.6 + 7 * .9 + .7) / 6 + .2 / 12) / hours;
  std::vector<Cell> all = flops_of(analysed(rules));
  ASSERT_EQ(all.size(), 6U);
  EXPECT_NEAR(number_of(all[1]), hours, 1e-9);
  EXPECT_NEAR(number_of(all[2]), 125, 1e-9);
  EXPECT_NEAR(number_of(all[3]), 125 * busy, 1e-4);
  EXPECT_TRUE(std::isnan(number_of(all[4]))) << "unknown without the tensor pipe's activity";
  rules.peaks.insert(rules.peaks.begin(), PeakRule{"*v100-sxm2*", 100});
  EXPECT_NEAR(number_of(flops_of(analysed(rules))[2]), 100, 1e-9) << "the first pattern that fits";
}

TEST_F(GpuTest, AJobIsExplainedRuleByRule) {
  write_known();
  const TestPopulation test = analysed();
  const std::string part = explain_jobs(test.population, test.rules, "part", &use_);
  EXPECT_THAT(part, HasSubstr("U = 80.0 % busy, 80.0 % busy, 0.0 % idle, 0.0 % idle"));
  EXPECT_THAT(part, HasSubstr("=> analysed"));
  EXPECT_THAT(explain_jobs(test.population, test.rules, "idle", &use_),
              HasSubstr("=> excluded by c5_gpu_use"));
  EXPECT_EQ(explain_jobs(test.population, test.rules, "none", &use_), "");
}

TEST_F(GpuTest, AHistoryOfUsedGpusAsksForThose) {
  write_known();
  const TestPopulation test = analysed();
  std::string csv;
  write_history(test.population, test.rules, &use_, Scenario::UsedGpus,
                [&csv](std::string_view piece) { csv += piece; });
  EXPECT_THAT(csv, HasSubstr("\n1,1577836800,600,2,u,"));
  const records::ReadTable read = records::read_table(csv);
  EXPECT_EQ(read.table.rows().size(), 6U) << "and can be read again";
}

TEST(GpuMeans, StandInForSeriesAndSaySo) {
  const TestPopulation before = population_of(
      "job_id,user,submit_unix_s,start_unix_s,end_unix_s,num_gpus,gpus,state\n"
      "a,u,0,0,400,1,n1|0|60|1073741824|2147483648,COMPLETED\n"
      "b,u,0,0,400,1,n1|1|2||,COMPLETED\nc,u,0,0,400,1,,COMPLETED\n");
  TestPopulation test = population_of(
      "job_id,user,submit_unix_s,start_unix_s,end_unix_s,num_gpus,gpus,state\n"
      "a,u,0,0,400,1,n1|0|60|1073741824|2147483648,COMPLETED\n"
      "b,u,0,0,400,1,n1|1|2||,COMPLETED\nc,u,0,0,400,1,,COMPLETED\n",
      [] {
        Rules rules;
        rules.software = SoftwareEvidence::None;
        return rules;
      }());
  const GpuUse use = gpu_use_of_means(test.population, test.rules);
  EXPECT_EQ(use.source, ValueSource::Means);
  EXPECT_EQ(use.of(0)[0].mem_total_gib, 2);
  apply_gpu_use(test.population, test.rules, use_verdicts(test.population, use), {});
  const RuleCount& count = test.population.funnel[static_cast<size_t>(Rule::GpuUse)];
  EXPECT_EQ(count.passed, 1);
  EXPECT_EQ(count.failed, 1);
  EXPECT_EQ(count.unknown, 1);
  const RuleCount& software = before.population.funnel[static_cast<size_t>(Rule::Software)];
  EXPECT_EQ(software.passed, 1) << "memory on a GPU shows a process";
}

TEST_F(GpuTest, MeansOfGenericRecordsDecide) {
  auto test = population_of(
      "job_id,submit_time,duration,num_gpus,user,gpu_util_pct\n"
      "busy,1600000000,600,2,u,80\nidle,1600000000,600,1,u,4.9\nunknown,1600000000,600,1,u,\n");
  const GpuUse use = gpu_use_of_means(test.population, test.rules);
  ASSERT_EQ(use.source, ValueSource::Means);
  EXPECT_EQ(use.used(0), 2);
  EXPECT_EQ(use.jobs_without_list, 1);
  const auto verdicts = use_verdicts(test.population, use);
  EXPECT_EQ(verdicts, (std::vector{Verdict::Pass, Verdict::Fail, Verdict::Unknown}));
}

TEST_F(GpuTest, EveryJobOfOneNodeIsInAPanel) {
  // A job of two of the four GPUs of its node, and one of all of them.
  for (int gpu = 0; gpu < 4; ++gpu) add("n1", gpu, 50);
  for (int gpu = 0; gpu < 2; ++gpu) add("n2", gpu, 30);
  write();
  Rules rules;
  rules.gpus_per_node = 4;
  auto test = population_of(
      "job_id,user,submit_unix_s,start_unix_s,end_unix_s,num_gpus,num_nodes,node_list,gpus\n"
      "all,u,1577836800,1577836800,1577837400,4,1,n1,n1|0|||;n1|1|||;n1|2|||;n1|3|||\n"
      "half,u,1577836800,1577836800,1577837400,2,1,n2,n2|0|||;n2|1|||\n",
      rules);
  const auto store = series::StoreReader::open(store_, Metric::GpuUtilization);
  ASSERT_TRUE(store);
  const GpuUse use = gpu_use_of_series(test.population, test.rules, {.utilization = &*store});
  const ReportData report = analyse(test.population, test.rules, Labels(Language::English), &use);
  const Figure* means = find_figure(report, "figure6b_one_node");
  ASSERT_NE(means, nullptr);
  EXPECT_EQ(means->quality.used, 2);
  EXPECT_EQ(means->series.back().key, "part_of_node");
  EXPECT_EQ(find_figure(report, "figure7a_one_node")->quality.used, 2);
  EXPECT_EQ(find_figure(report, "figure5a_used_gpus")->quality.used, 1);
}

TEST_F(GpuTest, EnginesOfMigInstancesCountWhereUtilisationIsMissing) {
  for (int minute = 0; minute < 11; ++minute) {
    samples_.push_back(
        {{"n1", "0.7", ""}, Metric::GpuEngineActive, (kStart_s + int64_t{60} * minute) * 1000, 60});
  }
  write();
  auto test = population_of(
      "job_id,user,submit_unix_s,start_unix_s,end_unix_s,num_gpus,gpu_milli,gpu_share,gpus\n"
      "mig,u,1577836800,1577836800,1577837400,1,143,1,n1|0.7|||\n");
  const auto store = series::StoreReader::open(store_, Metric::GpuEngineActive);
  ASSERT_TRUE(store);
  const GpuUse use = gpu_use_of_series(test.population, test.rules, {.engine_active = &*store});
  EXPECT_EQ(use.used(0), 1);
  EXPECT_EQ(use.of(0)[0].mean_pct, 60);
  const ReportData report = analyse(test.population, test.rules, Labels(Language::English), &use);
  const auto& row = find_table(report, "gpu_yield")->rows.back();
  EXPECT_NEAR(number_of(row[2]), 0.143 / 6, 1e-9) << "known GPU-hours: a seventh of a GPU";
  EXPECT_EQ(number_of(row[1]), number_of(row[2]));
}

}  // namespace
}  // namespace goban::site::analysis
