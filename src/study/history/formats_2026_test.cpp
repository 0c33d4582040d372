// The traces of 2021 to 2026: samples of our own in their forms, with rejects. What is expected was
// worked out by hand from the rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text_file.hpp"
#include "core/model/cluster_file.hpp"
#include "core/model/cluster_presets.hpp"
#include "study/history/summary.hpp"
#include "study/history/test_reading.hpp"
#include "study/history/trace_ranges.hpp"

namespace goban::study::history {
namespace {

using base::kSecond;
using core::model::RecordedEnd;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ReadResult read_sample(const std::string& name, const ReadOptions& options = {}) {
  return read_ok(base::read_text_file(GOBAN_SOURCE_DIR "/tests/corpus/records/" + name).value(),
                 options);
}

/// GPUs times run time over the jobs, as the summary counts it and by itself.
double gpu_s(const ReadResult& read) {
  double sum = 0;
  for (size_t i = 0; i < read.history.jobs.size(); ++i) {
    sum += read.history.jobs[i].request.num_gpus * read.history.jobs[i].work_s;
  }
  return sum;
}

int64_t submit_s(const ReadResult& read, size_t job) {
  return read.history.jobs[job].request.submit_ns / kSecond;
}

TEST(AcmeTrace, SerenHasZonesAndClasses) {
  const ReadResult read = read_sample("acme_seren.csv");
  EXPECT_EQ(read.format, "acme");
  EXPECT_EQ(read.records, 8);
  EXPECT_THAT(names(read), ElementsAre("71001", "71002", "71004"));
  EXPECT_THAT(
      reasons(read),
      ElementsAre("6: end_time is before start_time", HasSubstr("7: state \"DONE\" is not one of"),
                  "8: job_id 71001 was used before", "9: node_num \"two\" is not an integer"));
  EXPECT_EQ(submit_s(read, 0), 1680483600);  // 2023-04-03 01:00:00 UTC
  EXPECT_EQ(read.history.recorded[0].start_ns, 1680483660 * kSecond);
  EXPECT_EQ(read.history.recorded[2].end, RecordedEnd::TimedOut);
  EXPECT_EQ(read.history.partitions[0], "Pretrain");
  EXPECT_EQ(read.counts.cpu_jobs, 1);
  // The column gpu_time of these three rows.
  EXPECT_EQ(gpu_s(read), 115200 + 600 + 1800);
  EXPECT_THAT(read.notes, IsEmpty());
  EXPECT_THAT(read.ignored_columns, IsEmpty());
}

TEST(AcmeTrace, KalosCountsTheQueueInDuration) {
  const ReadResult read = read_sample("acme_kalos.csv");
  EXPECT_EQ(read.format, "acme");
  EXPECT_THAT(names(read), ElementsAre("dlc01", "dlc02"));
  EXPECT_THAT(reasons(read), IsEmpty());
  EXPECT_EQ(read.counts.never_started, 1);
  EXPECT_EQ(read.history.jobs[0].work_s, 40);  // not 60, which begin with the submission
  EXPECT_EQ(gpu_s(read), 1280 + 9600);
  EXPECT_THAT(read.notes, ElementsAre(HasSubstr("differs from end_time - start_time in 1 rows")));
  EXPECT_THAT(read.ignored_columns, ElementsAre("shared_mem_per_pod", "fail_time", "stop_time"));
}

TEST(AcmeTrace, HeliosReadsTheRowsThatBothKnowAlike) {
  ReadOptions options;
  options.format = "helios";
  const ReadResult helios = read_sample("acme_seren.csv", options);
  const ReadResult acme = read_sample("acme_seren.csv");
  ASSERT_EQ(helios.history.jobs.size(), acme.history.jobs.size());
  EXPECT_EQ(names(helios), names(acme));
  for (size_t i = 0; i < acme.history.jobs.size(); ++i) {
    EXPECT_EQ(helios.history.jobs[i].request, acme.history.jobs[i].request);
    EXPECT_EQ(helios.history.jobs[i].work_s, acme.history.jobs[i].work_s);
    EXPECT_EQ(helios.history.recorded[i].start_ns, acme.history.recorded[i].start_ns);
  }
}

TEST(ItpRaw, FourColumns) {
  const ReadResult read = read_sample("itp_raw.csv");
  EXPECT_EQ(read.format, "itp-raw");
  EXPECT_THAT(names(read), ElementsAre("aaaa-1", "aaaa-2"));
  EXPECT_THAT(reasons(read),
              ElementsAre("4: job_id aaaa-2 was used before", "5: duration \"-5\" is negative"));
  EXPECT_EQ(submit_s(read, 1), 125);
  EXPECT_EQ(gpu_s(read), 8 * 3600 + 90.5);
}

TEST(Elasticflow, DeadlinesAreOnTheClockOfTheTrace) {
  const ReadResult read = read_sample("elasticflow_itp.csv");
  EXPECT_EQ(read.format, "elasticflow");
  EXPECT_THAT(names(read), ElementsAre("bbbb-1", "bbbb-2"));
  EXPECT_THAT(reasons(read), ElementsAre("4: the deadline is before the submission",
                                         "5: num_iteration \"many\" is not an integer"));
  EXPECT_EQ(read.history.training[0].steps, 50000);
  // The first deadline lies before submission + duration: no error, but counted.
  EXPECT_EQ(read.history.training[0].deadline_ns, 2000 * kSecond);
  EXPECT_EQ(read.counts.impossible_deadlines, 1);
  EXPECT_EQ(read.history.training[1].batch_size, 64);
  EXPECT_EQ(gpu_s(read), 4 * 2500 + 60);
  EXPECT_THAT(read.notes, ElementsAre(HasSubstr("synthetic")));
}

TEST(Elasticflow, RatesMakeJobsElastic) {
  ReadResult read = read_sample("elasticflow_itp.csv");
  std::vector<RateRow> rows;
  for (const int32_t gpus : {2, 4, 8, 16, 128}) {
    rows.push_back({.model = "gpt2", .batch_size = 128, .gpus = gpus, .steps_per_s = 5.0 * gpus});
  }
  rows.push_back({.model = "gpt2", .batch_size = 128, .gpus = 1, .steps_per_s = 0});
  rows.push_back({.model = "vgg16", .batch_size = 32, .gpus = 1, .steps_per_s = 7});
  const auto large = core::model::make_preset("32x8").value();
  set_elasticflow_ranges(rows, large, read.history);
  EXPECT_EQ(read.history.training[0].gpus_min, 2);   // on one it does not run
  EXPECT_EQ(read.history.training[0].gpus_max, 16);  // at most 64
  EXPECT_EQ(read.history.training[1].gpus_max, 0);   // of another batch size
  const auto small = core::model::make_preset("1x8").value();
  set_elasticflow_ranges(rows, small, read.history);
  EXPECT_EQ(read.history.training[0].gpus_max, 8) << "no more than the cluster has";
}

TEST(Elasticflow, BestEffortHasNoDeadline) {
  const ReadResult read = read_sample("elasticflow_own.csv");
  EXPECT_EQ(read.format, "elasticflow");
  EXPECT_THAT(reasons(read), ElementsAre("4: best_effort \"2\" is not between 0 and 1"));
  EXPECT_EQ(read.history.training[0].deadline_ns, 5000 * kSecond);
  EXPECT_EQ(read.history.training[1].deadline_ns, -1);
}

TEST(AlibabaSpot, GangsOfWorkers) {
  const ReadResult read = read_sample("alibaba_spot.csv");
  EXPECT_EQ(read.format, "alibaba-spot");
  EXPECT_THAT(names(read), ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(reasons(read),
              ElementsAre("6: gpu_request \"1.5\" is neither a part of a GPU nor 0 to 255 GPUs",
                          "7: job_type \"Batch\" is neither HP nor Spot",
                          "8: worker_num \"0\" is not between 1 and 1000000"));
  const auto request = [&](size_t i) { return read.history.jobs[i].request; };
  EXPECT_EQ(request(2).num_gpus, 16);
  EXPECT_TRUE(request(2).stays);
  EXPECT_FALSE(request(1).stays);
  EXPECT_GT(request(2).priority, request(1).priority);
  EXPECT_EQ(read.counts.gpu_shares, 1);
  EXPECT_EQ(read.counts.cpu_jobs, 1);
  EXPECT_EQ(read.history.accounts[request(3).account.index()], "9");
  EXPECT_EQ(gpu_s(read), 500000 + 8 * 4000 + 16 * 7200 + 3 * 60);
  EXPECT_THAT(read.notes, ElementsAre("1 jobs with submit_time 0 ran before the trace began"));
}

TEST(AlibabaSpot, TheModelIsAHardConstraintOfClustersThatHaveTheType) {
  const auto cluster = core::model::parse_cluster(
      "[[gpu_model]]\nname = \"A10\"\n[[gpu_model]]\nname = \"A100-SXM4-80GB\"\n"
      "[[nodes]]\nname = \"a{}\"\ncount = 2\ngpus = 8\ngpu_model = \"A10\"\n"
      "[[nodes]]\nname = \"b{}\"\ncount = 2\ngpus = 8\ngpu_model = \"A100-SXM4-80GB\"\n"
      "[[resource_type]]\nname = \"A100-SXM4-80GBx8\"\ngpus = 8\ngpu_model = \"A100-SXM4-80GB\"\n"
      "max_instances = 9\n",
      "c.toml");
  ASSERT_TRUE(cluster) << cluster.error().text();
  const core::model::ResourceType& type = cluster->resource_types()[0];
  EXPECT_THAT(type.nodes, ElementsAre(false, false, true, true));
  ReadOptions options;
  options.cluster = &*cluster;
  const std::string header =
      "job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration,"
      "job_type\n";
  const ReadResult read = read_ok(header +
                                      "1,7,A100-SXM4-80GB,1,8,2,0,60,HP\n"
                                      "2,7,A100-SXM4-80GB,1,8,3,0,60,HP\n"
                                      "3,7,A10,1,8,1,0,60,HP\n",
                                  options);
  EXPECT_THAT(names(read), ElementsAre("1", "3"));
  EXPECT_EQ(read.history.jobs[0].request.instances, 2);
  EXPECT_TRUE(read.history.jobs[0].request.resource_type.valid());
  EXPECT_FALSE(read.history.jobs[1].request.resource_type.valid());  // the cluster lacks A10x8
  EXPECT_THAT(
      reasons(read),
      ElementsAre("3: 3 instances of A100-SXM4-80GBx8 exceed the 2 that fit on the cluster"));
}

TEST(AlibabaDlrm, InstancesOfServices) {
  const ReadResult read = read_sample("alibaba_dlrm.csv");
  EXPECT_EQ(read.format, "alibaba-dlrm");
  EXPECT_THAT(names(read), ElementsAre("s_1", "s_2", "s_4"));
  EXPECT_THAT(reasons(read), ElementsAre("6: deletion_time is before scheduled_time",
                                         "7: creation_time without scheduled_time"));
  EXPECT_EQ(read.counts.cpu_jobs, 1);
  EXPECT_TRUE(read.history.jobs[0].request.stays);
  // From 0 to the end of the trace, to 4000 s, and from 2450 s on.
  EXPECT_EQ(gpu_s(read), 2677541.0 + 4000 + (2677541 - 2450));
  EXPECT_EQ(read.history.recorded[2].start_ns, 2450 * kSecond);
  EXPECT_THAT(read.notes, ElementsAre(HasSubstr("not preempted"),
                                      "2 instances were there before the trace began",
                                      "2 instances end with the trace, at 2677541 s",
                                      "max_instance_per_node limits 3 instances: not used"));
}

TEST(AlibabaDlrm, NoiseOfTheTimesIsRounded) {
  ReadOptions options;
  options.cpu_jobs = CpuJobs::Keep;
  const ReadResult read = read_sample("alibaba_dlrm.csv", options);
  EXPECT_THAT(names(read), ElementsAre("s_1", "s_2", "s_3", "s_4"));
  EXPECT_EQ(read.history.jobs[2].work_s, 120);
}

TEST(GavelTrace, TwelveFieldsBetweenTabs) {
  const ReadResult read = read_sample("gavel.trace");
  EXPECT_EQ(read.format, "gavel-trace");
  EXPECT_THAT(names(read), ElementsAre("0", "1"));
  EXPECT_THAT(
      reasons(read),
      ElementsAre("3: arrival \"soon\" is not a finite number",
                  "4: 10 fields: without a duration, which measured rates would have to give",
                  "5: job type \"LM (batch size x)\" is not MODEL or MODEL (batch size B)",
                  "6: SLO \"-2\" is neither -1 nor a number from 0 on",
                  "7: 3 fields between tabs instead of 10 to 12"));
  EXPECT_EQ(read.history.models[read.history.jobs[0].request.model.index()], "LM");
  EXPECT_EQ(read.history.training[0].batch_size, 20);
  EXPECT_EQ(read.history.training[0].deadline_ns, 3000 * kSecond);
  EXPECT_EQ(read.history.training[1].deadline_ns, -1);
  EXPECT_EQ(read.history.jobs[1].request.submit_ns, 45'500'000'000);
  EXPECT_EQ(gpu_s(read), 2 * 2000 + 600);
  EXPECT_THAT(read.notes, ElementsAre("1 jobs have a priority weight other than 1: not used"));
  for (const auto& rejection : read.first_rejections) {
    EXPECT_THAT(rejection.text, testing::Not(HasSubstr("secret")));
  }
}

}  // namespace
}  // namespace goban::study::history
