#include "study/history/job_reader.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <unistd.h>

#include "base/gzip.hpp"
#include "base/test_data.hpp"
#include "core/model/cluster_presets.hpp"
#include "study/history/test_reading.hpp"

namespace goban::study::history {
namespace {

using base::kSecond;
using testing::ElementsAre;

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A path in a folder used by this test only.
std::string temp_path(const std::string& name) {
  const auto folder = std::filesystem::path(testing::TempDir()) /
                      testing::UnitTest::GetInstance()->current_test_info()->name();
  std::filesystem::create_directories(folder);
  return (folder / name).string();
}

constexpr std::string_view kGeneric =
    "job_id,submit_time,duration,num_gpus,user,model\n"
    "7,10,100.5,2,ann,resnet50\n"
    "8,10.000000001,0,1,bob,vgg19\n"
    "x-9,1600000000.123456789,3e2,4,ann,new\n";

TEST(JobReader, GenericFields) {
  const ReadResult result = read_ok(kGeneric);
  EXPECT_EQ(result.format, "generic");
  EXPECT_EQ(result.records, 3);
  EXPECT_EQ(result.rejected, 0);
  EXPECT_FALSE(result.unsorted);
  const core::model::JobHistory& history = result.history;
  ASSERT_EQ(history.jobs.size(), 3u);
  EXPECT_THAT(names(result), ElementsAre("7", "8", "x-9"));
  EXPECT_EQ(history.jobs[0].request.submit_ns, 10 * kSecond);
  EXPECT_EQ(history.jobs[0].work_s, 100.5);
  EXPECT_EQ(history.jobs[0].request.num_gpus, 2);
  EXPECT_EQ(history.jobs[0].request.app_class.letter(), 'A');
  EXPECT_EQ(history.jobs[1].request.submit_ns, 10 * kSecond + 1);
  EXPECT_EQ(history.jobs[1].work_s, 0);
  EXPECT_EQ(history.jobs[1].request.app_class.letter(), 'C');
  EXPECT_EQ(history.jobs[2].request.submit_ns, 1600000000 * kSecond + 123456789);
  EXPECT_EQ(history.jobs[2].work_s, 300);
  EXPECT_EQ(history.jobs[2].request.app_class.letter(), 'A');
  EXPECT_EQ(history.users.size(), 2u);
  EXPECT_EQ(history.jobs[2].request.user, history.jobs[0].request.user);
  EXPECT_FALSE(history.has_walltime_limits);
}

TEST(JobReader, BlockBordersDoNotMatter) {
  for (size_t chunk = 1; chunk < 20; ++chunk) {
    EXPECT_THAT(names(read_ok(kGeneric, {}, chunk)), ElementsAre("7", "8", "x-9")) << chunk;
  }
}

TEST(JobReader, CrlfByteOrderMarkBlankLinesAndNoLastLineEnd) {
  const ReadResult result = read_ok(
      "\xEF\xBB\xBFjob_id,num_gpus,submit_time,duration,model\r\n0,1,98,10.0,vgg19\r\n\r\n  \n"
      "1,2,99,20,BERT");
  EXPECT_EQ(result.format, "pal");
  EXPECT_EQ(result.records, 2);
  ASSERT_EQ(result.history.jobs.size(), 2u);
  EXPECT_EQ(result.history.jobs[0].work_s, 10 * .300610341);
  EXPECT_EQ(result.history.jobs[1].work_s, 20 * .179);
  EXPECT_EQ(result.history.models[1], "BERT");
}

TEST(JobReader, QuotedFields) {
  const ReadResult result = read_ok(
      "\"job_id\",submit_time,duration,num_gpus,user,model\n"
      "\"a,\"\"b\"\"\",1,2,1,\"Doe, J\",\"\"\n"
      "c,1,2,1,\"open,m\n"
      "d,1,2,1,\"x\"y,m\n");
  EXPECT_THAT(names(result), ElementsAre("a,\"b\""));
  EXPECT_EQ(result.history.users[0], "Doe, J");
  EXPECT_THAT(reasons(result), ElementsAre("3: a quoted field does not end at a comma",
                                           "4: a quoted field does not end at a comma"));
}

TEST(JobReader, AccountsAndRecordsOfTheSiteAreKept) {
  const ReadResult result = read_ok(
      "job_id,submit_time,duration,num_gpus,user,model,account,partition,qos,start_time,"
      "end_time,state\n"
      "late,10,5,1,u,m,physics,gpu,high,12.5,17,CANCELLED by 7\n"
      "early,5,5,1,u,m,,,,,,\n"
      "a,20,5,1,u,m,physics,cpu,low,19,,Pass\n"
      "b,20,5,1,u,m,physics,cpu,low,,,Sleeping\n"
      "c,20,5,1,u,m,physics,cpu,low,22,21,Pass\n");
  EXPECT_THAT(names(result), ElementsAre("early", "late"));
  ASSERT_EQ(result.history.recorded.size(), 2u);
  EXPECT_EQ(result.history.recorded[0].start_ns, -1);
  EXPECT_EQ(result.history.recorded[0].end, core::model::RecordedEnd::Unknown);
  EXPECT_EQ(result.history.recorded[1].start_ns, base::from_seconds(12.5));
  EXPECT_EQ(result.history.recorded[0].finish_ns, -1);
  EXPECT_EQ(result.history.recorded[1].finish_ns, base::from_seconds(17));
  EXPECT_EQ(result.history.recorded[1].end, core::model::RecordedEnd::Cancelled);
  const core::model::JobRequest& late = result.history.jobs[1].request;
  EXPECT_EQ(result.history.accounts[late.account.index()], "physics");
  EXPECT_EQ(result.history.partitions[late.partition.index()], "gpu");
  EXPECT_EQ(result.history.qos[late.qos.index()], "high");
  EXPECT_THAT(
      reasons(result),
      ElementsAre("4: the job started before it was submitted",
                  "5: state \"Sleeping\" is not one of COMPLETED, FAILED, CANCELLED, TIMEOUT, "
                  "NODE_FAIL",
                  "6: the job ended before it started"));
}

TEST(JobReader, EveryReasonHasItsText) {
  const auto cluster = core::model::make_preset("2x4");
  ASSERT_TRUE(cluster);
  ReadOptions options;
  options.cluster = &*cluster;
  options.rejects_path = temp_path("rejects.csv");
  const ReadResult result = read_ok(
      "job_id,submit_time,duration,num_gpus,user,model\n"
      "1,0,5,1,u,m\n"
      "2,0,5,1,u\n"
      "3,soon,5,1,u,m\n"
      "4,-1,5,1,u,m\n"
      "5,0,nan,1,u,m\n"
      "6,0,5,1.5,u,m\n"
      "7,0,5,9,u,m\n"
      "1,0,5,1,u,m\n"
      ",0,5,1,u,m\n"
      "8,1e10,5,1,u,m\n"
      "9,0,5e9,1,u,m\n"
      "10,0,5,0,u,m\n"
      "11,0,5,,u,m\n"
      "12,0,,1,u,m\n"
      "13,0,-5,1,u,m\n"
      "14,0,5,-2,u,m\n"
      "job_id,submit_time,duration,num_gpus,user,model\n",
      options);
  EXPECT_EQ(result.records, 17);
  EXPECT_EQ(result.rejected, 15);
  EXPECT_EQ(result.counts.cpu_jobs, 1);
  EXPECT_EQ(result.counts.cpu_jobs_left_out, 1);
  EXPECT_EQ(result.history.jobs.size(), 1u);
  EXPECT_THAT(
      reasons(result),
      ElementsAre("3: 5 fields instead of 6", "4: submit_time \"soon\" is not a finite number",
                  "5: submit_time \"-1\" is negative", "6: duration \"nan\" is not a finite number",
                  "7: num_gpus \"1.5\" is not an integer",
                  "8: num_gpus 9 exceeds the 8 GPUs of the cluster", "9: job_id 1 was used before",
                  "10: job_id is empty", "11: submit_time \"1e10\" exceeds 4.6e9 seconds",
                  "12: the work exceeds 4.6e9 seconds", "14: num_gpus is empty",
                  "15: duration is empty", "16: duration \"-5\" is negative",
                  "17: num_gpus \"-2\" is negative",
                  "18: submit_time \"submit_time\" is not a finite number"));
  EXPECT_THAT(file_text(options.rejects_path),
              testing::StartsWith("line,reason,record\n"
                                  "3,5 fields instead of 6,\"2,0,5,1,u\"\n"
                                  "4,\"submit_time \"\"soon\"\" is not a finite number\","
                                  "\"3,soon,5,1,u,m\"\n"));
}

TEST(JobReader, PalModelWithoutBaseSecondsIsRefused) {
  const ReadResult result =
      read_ok("job_id,num_gpus,submit_time,duration,model,batch_size\n0,1,5,10,alexnet,32\n");
  EXPECT_EQ(result.history.jobs.size(), 0u);
  EXPECT_THAT(reasons(result),
              ElementsAre("2: model \"alexnet\" has no base seconds per iteration (known: BERT, "
                          "DCGAN, GPT2, PointNet, resnet50, vgg19; with durations in seconds, use "
                          "the format generic)"));
}

TEST(JobReader, KeepsTwentyRejectionsAndCountsAll) {
  std::string text = "job_id,submit_time,duration,num_gpus,user,model\n";
  for (int i = 0; i < 50; ++i) text += "bad\n";
  const ReadResult result = read_ok(text);
  EXPECT_EQ(result.rejected, 50);
  EXPECT_EQ(result.first_rejections.size(), ReadResult::kRejectionsKept);
}

TEST(JobReader, SortsStably) {
  const ReadResult result = read_ok(
      "user,job_id,duration,submit_time,num_gpus\n"
      "u,a,1,30,1\nv,b,2,10,1\nu,c,3,30,1\nu,d,4,10,1\n");
  EXPECT_TRUE(result.unsorted);
  EXPECT_THAT(names(result), ElementsAre("b", "d", "a", "c"));
  EXPECT_EQ(result.history.jobs[0].work_s, 2);
  EXPECT_EQ(result.history.users[result.history.jobs[0].request.user.index()], "v");
}

constexpr std::string_view kTyped =
    "job_id,submit_time,duration,num_gpus,user,resource_type,instances,walltime_s\n";

TEST(JobReader, ResourceTypes) {
  const auto abci = core::model::make_preset("abci");
  ASSERT_TRUE(abci);
  ReadOptions options;
  options.cluster = &*abci;
  const ReadResult result = read_ok(std::string(kTyped) +
                                        "1,0,5,8,u,Full,2,7200\n"
                                        "2,0,5,8,u,Full,,\n"
                                        "3,0,5,,u,C.small,,60\n"
                                        "4,0,5,0,u,C.large,1,60\n"
                                        "5,0,5,1,u,,,\n",
                                    options);
  EXPECT_THAT(reasons(result), ElementsAre());
  const auto& jobs = result.history.jobs;
  ASSERT_EQ(jobs.size(), 5u);
  EXPECT_EQ(jobs[0].request.instances, 2);
  EXPECT_EQ(jobs[0].request.walltime_limit_ns, 7200 * kSecond);
  EXPECT_EQ(jobs[1].request.instances, 2);
  EXPECT_EQ(jobs[1].request.walltime_limit_ns, 3600 * kSecond);
  EXPECT_EQ(jobs[2].request.num_gpus, 0);
  EXPECT_EQ(abci->resource_type(jobs[2].request.resource_type).name, "C.small");
  EXPECT_EQ(jobs[4].request.walltime_limit_ns, 0);
  EXPECT_FALSE(jobs[4].request.resource_type.valid());
  EXPECT_TRUE(result.history.has_walltime_limits);
}

TEST(JobReader, ResourceTypeLimits) {
  const auto abci = core::model::make_preset("abci");
  ASSERT_TRUE(abci);
  ReadOptions options;
  options.cluster = &*abci;
  const ReadResult result = read_ok(std::string(kTyped) +
                                        "1,0,5,4,u,Huge,,\n"
                                        "2,0,5,4,u,Full,513,\n"
                                        "3,0,5,2052,u,Full,513,\n"
                                        "4,0,5,4,u,Full,,259201\n"
                                        "5,0,5,2,u,G.small,,\n"
                                        "6,0,5,6,u,Full,,\n"
                                        "7,0,5,1,u,C.small,,\n"
                                        "8,0,5,4,u,,2,\n"
                                        "9,0,5,4,u,Full,0,\n"
                                        "10,0,5,4,u,Full,,0\n"
                                        "11,0,5,0,u,Full,,\n",
                                    options);
  EXPECT_THAT(
      reasons(result),
      ElementsAre(
          "2: resource type Huge is unknown (known: Full, G.large, G.small, C.large, C.small)",
          "3: num_gpus 4 is not 513 x the 4 GPUs of Full",
          "4: 513 instances of Full exceed the 512 allowed",
          "5: walltime_s 259201 exceeds the 259200 of Full",
          "6: 2 instances of G.small exceed the 1 allowed",
          "7: num_gpus 6 is not 1 x the 4 GPUs of Full",
          "8: num_gpus 1 is not 1 x the 0 GPUs of C.small", "9: instances need a resource_type",
          "10: instances \"0\" is not between 1 and 2147483647",
          "11: walltime_s is zero (leave it empty for no limit)",
          "12: a job needs at least one instance of Full"));
}

TEST(JobReader, WithoutWalltimeColumnNobodyGetsTheDefault) {
  const auto abci = core::model::make_preset("abci");
  ASSERT_TRUE(abci);
  ReadOptions options;
  options.cluster = &*abci;
  const ReadResult result =
      read_ok("job_id,submit_time,duration,num_gpus,user,resource_type\n1,0,5,4,u,Full\n", options);
  ASSERT_EQ(result.history.jobs.size(), 1u);
  EXPECT_EQ(result.history.jobs[0].request.walltime_limit_ns, 0);
  EXPECT_FALSE(result.history.has_walltime_limits);
}

TEST(JobReader, Arrays) {
  const ReadResult result = read_ok(
      "job_id,submit_time,duration,num_gpus,user,array_tasks,array_limit,priority,class\n"
      "12,5,7,1,u,3,2,9,B\n"
      "12_1,5,7,1,u,,,,\n"
      "12,5,7,1,u,2,,,\n"
      "13_1,5,7,1,u,,,,\n"
      "13,5,7,1,u,2,,,\n"
      "14,5,7,1,u,100001,,,\n"
      "15,5,7,1,u,,4,,\n"
      "16,5,7,1,u,,,,b\n");
  EXPECT_THAT(names(result), ElementsAre("12_0", "12_1", "12_2", "13_1"));
  EXPECT_THAT(reasons(result),
              ElementsAre("3: job_id 12_1 was used before", "4: job_id 12 was used before",
                          "6: job_id 13_1 of an array task was used before",
                          "7: array_tasks \"100001\" is not between 1 and 100000",
                          "8: array_limit needs array_tasks",
                          "9: class \"b\" is not a letter from A to Z"));
  ASSERT_EQ(result.history.arrays.size(), 1u);
  EXPECT_EQ(result.history.arrays[0].max_running, 2);
  EXPECT_EQ(result.history.jobs[2].request.array, core::model::ArrayId(0u));
  EXPECT_EQ(result.history.jobs[2].request.priority, 9);
  EXPECT_EQ(result.history.jobs[2].request.app_class.letter(), 'B');
  EXPECT_FALSE(result.history.jobs[3].request.array.valid());
}

std::string error_text(std::string_view text, const ReadOptions& options = {}) {
  const auto result = read_text(text, options);
  return result ? "" : result.error().text();
}

TEST(JobReader, HeaderErrors) {
  EXPECT_EQ(error_text(""), "jobs.csv: the file is empty (it must begin with a header line)");
  EXPECT_EQ(
      error_text("id,gpus\n1,2\n"),
      "jobs.csv: no job format matches the header \"id,gpus\" (select one with --format: slurm, "
      "grid-engine, swf, kubernetes, philly-json, alibaba-pai, records, pal, "
      "philly-attempts, philly-sia, chronus, lumos, lumos-intervals, openb, helios, acme, "
      "itp-raw, elasticflow, alibaba-spot, alibaba-dlrm, gavel-trace, generic; "
      "or use the columns of generic: job_id,submit_time,duration,num_gpus,user,model["
      ",class,priority,walltime_s,resource_type,instances,array_tasks,array_limit,account,"
      "partition,qos,start_time,end_time,state,batch_size,epochs,gpu_mem_bytes,gpu_util_pct,"
      "deadline_s,max_slowdown,max_wait_s,share,gpus_min,gpus_max,steps,resize_cost_s,preemptible,"
      "stage_in_bytes,stage_out_bytes,data_set])");
  EXPECT_EQ(read_text("id,gpus\n").error().code, base::ErrorCode::BadData);
  EXPECT_EQ(error_text("job_id,user,submit_time,duration,user,num_gpus\n"),
            "jobs.csv:1: duplicate column user (remove or rename one)");
  EXPECT_EQ(error_text("job_id,user,submit_time,duration\n"),
            "jobs.csv:1: the column num_gpus is missing (generic requires job_id, submit_time, "
            "duration and num_gpus)");
  ReadOptions options;
  options.format = "pal";
  EXPECT_EQ(error_text("id,gpus\n", options),
            "jobs.csv:1: the header \"id,gpus\" is not that of pal (expected: "
            "job_id,num_gpus,submit_time,duration,model[,batch_size])");
  options.format = "csv";
  EXPECT_THAT(
      error_text("id,gpus\n", options),
      testing::StartsWith("unknown job format csv (known: slurm, grid-engine, swf, kubernetes, "));
}

TEST(JobReader, NamedFormatNeedsNoUserColumn) {
  ReadOptions options;
  options.format = "generic";
  const ReadResult result =
      read_ok("job_id,submit_time,duration,num_gpus,queue\n1,2,3,4,q\n", options);
  EXPECT_EQ(result.history.jobs.size(), 1u);
  EXPECT_THAT(result.ignored_columns, ElementsAre("queue"));
}

TEST(JobReader, TooManyJobsAreAnError) {
  ReadOptions options;
  options.jobs_max = 2;
  EXPECT_EQ(error_text(kGeneric, options), "jobs.csv:4: more than 2 jobs (split the history)");
}

TEST(JobReader, OverlongLineIsRefusedByItself) {
  const std::string text =
      "job_id,submit_time,duration,num_gpus,user\n1," + std::string(3 << 20, '9') + "\n2,0,1,1,u\n";
  const ReadResult result = read_ok(text);
  EXPECT_THAT(reasons(result), ElementsAre("2: the line is longer than 1048576 bytes"));
  EXPECT_THAT(names(result), ElementsAre("2"));
}

TEST(JobReader, GzipIsReadDirectlyAndDamageIsNamed) {
  const std::string path = temp_path("jobs.csv.gz");
  std::string text = "job_id,submit_time,duration,num_gpus,user\n";
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i) + ",1,2,3,u\n";
  std::ofstream(path, std::ios::binary) << base::gzip(text);
  int calls = 0;
  ReadOptions options;
  options.progress = [&](int64_t read, int64_t total) {
    ++calls;
    EXPECT_LE(read, total);
  };
  const auto result = read_jobs(path, options);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->history.jobs.size(), 200'000u);
  EXPECT_GT(calls, 2);

  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const auto cut = read_jobs(path, {});
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, base::ErrorCode::BadData);
  EXPECT_EQ(cut.error().text(), path +
                                    ": damaged gzip data: unexpected end of file "
                                    "(copy the file again; check it with gzip -t)");
}

