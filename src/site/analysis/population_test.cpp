#include "site/analysis/population.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <span>

#include "core/model/cluster_presets.hpp"
#include "site/analysis/test_population.hpp"

namespace goban::site::analysis {
namespace {

/// Seven records of sacct with the data that conditions 1, 2 and 4 require.
constexpr std::string_view kSacct =
    "JobID|User|Account|Partition|Submit|Start|End|State|ExitCode|NNodes|NCPUS|AllocTRES|"
    "TimelimitRaw|NodeList|SubmitLine\n"
    "1|ann|a|gpu|2020-01-01T00:00:00|2020-01-01T01:00:00|2020-01-01T02:00:00|COMPLETED|0:0|1|8|"
    "gres/gpu=1|120|g1|sbatch x\n"
    "2|ann|a|gpu|2020-01-01T00:00:00|2020-01-01T00:00:00|2020-01-01T02:00:00|TIMEOUT|0:0|2|64|"
    "gres/gpu=8|120|g[1-2]|sbatch x\n"
    "3|bob|a|gpu|2020-01-01T00:00:00|2020-01-01T00:00:00|2020-01-01T02:00:00|COMPLETED|0:0|1|32|"
    "gres/gpu=4|240|g3|salloc x\n"
    "4|bob|b|cpu|2020-01-01T00:00:00|2020-01-01T00:00:00|2020-01-01T02:00:00|COMPLETED|0:0|1|8|"
    "cpu=8|240|c1|sbatch x\n"
    "5|bob|b|gpu|2020-01-01T00:00:00|2020-01-01T00:00:00|2020-01-01T00:04:59|FAILED|1:0|1|8|"
    "gres/gpu=1|240|g1|sbatch x\n"
    "6|cyd|b|gpu|2020-01-01T00:00:00|2020-01-01T00:00:00|2020-01-01T00:05:00|FAILED|1:0|1|8|"
    "gres/gpu=2|240|g1|sbatch x\n"
    "7|cyd|b|gpu|2020-01-01T00:00:00|Unknown|Unknown|PENDING|0:0|1|8|gres/gpu=1|240||sbatch x\n";

const RuleCount& count_of(const TestPopulation& test, Rule rule) {
  return test.population.funnel[static_cast<size_t>(rule)];
}

TEST(Population, TheFunnelCountsAfterEachRule) {
  const TestPopulation test = population_of(kSacct);
  EXPECT_EQ(test.population.records, 7);
  EXPECT_EQ(test.population.jobs.size(), 6U);
  EXPECT_EQ(count_of(test, Rule::Ended).kept, 6);
  EXPECT_EQ(count_of(test, Rule::Ended).failed, 1);
  EXPECT_FALSE(count_of(test, Rule::Period).applied);
  EXPECT_EQ(count_of(test, Rule::Gpus).kept, 5);
  EXPECT_TRUE(count_of(test, Rule::Batch).applied);
  EXPECT_EQ(count_of(test, Rule::Batch).failed, 1);
  EXPECT_EQ(count_of(test, Rule::Batch).kept, 4);
  EXPECT_FALSE(count_of(test, Rule::Software).applied);
  EXPECT_EQ(count_of(test, Rule::RunTime).kept, 3) << "299 s are too short, 300 s are not";
  EXPECT_FALSE(count_of(test, Rule::GpuUse).applied);
  EXPECT_EQ(test.population.num_selected(), 3);
}

TEST(Population, KindsFollowFromSizesWhereRecordsHaveNoTypes) {
  const TestPopulation test = population_of(kSacct);
  const SiteShape& site = test.population.site;
  EXPECT_FALSE(site.types_recorded);
  EXPECT_EQ(site.gpus_per_node, 4);
  std::vector<std::string> kinds;
  for (const Job& job : test.population.jobs) kinds.push_back(test.population.kind(job).name);
  EXPECT_EQ(kinds, (std::vector<std::string>{"1 GPU", "whole node", "whole node", "no GPU", "1 GPU",
                                             "2+ GPUs of a node"}));
  EXPECT_EQ(test.population.jobs[1].nodes, 2);
  EXPECT_TRUE(test.population.jobs[1].exceeded);
  EXPECT_FALSE(test.population.jobs[0].exceeded);
  EXPECT_EQ(test.population.jobs[0].wait_s, 3600);
}

TEST(Population, APeriodAsksTheTimeItNames) {
  Rules rules;
  rules.period.from_ns = 1'577'836'800 * base::kSecond + 3600 * base::kSecond;  // 01:00
  const auto inside = [&](PeriodBy by) {
    rules.period.by = by;
    return count_of(population_of(kSacct, rules), Rule::Period).kept;
  };
  EXPECT_EQ(inside(PeriodBy::Submit), 0);
  EXPECT_EQ(inside(PeriodBy::Start), 1);
  EXPECT_EQ(inside(PeriodBy::End), 4);
}

TEST(Population, EventsAreLeftOutByPattern) {
  Rules rules;
  rules.exclude.users = {"A*"};
  rules.exclude.accounts = {"?"};
  EXPECT_EQ(count_of(population_of(kSacct, rules), Rule::Event).kept, 0);
  rules.exclude.accounts = {"b"};
  EXPECT_EQ(count_of(population_of(kSacct, rules), Rule::Event).kept, 1);
}

TEST(Population, SoftwareIsAskedWhereSomeRecordsHaveIt) {
  constexpr std::string_view kRecords =
      "job_id,submit_unix_s,start_unix_s,end_unix_s,num_gpus,software,gpus,kind\n"
      "1,0,0,400,1,cuda/10.1;gcc,,\n"
      "2,0,0,400,1,gcc,,\n"
      "3,0,0,400,1,,,\n"
      "4,0,0,400,1,docker://nvcr.io/pytorch:20.1,,\n";
  Rules rules;
  TestPopulation test = population_of(kRecords, rules);
  EXPECT_EQ(count_of(test, Rule::Software).passed, 2);
  EXPECT_EQ(count_of(test, Rule::Software).failed, 1);
  EXPECT_EQ(count_of(test, Rule::Software).unknown, 1);
  EXPECT_EQ(count_of(test, Rule::Software).kept, 2) << "unknown ones are left out by default";
  rules.software_unknown = Unknowns::Keep;
  EXPECT_EQ(count_of(population_of(kRecords, rules), Rule::Software).kept, 3);
  rules.software_unknown = Unknowns::Drop;
  rules.software = SoftwareEvidence::Container;
  EXPECT_EQ(count_of(population_of(kRecords, rules), Rule::Software).kept, 1);
  rules.software = SoftwareEvidence::None;
  EXPECT_FALSE(count_of(population_of(kRecords, rules), Rule::Software).applied);
}

TEST(Population, ResourceTypesAndBinsComeFromTheCluster) {
  const auto abci = core::model::make_preset("abci");
  ASSERT_TRUE(abci);
  const TestPopulation test = population_of(
      "job_id,submit_time,duration,num_gpus,user,resource_type,instances\n"
      "1,0,1000,140,u,Full,35\n2,0,1000,4,u,G.large,1\n3,0,1000,1,u,G.small,1\n"
      "4,0,1000,0,u,C.small,1\n",
      {}, &*abci);
  const SiteShape& site = test.population.site;
  std::vector<std::string> names;
  for (const JobKindInfo& kind : site.kinds) names.push_back(kind.name);
  EXPECT_EQ(names, (std::vector<std::string>{"G.small", "G.large", "Full", "C.small"}));
  EXPECT_TRUE(site.kinds[2].whole_node);
  EXPECT_FALSE(site.kinds[1].whole_node);
  EXPECT_EQ(site.rack_nodes, 34);
  EXPECT_EQ(site.node_bins, (std::vector<int32_t>{1, 2, 4, 8, 34, 68, 136, 512}));
  EXPECT_EQ(test.population.jobs[0].nodes, 35);
  EXPECT_EQ(site.bin_name(site.bin_of(35)), "35-68");
  EXPECT_EQ(site.bin_name(site.bin_of(1)), "1");
  EXPECT_EQ(site.bin_name(site.bin_of(9'999)), "137-512") << "the last bin takes the rest";
}

TEST(Population, ArraysAreTasksOrTheirFirst) {
  constexpr std::string_view kArray =
      "job_id,submit_time,duration,num_gpus,user,array_tasks\na,0,400,1,u,5\nb,0,400,1,u,\n";
  Rules rules;
  EXPECT_EQ(population_of(kArray, rules).population.jobs.size(), 6U);
  rules.arrays = Arrays::First;
  EXPECT_EQ(population_of(kArray, rules).population.jobs.size(), 2U);
}

TEST(Population, LimitsAreExceededByStateOrByTime) {
  constexpr std::string_view kJobs =
      "job_id,submit_time,duration,num_gpus,user,walltime_s,state\n"
      "a,0,400,1,u,400,COMPLETED\nb,0,401,1,u,400,\nc,0,300,1,u,400,TIMEOUT\nd,0,400,1,u,400,\n";
  Rules rules;
  const auto exceeded = [&] {
    std::string ids;
    const TestPopulation test = population_of(kJobs, rules);
    for (const Job& job : test.population.jobs) {
      if (job.exceeded) ids += test.read->table.id(job.row);
    }
    return ids;
  };
  EXPECT_EQ(exceeded(), "bc") << "a job that completed, or ended at its limit, kept to it";
  rules.exceeded = Exceeded::State;
  EXPECT_EQ(exceeded(), "c");
  rules.exceeded = Exceeded::Elapsed;
  EXPECT_EQ(exceeded(), "abd");
}

TEST(Population, RequeuedRunsHeldTheirGpus) {
  const TestPopulation slurm = population_of(
      "JobID|User|Submit|Start|End|State|AllocTRES\n"
      "7|ann|2024-01-01T00:00:00|2024-01-01T01:00:00|2024-01-01T03:00:00|REQUEUED|gres/gpu=4\n"
      "7|ann|2024-01-01T03:00:00|2024-01-01T04:00:00|2024-01-01T05:00:00|COMPLETED|gres/gpu=4\n"
      "8|ann|2024-01-01T00:00:00|2024-01-01T01:00:00|Unknown|REQUEUED|gres/gpu=4\n");
  ASSERT_EQ(slurm.population.jobs.size(), 2U) << "the end of job 8 is not known";
  EXPECT_EQ(count_of(slurm, Rule::Ended).failed, 1);
  const ReportData report = slurm.report();
  const Table* outcomes = find_table(report, "outcomes");
  ASSERT_NE(outcomes, nullptr);
  ASSERT_EQ(outcomes->rows.size(), 2U);
  EXPECT_EQ(text_of(outcomes->rows[0][0]), "REQUEUED");
  EXPECT_EQ(number_of(outcomes->rows[0][4]), 8) << "GPU-hours";
  EXPECT_EQ(text_of(outcomes->rows[1][0]), "COMPLETED");
  EXPECT_EQ(number_of(outcomes->rows[1][4]), 4);
}

TEST(Population, AttemptsOfPhillyCountUpToTheLast) {
  const TestPopulation philly = population_of(
      R"([{"status":"Pass","vc":"v","jobid":"a","user":"u","submitted_time":"2017-10-09 00:00:00",)"
      R"("attempts":[{"start_time":"2017-10-09 01:00:00","end_time":"2017-10-09 02:00:00",)"
      R"("detail":[{"ip":"m1","gpus":["gpu0","gpu1"]}]},)"
      R"({"start_time":"2017-10-09 02:00:00","end_time":"2017-10-09 05:00:00",)"
      R"("detail":[{"ip":"m1","gpus":["gpu0","gpu1"]}]}]}])");
  double gpu_hours = 0;
  for (const Job& job : philly.population.jobs) gpu_hours += job.gpu_hours();
  EXPECT_EQ(gpu_hours, 8);
}

TEST(Population, PartsOfGpusCountAsParts) {
  for (const std::string_view text :
       {"job_id,submit_unix_s,start_unix_s,end_unix_s,num_gpus,gpu_milli,gpu_share\n"
        "a,0,0,3600,10,500,1\n",
        "; Version: 2.2\n; GpuFields: 19 20\n"
        "1 0 0 3600 60 -1 -1 60 -1 -1 1 1 1 -1 1 -1 -1 -1 10 500\n"}) {
    const TestPopulation test = population_of(text);
    ASSERT_EQ(test.population.jobs.size(), 1U) << text;
    EXPECT_EQ(test.population.jobs[0].gpus, 10);
    EXPECT_EQ(test.population.jobs[0].gpu_hours(), 5);
  }
}

TEST(Matches, TakesStarsAndQuestionMarksInAnyCase) {
  EXPECT_TRUE(matches("*cuda*", "CUDA/10.2"));
  EXPECT_TRUE(matches("cuda", "cuda"));
  EXPECT_FALSE(matches("cuda", "cuda/9"));
  EXPECT_TRUE(matches("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(matches("a*b*c", "aXbYbZ"));
  EXPECT_TRUE(matches("??", "ab"));
  EXPECT_FALSE(matches("??", "abc"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_FALSE(matches("?", ""));
}

/// Nodes of 2 GPUs (a1 to a4) and one of 8 (big) in one partition, and others in a partition of 4.
/// `times` rounds of eight jobs.
std::string mixed(int times) {
  struct Line {
    const char *id, *partition;
    int from, to, gpus, nodes;
    const char* list;
  };
  std::string text =
      "job_id,user,partition,submit_unix_s,start_unix_s,end_unix_s,num_gpus,num_nodes,node_list\n";
  for (int i = 0; i < times; ++i) {
    for (const Line& line :
         {Line{"whole", "gpu", 1000, 2000, 2, 1, "a1"}, Line{"one", "gpu", 1000, 2000, 1, 1, "a2"},
          Line{"other", "gpu", 1500, 2000, 1, 1, "a2"},
          Line{"two", "gpu", 3000, 4000, 4, 2, "a[3-4]"},
          Line{"big", "gpu", 1000, 2000, 8, 1, "big"}, Line{"part", "gpu", 3000, 4000, 2, 1, "big"},
          Line{"four", "quad", 1000, 2000, 4, 1, ""}, Line{"some", "quad", 1000, 2000, 2, 1, ""}}) {
      const int at = 10'000 * i;
      text += fmt::format("{}{},u,{},0,{},{},{},{},{}\n", line.id, i, line.partition,
                          at + line.from, at + line.to, line.gpus, line.nodes, line.list);
    }
  }
  return text;
}

TEST(NodeSizes, WholeNodesAreThoseOfEachNode) {
  const std::string records = mixed(10);
  const TestPopulation test = population_of(records);
  std::vector<int32_t> sizes;
  std::vector<bool> whole;
  for (const Job& job : std::span(test.population.jobs).first(8)) {
    sizes.push_back(job.node_gpus);
    whole.push_back(test.population.whole_node(job));
  }
  EXPECT_EQ(sizes, (std::vector<int32_t>{2, 2, 2, 2, 8, 8, 4, 4}))
      << "two jobs at once show that a2 has two GPUs";
  EXPECT_EQ(whole, (std::vector<bool>{true, false, false, true, true, false, true, false}));
  EXPECT_EQ(test.population.site.guessed_nodes, "gpu: 2 to 8, quad: 4");
  // One of the four whole-node jobs holds several nodes. With 8 GPUs for every node it would be one
  // of two.
  EXPECT_EQ(number_of(scalar_of(test.report(), "whole_single_share")), 75);
  Rules rules;
  rules.gpus_per_node_of["quad"] = 2;
  const TestPopulation stated = population_of(records, rules);
  EXPECT_EQ(stated.population.jobs[7].node_gpus, 2);
  EXPECT_EQ(stated.population.site.guessed_nodes, "gpu: 2 to 8");
  rules.gpus_per_node = 8;
  const TestPopulation equal = population_of(records, rules);
  EXPECT_EQ(equal.population.jobs[0].node_gpus, 8);
  EXPECT_EQ(equal.population.site.guessed_nodes, "");
  EXPECT_EQ(population_of(mixed(1)).population.jobs[0].node_gpus, 8) << "one job shows little";
}

TEST(NodeSizes, PartsOfGpusAndSuspendedTimeCountAsTheyWere) {
  const TestPopulation test = population_of(
      "JobID|User|Submit|Start|End|Elapsed|Suspended|State|NNodes|AllocTRES\n"
      "1|u|1600000000|1600000000|1600007200|01:00:00|01:00:00|COMPLETED|1|"
      "gres/gpu=2,gres/gpu:3g.20gb=2\n"
      "2|u|1600000000|1600000000|1600003600|01:00:00|00:00:00|COMPLETED|1|"
      "gres/gpu=1,gres/gpu:1g.6gb=1\n"
      "3|u|1600000000|1600000000|1600003600|01:00:00|00:00:00|COMPLETED|1|"
      "gres/gpu=2,gres/gpu:a100=1,gres/gpu:1g.10gb=1\n");
  ASSERT_EQ(test.population.jobs.size(), 3U);
  EXPECT_EQ(test.population.jobs[0].run_s, 3600) << "an hour of the two it was suspended";
  EXPECT_NEAR(test.population.jobs[0].gpu_hours(), 2 * 3 / 7.0, 2e-3);
  EXPECT_NEAR(test.population.jobs[1].gpu_hours(), 1 / 4.0, 2e-3) << "a slice of an A30";
  EXPECT_NEAR(test.population.jobs[2].gpu_hours(), 1 + 1 / 7.0, 2e-3);
}

}  // namespace
}  // namespace goban::site::analysis
