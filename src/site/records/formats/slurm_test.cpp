#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/date_time.hpp"
#include "base/gzip.hpp"
#include "base/test_data.hpp"
#include "base/time_zone.hpp"
#include "site/records/test_reading.hpp"

namespace goban::site::records {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::string_view kHeader =
    "JobID|User|Account|Partition|Submit|Start|End|State|ExitCode|NNodes|NCPUS|ReqMem|AllocTRES|"
    "Timelimit|NodeList\n";

/// A job of user ann, two minutes on g[1-2], with these GPUs.
std::string line(const std::string& id, const std::string& tres = "cpu=8,gres/gpu=2,mem=1G,node=2",
                 const std::string& state = "COMPLETED") {
  return id + "|ann|proj|gpu|2024-03-01T00:00:00|2024-03-01T00:01:00|2024-03-01T00:03:00|" + state +
         "|0:0|2|8|4000Mn|" + tres + "|01:00:00|g[1-2]\n";
}

TimeNs at(const std::string& text) { return base::parse_date_time(text)->unix_ns; }

TEST(Slurm, FieldsOfAJob) {
  const ReadTable read = read_table(std::string(kHeader) + line("77"));
  EXPECT_EQ(read.summary.format, "slurm");
  EXPECT_THAT(read.reasons(), IsEmpty());
  ASSERT_THAT(read.ids(), ElementsAre("77"));
  const RecordRow& row = read.row(0);
  EXPECT_EQ(read.table.users()[row.user], "ann");
  EXPECT_EQ(read.table.accounts()[row.account], "proj");
  EXPECT_EQ(read.table.partitions()[row.partition], "gpu");
  EXPECT_EQ(row.submit_ns, at("2024-03-01 00:00:00"));
  EXPECT_EQ(row.start_ns, at("2024-03-01 00:01:00"));
  EXPECT_EQ(row.run_ns, 120 * base::kSecond);
  EXPECT_EQ(row.state, RecordedState::Completed);
  EXPECT_EQ(row.exit_code, 0);
  EXPECT_EQ(row.num_gpus, 2);
  EXPECT_EQ(row.num_nodes, 2);
  EXPECT_EQ(row.cpu_cores, 8);
  EXPECT_EQ(row.mem_bytes, int64_t{1} << 30);
  EXPECT_EQ(row.walltime_limit_ns, 3600 * base::kSecond);
  EXPECT_EQ(row.kind, JobKind::Unknown);
  EXPECT_THAT(read.node_names(0), ElementsAre("g1", "g2"));
}

TEST(Slurm, ColumnsComeInAnyOrderWithAnyDelimiter) {
  const ReadTable read = read_table(
      "State;;User;;JobIDRaw;;Planned;;End;;Start;;Submit;;\n"
      "FAILED;;bob;;5;;0;;1700000100;;1700000040;;1700000000;;\n");
  ASSERT_THAT(read.ids(), ElementsAre("5"));
  EXPECT_EQ(read.row(0).run_ns, 60 * base::kSecond);
  EXPECT_EQ(read.row(0).state, RecordedState::Failed);
  EXPECT_EQ(read.row(0).num_gpus, -1);  // no column counts GPUs: unknown, not zero
  EXPECT_THAT(read.summary.ignored_columns, ElementsAre("planned"));
}

TEST(Slurm, AJobNameMayHoldTheDelimiter) {
  const std::string body =
      "1|a|b|c|COMPLETED|2024-03-01T00:00:00|2024-03-01T00:00:01\n"
      "2||COMPLETED|2024-03-01T00:00:00|2024-03-01T00:00:01\n"
      "3|x|COMPLETED|2024-03-01T00:00:00\n";
  ReadOptions options;
  options.site.keep_job_names = true;
  const ReadTable read = read_table("JobID|JobName|State|Start|End\n" + body, options);
  EXPECT_THAT(read.ids(), ElementsAre("1", "2"));
  EXPECT_EQ(read.table.job_name(0), "a|b|c");
  EXPECT_EQ(read.row(0).run_ns, base::kSecond);
  EXPECT_THAT(read.reasons(), ElementsAre("4: 4 fields instead of 5"));
  // Two free texts that are not adjacent: the position of the delimiter is ambiguous.
  const ReadTable unclear =
      read_table("JobID|JobName|State|SubmitLine\n1|a|COMPLETED|sbatch x|y\n");
  EXPECT_THAT(unclear.reasons(), ElementsAre(HasSubstr("dump only one of them and put it last")));
}

TEST(Slurm, NamesAndCommandsAreNotKeptUnlessAskedFor) {
  const std::string text =
      "JobID|State|SubmitLine|JobName\n1|COMPLETED|sbatch secret.sh|my secret\n";
  const ReadTable read = read_table(text);
  EXPECT_EQ(read.table.job_name(0), "");
  EXPECT_EQ(read.row(0).kind, JobKind::Batch);
}

TEST(Slurm, TypedAndUntypedGpusAreTheSameGpus) {
  const auto gpus = [](const std::string& tres) {
    const ReadTable read = read_table(std::string(kHeader) + line("1", tres));
    return std::pair(read.row(0).num_gpus,
                     std::string(read.table.gpu_types()[read.row(0).gpu_type]));
  };
  using Pair = std::pair<int32_t, std::string>;
  EXPECT_EQ(gpus("cpu=1,gres/gpu=2,gres/gpu:a100=2"), Pair(2, "a100"));
  EXPECT_EQ(gpus("cpu=1,gres/gpu:a100=2,gres/gpu:v100=1"), Pair(3, "a100+v100"));
  EXPECT_EQ(gpus("cpu=1,gres/gpu=4"), Pair(4, ""));
  EXPECT_EQ(gpus("cpu=1,mem=1G"), Pair(0, ""));
  EXPECT_EQ(gpus("1=12,2=31000,4=1,1001=2"), Pair(2, ""));
}

TEST(Slurm, RecordsWithUnusualFieldsAreRead) {
  const auto state = [](const std::string& word) {
    return read_table(std::string(kHeader) + line("1", "cpu=1", word)).row(0).state;
  };
  EXPECT_EQ(state("LAUNCH_FAILED"), RecordedState::BootFailed);
  EXPECT_EQ(state("RECONFIG_FAIL"), RecordedState::BootFailed);
  EXPECT_EQ(state("EXPEDITING"), RecordedState::Requeued);
  // sacct shortens long lists of waiting tasks.
  const ReadTable array =
      read_table("JobID|State|Submit|Start|End\n7_[1,3-5...]|PENDING|1700000000|Unknown|Unknown\n");
  EXPECT_THAT(array.ids(), ElementsAre("7_[1,3-5...]"));
  // Counters that Slurm did not set.
  const ReadTable unset = read_table(
      "JobID|State|Submit|Start|End|ExitCode|NNodes|NCPUS|Restarts|AllocTRES|Timelimit\n"
      "8|FAILED|1700000000|1700000000|1700000600|4294967294:0|4294967294|18446744073709551614|"
      "99999999999|cpu=18446744073709551614,gres/gpu=2,gres/gpu:a100=18446744073709551614,"
      "mem=18446744073709551614M|99999999999-00:00:00\n"
      "9|FAILED|1700000000|1700000000|1700000600|0:0|-1|1|0|cpu=1|1\n");
  EXPECT_THAT(unset.reasons(), ElementsAre("3: NNodes is not an integer >= 0"));
  ASSERT_THAT(unset.ids(), ElementsAre("8"));
  const RecordRow& row = unset.row(0);
  EXPECT_EQ(row.num_gpus, 2);
  EXPECT_EQ(row.num_nodes, -1);
  EXPECT_EQ(row.cpu_cores, 0);
  EXPECT_EQ(row.mem_bytes, -1);
  EXPECT_EQ(row.restarts, -1);
  EXPECT_EQ(row.exit_code, -1);
  EXPECT_EQ(row.walltime_limit_ns, 0);
}

TEST(Slurm, MigAndShardsArePartsOfGpus) {
  const ReadTable read =
      read_table(std::string(kHeader) + line("1", "cpu=1,gres/gpu=1,gres/gpu:1g.10gb=1") +
                 line("2", "cpu=1,gres/shard=3") + line("3", "gres/gpu:h100=1"));
  EXPECT_TRUE(read.row(0).gpu_share);
  EXPECT_EQ(read.row(0).num_gpus, 1);
  EXPECT_TRUE(read.row(1).gpu_share);
  EXPECT_EQ(read.row(1).num_gpus, 1);
  EXPECT_FALSE(read.row(2).gpu_share);
}

TEST(Slurm, AllocTresCountsBeforeReqTresAndGresAndThePartition) {
  const ReadTable both =
      read_table("JobID|State|NNodes|ReqTRES|AllocTRES\n1|COMPLETED|1|gres/gpu=1|gres/gpu=8\n");
  EXPECT_EQ(both.row(0).num_gpus, 8);
  EXPECT_EQ(read_table("JobID|State|ReqTRES\n1|COMPLETED|gres/gpu=1\n").row(0).num_gpus, 1);
  const ReadTable gres =
      read_table("JobID|State|NNodes|AllocGRES\n1|COMPLETED|2|gpu:a100:4(S:0-1),fpga:1\n");
  EXPECT_EQ(gres.row(0).num_gpus, 8);
  ReadOptions options;
  options.site.gpus_per_node = {"gpu=4"};
  const ReadTable table = read_table(std::string(kHeader) + line("1", "cpu=8,node=2"), options);
  EXPECT_EQ(table.row(0).num_gpus, 8);
  EXPECT_THAT(table.summary.notes,
              Contains(HasSubstr("derived from the GPUs per node of their partition")));
  options.site.gpus_per_node = {"gpu"};
  EXPECT_THAT(read_error(kHeader, options), HasSubstr("it must be PARTITION=GPUS"));
  EXPECT_THAT(read_table(std::string(kHeader) + line("1", "cpu=8")).summary.notes,
              Contains(StartsWith("no record counts GPUs")));
}

TEST(Slurm, StepsGiveWhatOnlyTheyHave) {
  const ReadTable read = read_table(
      "JobID|State|Start|End|MaxRSS|TRESUsageInMax|TRESUsageInTot|TRESUsageOutTot\n"
      "1|COMPLETED|2024-03-01T00:00:00|2024-03-01T00:00:01||||\n"
      "1.batch|COMPLETED|2024-03-01T00:00:00|2024-03-01T00:00:01|2048K||fs/disk=10|fs/disk=1\n"
      "1.0|COMPLETED|2024-03-01T00:00:00|2024-03-01T00:00:01|1M|"
      "cpu=00:01:40,fs/disk=5,gres/gpumem=2G,gres/gpuutil=97|fs/disk=20|fs/disk=2\n"
      "2|COMPLETED|2024-03-01T00:00:00|2024-03-01T00:00:01||||\n"
      "2.extern|COMPLETED|2024-03-01T00:00:00|2024-03-01T00:00:01||||\n"
      "2.interactive|COMPLETED|2024-03-01T00:00:00|2024-03-01T00:00:01||||\n"
      "3|COMPLETED|2024-03-01T00:00:00|2024-03-01T00:00:01||||\n"
      "3.0|COMPLETED|2024-03-01T00:00:00|2024-03-01T00:00:01||||\n"
      "9.0|COMPLETED|2024-03-01T00:00:00|2024-03-01T00:00:01||||\n");
  ASSERT_THAT(read.ids(), ElementsAre("1", "2", "3"));
  EXPECT_EQ(read.summary.records, 3);
  EXPECT_EQ(read.row(0).kind, JobKind::Batch);
  EXPECT_EQ(read.row(1).kind, JobKind::Interactive);
  EXPECT_EQ(read.row(2).kind, JobKind::Interactive);  // srun only: no batch step
  const UsageMarks usage = read.table.usage_of(read.row(0));
  EXPECT_EQ(usage.mem_bytes_max, 2 << 20);
  EXPECT_EQ(usage.gpu_util_pct_max, 97);
  EXPECT_EQ(usage.gpu_mem_bytes_max, int64_t{2} << 30);
  EXPECT_EQ(usage.read_bytes, 30);
  EXPECT_EQ(usage.write_bytes, 3);
  EXPECT_THAT(read.summary.notes, Contains("1 step does not follow its job and was not used"));
}

TEST(Slurm, ArraysAndHeterogeneousJobs) {
  const ReadTable read =
      read_table(std::string(kHeader) + line("9_4") + line("9_12") +
                 line("10_[1-3,9%2]", "cpu=1", "CANCELLED by 5") + line("11+0") + line("11+1"));
  EXPECT_THAT(read.ids(), ElementsAre("9_4", "9_12", "10_[1-3,9%2]", "11+0", "11+1"));
  EXPECT_EQ(read.row(1).job_number, 9);
  EXPECT_EQ(read.row(1).array_task, 12);
  EXPECT_EQ(read.row(2).job_number, 10);
  EXPECT_EQ(read.row(2).array_task, -1);
  EXPECT_EQ(read.row(2).state, RecordedState::Cancelled);
  EXPECT_EQ(read.row(4).het_part, 1);
}

TEST(Slurm, JobsThatWaitRunOrNeverStarted) {
  const ReadTable read = read_table(
      "JobID|State|Submit|Start|End|NodeList\n"
      "1|PENDING|2024-03-01T00:00:00|Unknown|Unknown|None assigned\n"
      "2|RUNNING|2024-03-01T00:00:00|2024-03-01T00:01:00|2024-03-01T00:01:00|g1\n"
      "3|CANCELLED by 7|2024-03-01T00:00:00|2024-03-01T00:05:00|2024-03-01T00:05:00|None assigned\n"
      "4|CANCELLED by 7|2024-03-01T00:00:00|None|2024-03-01T00:05:00|None assigned\n");
  ASSERT_EQ(read.table.rows().size(), 4u);
  for (const size_t never : {0u, 2u, 3u}) EXPECT_EQ(read.row(never).start_ns, -1) << never;
  EXPECT_EQ(read.row(1).end_ns, -1);
  EXPECT_EQ(read.row(1).run_ns, -1);
  EXPECT_EQ(read.row(0).num_gpus, -1);
}

TEST(Slurm, WhatMakesNoSenseIsRefusedWithItsReason) {
  std::string swapped = line("4");
  swapped.replace(swapped.find("T00:03"), 6, "T00:00");
  std::string early = line("5");
  early.replace(early.find("T00:00:00"), 9, "T00:02:00");
  std::string no_date = line("6");
  no_date.replace(no_date.find("2024-03-01"), 10, "2023-02-29");
  const ReadTable read =
      read_table(std::string(kHeader) + line("1", "x=1", "FOO") + line("abc") + line("3", "cpu") +
                 swapped + early + no_date + line("7", "cpu=1,gres/gpu=x") + "8|ann\n");
  EXPECT_THAT(read.reasons(),
              ElementsAre("2: State \"FOO\" is unknown", "3: JobID \"abc\" is not a Slurm job id",
                          "4: AllocTRES \"cpu\" is not a list of resources",
                          "5: the job ended before it started",
                          "6: the job started before it was submitted",
                          "7: Submit \"2023-02-29T00:00:00\" is not a valid date and time",
                          "8: AllocTRES \"cpu=1,gres/gpu=x\" is not a list of resources",
                          "9: 2 fields instead of 15"));
  EXPECT_EQ(read.summary.rejected, 8);
  EXPECT_EQ(read.table.rows().size(), 0u);
}

TEST(Slurm, LeapDaysAndZones) {
  const std::string header = "JobID|State|Start|End|Elapsed\n";
  const ReadTable leap =
      read_table(header +
                 "1|COMPLETED|2024-02-28T23:59:59|2024-03-01T00:00:00|1-00:00:01\n"
                 "2|COMPLETED|2023-02-28T23:59:59|2023-03-01T00:00:00|00:00:01\n");
  EXPECT_EQ(leap.row(0).run_ns, 86'401 * base::kSecond);
  EXPECT_EQ(leap.row(1).run_ns, base::kSecond);
  EXPECT_THAT(leap.summary.notes, Contains(HasSubstr("were read as UTC")));
  ReadOptions options;
  options.site.zone = "+09:00";
  const ReadTable tokyo =
      read_table(header + "1|COMPLETED|2019-04-05T09:00:00|2019-04-05T09:00:10|10\n", options);
  EXPECT_EQ(tokyo.row(0).start_ns, at("2019-04-05 00:00:00"));
  options.site.zone = "Mars/Olympus";
  EXPECT_THAT(read_error(header, options), HasSubstr("unknown time zone Mars/Olympus"));
}

TEST(Slurm, TheElapsedTimeTellsWhichOfTwoHoursIsMeant) {
  ReadOptions options;
  options.site.zone = "Europe/Berlin";
  if (!base::TimeZone::load(options.site.zone)) GTEST_SKIP() << "no zone database";
  const ReadTable read = read_table(
      "JobID|State|Submit|Start|End|Elapsed\n"
      // From before the clock change into the second 02:30.
      "1|COMPLETED|2021-10-31T01:00:00|2021-10-31T01:30:00|2021-10-31T02:30:00|02:00:00\n"
      "2|COMPLETED|2021-10-31T01:00:00|2021-10-31T01:30:00|2021-10-31T02:30:00|01:00:00\n"
      // It appears to end before it starts.
      "3|COMPLETED|2021-10-31T01:00:00|2021-10-31T02:50:00|2021-10-31T02:10:00|00:20:00\n"
      "4|COMPLETED|2021-10-31T01:00:00|2021-10-31T02:50:00|2021-10-31T03:10:00|00:20:00\n"
      "5|COMPLETED|2021-03-28T01:00:00|2021-03-28T02:30:00|2021-03-28T03:10:00|00:20:00\n",
      options);
  ASSERT_THAT(read.ids(), ElementsAre("1", "2", "3", "4"));
  EXPECT_EQ(read.row(0).run_ns, 7200 * base::kSecond);
  EXPECT_EQ(read.row(1).run_ns, 3600 * base::kSecond);
  EXPECT_EQ(read.row(2).run_ns, 1200 * base::kSecond);
  EXPECT_EQ(read.row(3).run_ns, 1200 * base::kSecond);
  EXPECT_THAT(read.reasons(), ElementsAre(HasSubstr("the clock was set forward")));
  EXPECT_THAT(read.summary.notes, Contains(HasSubstr("occurred twice")));
}

TEST(Slurm, CancelledWhileItWaitedInTheHourThatCameTwice) {
  ReadOptions options;
  options.site.zone = "Europe/Berlin";
  const ReadTable read = read_table(
      "JobID|State|Submit|Start|End|NodeList|Elapsed\n"
      "1|CANCELLED by 7|2021-10-31T02:10:00|None|2021-10-31T02:05:00|None assigned|00:00:00\n"
      "2|CANCELLED by 7|2021-10-31T02:10:00|Unknown|2021-10-31T02:20:00|None assigned|00:00:00\n",
      options);
  EXPECT_THAT(read.reasons(), IsEmpty());
  ASSERT_THAT(read.ids(), ElementsAre("1", "2"));
  EXPECT_EQ(read.row(0).start_ns, -1);
  EXPECT_EQ(read.row(0).end_ns - read.row(0).submit_ns, 55 * 60 * base::kSecond);
  EXPECT_EQ(read.row(1).end_ns - read.row(1).submit_ns, 10 * 60 * base::kSecond);
}

TEST(Slurm, MemoryOfOldAndNewRecords) {
  const auto mem = [](const std::string& text) {
    return read_table("JobID|State|NNodes|NCPUS|ReqMem\n1|COMPLETED|2|8|" + text + "\n")
               .row(0)
               .mem_bytes >>
           20;
  };
  EXPECT_EQ(mem("4000Mn"), 8000);
  EXPECT_EQ(mem("3000Mc"), 24000);
  EXPECT_EQ(mem("62.50G"), 64000);
  EXPECT_EQ(mem("31000M"), 31000);
  EXPECT_EQ(mem("2147486648Mn"), 24000);  // 2^31 + 3000 per core
}

std::string jobstats_comment() {
  return "JS1:" +
         base::base64(base::gzip(
             R"({"nodes":{"g1":{"total_time":10.5,"used_memory":1000,"total_memory":4000,"cpus":4,)"
             R"("gpu_total_memory":{"0":100,"1":100},"gpu_used_memory":{"0":50,"1":25},)"
             R"("gpu_utilization":{"0":93.4,"1":0}},"g2":{"used_memory":500,)"
             R"("gpu_utilization":{"3":7}}},"gpus":3,"total_time":60})"));
}

TEST(Slurm, MeansByGpuOfJobstats) {
  const ReadTable read =
      read_table("JobID|State|AdminComment\n1|COMPLETED|" + jobstats_comment() +
                 "\n2|COMPLETED|JS1:Short\n3|COMPLETED|JS1:bm9uc2Vuc2U=\n4|COMPLETED|\n");
  const auto gpus = read.table.gpus_of(read.row(0));
  ASSERT_EQ(gpus.size(), 3u);
  EXPECT_FLOAT_EQ(gpus[0].util_pct, 93.4F);
  EXPECT_EQ(gpus[1].util_pct, 0);
  EXPECT_EQ(gpus[1].mem_used_bytes, 25);
  EXPECT_EQ(read.table.node_names()[gpus[2].node], "g2");
  EXPECT_EQ(read.table.gpu_names()[gpus[2].gpu], "3");
  EXPECT_EQ(gpus[2].mem_total_bytes, -1);
  EXPECT_EQ(read.table.usage_of(read.row(0)).mem_bytes_max, 1500);
  EXPECT_EQ(read.row(1).gpus, kNoList);
  EXPECT_EQ(read.row(2).gpus, kNoList);
  EXPECT_THAT(read.summary.notes, Contains("1 JS1 comments are damaged and were not used"));
}

TEST(Slurm, TheSubmitLineTellsTheKind) {
  const auto kind = [](const std::string& command) {
    return read_table("JobID|State|SubmitLine\n1|COMPLETED|" + command + "\n").row(0).kind;
  };
  EXPECT_EQ(kind("salloc -N 1"), JobKind::Interactive);
  EXPECT_EQ(kind("/usr/bin/srun --pty bash"), JobKind::Interactive);
  EXPECT_EQ(kind("sbatch job.sh"), JobKind::Batch);
  EXPECT_EQ(kind(""), JobKind::Unknown);
}

TEST(Slurm, BlockBordersDoNotMatter) {
  const std::string text = std::string(kHeader) + line("1") + line("2") + line("3");
  for (size_t chunk = 1; chunk < 9; ++chunk) {
    EXPECT_THAT(read_table(text, {}, chunk).ids(), ElementsAre("1", "2", "3")) << chunk;
  }
}

/// The 26 columns of XDMoD without a header; real records. Counts computed with awk.
TEST(Slurm, RealRecordsOfXdmod) {
  const auto path = base::test_data("traces/xdmod-slurm/phillips.sacct.log.gz");
  if (!path) GTEST_SKIP() << path.error().text();
  const ReadTable read = read_table_file(*path);
  EXPECT_EQ(read.summary.format, "slurm");
  EXPECT_EQ(read.summary.records, 4285);
  EXPECT_THAT(read.reasons(), IsEmpty());
  ASSERT_EQ(read.table.rows().size(), 4285u);
  std::array<int64_t, kNumJobStates> states{};
  int64_t gpu_jobs = 0;
  for (const RecordRow& row : read.table.rows()) {
    ++states[static_cast<size_t>(row.state)];
    gpu_jobs += row.num_gpus > 0 ? 1 : 0;
    if (row.start_ns >= 0 && row.num_nodes > 0) {
      EXPECT_EQ(read.table.nodes_of(row).size(), static_cast<size_t>(row.num_nodes));
    }
  }
  EXPECT_EQ(states[static_cast<size_t>(RecordedState::Completed)], 2324);
  EXPECT_EQ(states[static_cast<size_t>(RecordedState::Failed)], 1717);
  EXPECT_EQ(states[static_cast<size_t>(RecordedState::Cancelled)], 243);
  EXPECT_EQ(states[static_cast<size_t>(RecordedState::TimedOut)], 1);
  EXPECT_EQ(gpu_jobs, 2);
  EXPECT_EQ(read.row(0).walltime_limit_ns, (37 * 24 + 14) * 3600 * base::kSecond);
  EXPECT_EQ(read.node_names(1).size(), 8u);
}

TEST(Slurm, FixturesOfXdmod) {
  const auto path = base::test_data("fixtures/shredder");
  if (!path) GTEST_SKIP() << path.error().text();
  const ReadTable arrays = read_table_file(*path + "/slurm__accounting-logs-with-job-arrays.log");
  EXPECT_EQ(arrays.table.rows().size(), 6u);
  EXPECT_THAT(arrays.ids(), Contains("4103947_[9-11,13,16-20]"));
  EXPECT_EQ(arrays.node_names(0).size(), 32u);
  const ReadTable plain = read_table_file(*path + "/slurm__accounting-logs.log");
  EXPECT_EQ(plain.table.rows().size(), 4u);
  EXPECT_EQ(plain.row(3).num_gpus, 2);
  EXPECT_EQ(plain.row(3).eligible_ns, -1);
  const ReadTable waiting = read_table_file(*path + "/slurm__non-ended-job-state.log");
  ASSERT_EQ(waiting.table.rows().size(), 2u);
  EXPECT_EQ(waiting.row(0).state, RecordedState::Running);
  EXPECT_EQ(waiting.row(1).state, RecordedState::Pending);
  const ReadTable unknown = read_table_file(*path + "/slurm__unknown-job-state.log");
  EXPECT_THAT(unknown.reasons(),
              ElementsAre("1: State \"FOO\" is unknown", "2: State \"BAR\" is unknown"));
  ReadOptions options;
  options.site.keep_job_names = true;
  const ReadTable utf8 = read_table_file(*path + "/slurm__utf8-multibyte-chars.log", options);
  EXPECT_EQ(utf8.table.job_name(0),
            "a\xC3\xA0"
            "b");
}

}  // namespace
}  // namespace goban::site::records
