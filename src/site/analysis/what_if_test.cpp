// What-ifs, racks and correlation, each with a hand-computed example.
#include "site/analysis/what_if.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/cluster_presets.hpp"
#include "site/analysis/test_population.hpp"

namespace goban::site::analysis {
namespace {

using testing::HasSubstr;

TEST(Cap, LongerJobsReserveWholeDays) {
  // 10 h and 30 h on one GPU, 25 h on four.
  const TestPopulation test = population_of(
      "job_id,submit_time,duration,num_gpus,user\n1,0,36000,1,u\n2,0,108000,1,u\n3,0,90000,4,v\n");
  const ReportData report = test.report();
  const Table* cap = find_table(report, "cap");
  ASSERT_NE(cap, nullptr);
  ASSERT_EQ(cap->rows.size(), 2U);
  EXPECT_EQ(number_of(cap->rows[0][3]), 1) << "longer jobs";
  EXPECT_EQ(number_of(cap->rows[0][5]), 30) << "their GPU-hours";
  EXPECT_EQ(number_of(cap->rows[0][6]), 75) << "percent of 40";
  EXPECT_EQ(number_of(cap->rows[0][7]), 48) << "two days";
  EXPECT_EQ(number_of(cap->rows[1][7]), 4 * 48);
  EXPECT_THAT(cap->text, HasSubstr("2 users have longer jobs"));
  EXPECT_THAT(cap->text,
              HasSubstr("goban simulate --cluster CLUSTER --jobs OUT/what_if/capped.csv"));
  std::string csv;
  write_history(test.population, test.rules, nullptr, Scenario::Capped,
                [&csv](std::string_view piece) { csv += piece; });
  EXPECT_EQ(csv,
            "job_id,submit_time,duration,num_gpus,user,account,model,walltime_s,start_time,"
            "gpu_mem_bytes,gpu_util_pct\n"
            "0,0,36000,1,u,,,,,,\n"
            "1,0,172800,4,u,,,172800,,,\n"
            "2,0,172800,4,v,,,172800,,,\n");
}

TEST(Charges, BillsFollowThePricesOfKinds) {
  Rules rules;
  rules.what_if.charges = {{"1 GPU", 1, 1}, {"whole*", 4, 6}};
  const ReportData report =
      population_of(
          "job_id,submit_time,duration,num_gpus,user\n1,0,7200,1,u\n2,0,3600,4,v\n3,0,3600,8,v\n",
          [&rules] {
            rules.gpus_per_node = 4;
            return rules;
          }())
          .report();
  const Table* charges = find_table(report, "charges");
  ASSERT_NE(charges, nullptr);
  const auto* whole = row_named(*charges, "whole node");
  ASSERT_NE(whole, nullptr);
  EXPECT_EQ(number_of((*whole)[2]), 3) << "node-hours";
  EXPECT_EQ(number_of((*whole)[5]), 12);
  EXPECT_EQ(number_of((*whole)[6]), 18);
  EXPECT_THAT(charges->text, HasSubstr("1 users pay over 10 % more, 0 over 10 % less"));
}

TEST(Racks, CrossingIsCountedWhereNodesAreKnown) {
  const auto abci = core::model::make_preset("abci");
  ASSERT_TRUE(abci);
  // Racks of 34: g0001 to g0034, g0035 to g0068.
  const ReportData report =
      population_of(
          "job_id,user,submit_unix_s,start_unix_s,end_unix_s,num_gpus,num_nodes,node_list,kind\n"
          "inside,u,0,0,3600,8,2,g[0033-0034],batch\n"
          "across,u,0,0,3600,8,2,g[0034-0035],batch\n"
          "large,u,0,0,3600,160,40,g[0001-0040],batch\n"
          "nowhere,u,0,0,3600,8,2,x[1-2],batch\n",
          {}, &*abci)
          .report();
  const Table* racks = find_table(report, "racks");
  ASSERT_NE(racks, nullptr);
  const auto jobs = [racks](size_t row) { return number_of(racks->rows[row][1]); };
  ASSERT_EQ(racks->rows.size(), 5U);
  EXPECT_EQ(jobs(0), 4) << "several nodes";
  EXPECT_EQ(jobs(1), 1) << "more than a rack";
  EXPECT_EQ(jobs(2), 3) << "racks known";
  EXPECT_EQ(jobs(3), 2) << "crossed";
  EXPECT_EQ(jobs(4), 1) << "would fit";
  const Table* uplinks = find_table(report, "uplinks");
  ASSERT_NE(uplinks, nullptr);
  EXPECT_EQ(number_of(uplinks->rows[2][2]), 42) << "as it is: 2 + 40 node-hours";
  EXPECT_NEAR(number_of(uplinks->rows[4][3]), 42 * .3 * (8.0 / 3 - 1), 1e-9);
}

TEST(Racks, WithoutThemNoReplayIsPromised) {
  const std::string jobs =
      "job_id,user,submit_unix_s,start_unix_s,end_unix_s,num_gpus,num_nodes,kind\n"
      "wide,u,0,0,3600,8,2,batch\n";
  const auto text_of = [&](const char* preset) {
    const auto cluster = core::model::make_preset(preset);
    const ReportData report = population_of(jobs, {}, &*cluster).report();
    const Table* table = find_table(report, "rack_local");
    return table == nullptr ? std::string() : table->text;
  };
  EXPECT_THAT(text_of("abci"), HasSubstr("--contention"));
  EXPECT_THAT(text_of("8x4"), HasSubstr("A replay needs a cluster with racks"));
  EXPECT_THAT(text_of("8x4"), testing::Not(HasSubstr("goban simulate")));
}

TEST(Spearman, IsMinusOneIfLargerJobsAlwaysRunShorter) {
  std::string jobs = "job_id,submit_time,duration,num_gpus,user\n";
  for (int nodes = 1; nodes <= 9; ++nodes) {
    jobs += fmt::format("{},0,{},{},u\n", nodes, 10'000 - 100 * nodes, 4 * nodes);
  }
  Rules rules;
  rules.gpus_per_node = 4;
  const ReportData report = population_of(jobs, rules).report();
  EXPECT_NEAR(number_of(scalar_of(report, "spearman_sample")), -1, 1e-12);
  EXPECT_NEAR(number_of(scalar_of(report, "spearman_multi_node")), -1, 1e-12);
  EXPECT_THAT(find_table(report, "spearman")->quality.note, HasSubstr("fewer jobs than requested"));
}

TEST(Concentration, FewestUsersWhoOwnFourFifths) {
  // 8 + 1 + 1 jobs: one of three users has 80 %.
  std::string jobs = "job_id,submit_time,duration,num_gpus,user\n";
  for (int i = 0; i < 10; ++i) {
    jobs += fmt::format("{},0,400,1,{}\n", i, i < 8 ? "a" : i == 8 ? "b" : "c");
  }
  const ReportData report = population_of(jobs).report();
  EXPECT_EQ(number_of(scalar_of(report, "submitters")), 3);
  EXPECT_NEAR(number_of(scalar_of(report, "holders_of_80")), 100.0 / 3, 1e-9);
  EXPECT_NEAR(number_of(scalar_of(report, "top_share_jobs")), 80, 1e-9);
}

TEST(Calendar, GpusAreHeldDayByDay) {
  // Two GPUs from 12:00 for 24 h: half a day each on two days.
  const ReportData report = population_of(
                                "job_id,submit_time,duration,num_gpus,user,start_time\n"
                                "1,1577880000,86400,2,u,1577880000\n")
                                .report();
  const Table* held = find_table(report, "gpus_held");
  ASSERT_NE(held, nullptr);
  ASSERT_EQ(held->rows.size(), 2U);
  EXPECT_EQ(text_of(held->rows[0][0]), "2020-01-01");
  EXPECT_EQ(number_of(held->rows[0][1]), 24);
  EXPECT_EQ(number_of(held->rows[1][2]), 1) << "mean of the day";
  const Figure* arrivals = find_figure(report, "arrivals");
  ASSERT_NE(arrivals, nullptr);
  EXPECT_EQ(arrivals->series[2].key, "wed") << "2020-01-01 was a Wednesday";
  EXPECT_EQ(arrivals->series[2].y[12], 1);
}

}  // namespace
}  // namespace goban::site::analysis