TEST(JobReader, DashIsStandardInput) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], kGeneric.data(), kGeneric.size()),
            static_cast<ssize_t>(kGeneric.size()));
  close(ends[1]);
  const int before = dup(STDIN_FILENO);
  dup2(ends[0], STDIN_FILENO);
  const auto result = read_jobs("-", {});
  dup2(before, STDIN_FILENO);
  close(before);
  close(ends[0]);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_THAT(names(*result), ElementsAre("7", "8", "x-9"));
}

TEST(JobReader, MissingFilesAndFolders) {
  const auto missing = read_jobs("/nowhere/jobs.csv", {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().text(), "cannot open /nowhere/jobs.csv: No such file or directory");
  const auto folder = read_jobs(testing::TempDir(), {});
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().text(), testing::EndsWith("optionally pai_sensor_table.csv, "
                                                       "pai_instance_table.csv))"));
  ReadOptions options;
  options.rejects_path = "/proc/rejects.csv";
  EXPECT_EQ(error_text(kGeneric, options),
            "cannot write /proc/rejects.csv: No such file or directory "
            "(check that the folder exists and is writable)");
}

TEST(JobReader, ScatteredAndTextualIdsAreTold) {
  std::string text = "job_id,submit_time,duration,num_gpus,user\n";
  for (int i = 0; i < 5000; ++i) text += std::to_string(i * 7919LL * 104729) + ",1,2,3,u\n";
  for (int i = 0; i < 5000; ++i) text += "0" + std::to_string(i) + ",1,2,3,u\n";
  const ReadResult once = read_ok(text);
  EXPECT_EQ(once.rejected, 0);
  const ReadResult twice = read_ok(text + text.substr(text.find('\n') + 1));
  EXPECT_EQ(twice.rejected, 10'000);
}

TEST(JobReaderGolden, SyntheticFifo) {
  const auto path = base::test_data("sim/fifo-10k.csv");
  if (!path) GTEST_SKIP() << path.error().text();
  const auto result = read_jobs(*path, {});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->format, "generic");
  EXPECT_EQ(result->rejected, 0);
  EXPECT_FALSE(result->unsorted);
  ASSERT_EQ(result->history.jobs.size(), 10'000u);
}

TEST(JobReaderGolden, PalTraces) {
  for (const char* name : {"workload-1", "workload-3", "workload-4", "sia-160job-trace"}) {
    const auto path = base::test_data(std::string("pal/traces/") + name + ".csv");
    if (!path) GTEST_SKIP() << path.error().text();
    const auto result = read_jobs(*path, {});
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_EQ(result->format, "pal");
    EXPECT_EQ(result->history.jobs.size() + static_cast<size_t>(result->rejected), 160u);
    EXPECT_EQ(result->rejected, 0) << result->first_rejections[0].reason;
  }
}

}  // namespace
}  // namespace goban::study::history
