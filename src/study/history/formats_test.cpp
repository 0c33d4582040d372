// Every format on a few lines, with its special cases. Real files: real_histories_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/cluster_file.hpp"
#include "core/model/cluster_presets.hpp"
#include "site/records/record_format.hpp"
#include "study/history/test_reading.hpp"

namespace goban::study::history {
namespace {

using base::kSecond;
using core::model::RecordedEnd;
using testing::ElementsAre;
using testing::HasSubstr;

/// A line of SWF: job, submit, wait, run, allocated, requested processors, requested time, status.
std::string swf_line(const std::string& job, const std::string& submit, const std::string& wait,
                     const std::string& run, const std::string& allocated,
                     const std::string& requested, const std::string& time,
                     const std::string& status) {
  return job + "  " + submit + " " + wait + "\t" + run + " " + allocated + " -1 -1 " + requested +
         " " + time + " -1 " + status + " 7 3 11 2 5 -1 -1\n";
}

TEST(Swf, FieldsAndUnixStartTime) {
  const ReadResult result =
      read_ok("; Version: 2.2\n;UnixStartTime: 1000000000 \n;\n" +
              swf_line("1", "10", "5", "60.5", "4", "8", "120", "1") +
              swf_line("2", "20", "-1", "60", "4", "-1", "-1", "0") + "; a comment between\n" +
              swf_line("3", "30", "-1.0", "0", "4.0", "0", "0", "5") +
              swf_line("4", "40", "0", "1", "1", "1", "1", "-1"));
  EXPECT_EQ(result.format, "swf");
  // Without comments, and with further columns of any kind.
  std::string wide = swf_line("1", "10", "5", "60.5", "4", "8", "120", "1");
  wide.insert(wide.find('\n'), " 17 a100 n[1-2]");
  EXPECT_EQ(read_ok(wide).format, "swf");
  EXPECT_EQ(result.records, 4);
  EXPECT_THAT(reasons(result), ElementsAre());
  const core::model::JobHistory& history = result.history;
  ASSERT_EQ(history.jobs.size(), 4u);
  EXPECT_EQ(history.jobs[0].request.submit_ns, 1000000010 * kSecond);
  EXPECT_EQ(history.recorded[0].start_ns, 1000000015 * kSecond);
  EXPECT_EQ(history.recorded[1].start_ns, -1);
  EXPECT_EQ(history.jobs[0].work_s, 60.5);
  EXPECT_EQ(history.jobs[0].request.num_gpus, 8);
  EXPECT_EQ(history.jobs[1].request.num_gpus, 4);
  EXPECT_EQ(history.jobs[2].request.num_gpus, 4);
  EXPECT_EQ(history.jobs[0].request.walltime_limit_ns, 120 * kSecond);
  EXPECT_EQ(history.jobs[1].request.walltime_limit_ns, 0);
  EXPECT_EQ(history.jobs[2].request.walltime_limit_ns, 0);
  EXPECT_EQ(history.recorded[0].end, RecordedEnd::Completed);
  EXPECT_EQ(history.recorded[1].end, RecordedEnd::Failed);
  EXPECT_EQ(history.recorded[2].end, RecordedEnd::Cancelled);
  EXPECT_EQ(history.recorded[3].end, RecordedEnd::Unknown);
  EXPECT_EQ(history.users[0], "7");
  EXPECT_EQ(history.accounts[0], "3");
  EXPECT_EQ(history.models[0], "11");
  EXPECT_EQ(history.partitions[0], "2");
}

TEST(Swf, ToldByItsNumbersAndMoreFieldsAreFine) {
  std::string line = swf_line("1", "10", "5", "60", "4", "5", "120", "1");
  line.insert(line.size() - 1, " 3.5 extra");
  ReadOptions options;
  options.procs_per_gpu = 4;
  const ReadResult result =
      read_ok(swf_line("0", "10", "5", "60", "4", "4", "120", "1") + line, options);
  EXPECT_EQ(result.format, "swf");
  ASSERT_EQ(result.history.jobs.size(), 2u);
  EXPECT_EQ(result.history.jobs[0].request.num_gpus, 1);
  EXPECT_EQ(result.history.jobs[1].request.num_gpus, 2);
  EXPECT_THAT(result.notes, ElementsAre());
}

TEST(Swf, EveryReasonHasItsText) {
  const ReadResult result = read_ok(";\n" + swf_line("1", "0", "0", "-1", "4", "4", "9", "1") +
                                    swf_line("2", "0", "0", "9", "-1", "-1", "9", "1") +
                                    swf_line("3", "0", "0", "9", "4", "4", "9", "2") +
                                    swf_line("4", "-1", "0", "9", "4", "4", "9", "1") +
                                    swf_line("5", "0", "0", "9", "4", "4", "9", "6") +
                                    swf_line("6", "0", "0", "9", "4", "4.5", "9", "1") +
                                    "7 0 0 9 4 -1 -1 4 9 -1 1 7 3 11 2 5 -1\n");
  EXPECT_THAT(
      reasons(result),
      ElementsAre(
          "2: the run time is unknown", "3: neither requested nor allocated processors are known",
          "4: status 2: a part of a job that has a record of its own",
          "5: submit time \"-1\" is negative", "6: status \"6\" is not between 0 and 5",
          "7: requested processors \"4.5\" is not an integer", "8: 17 fields instead of 18"));
}

TEST(Swf, BadStartTimeIsAnError) {
  const auto result = read_text("; Version: 2\n; UnixStartTime: soon\n");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::ErrorCode::BadData);
  EXPECT_EQ(
      result.error().text(),
      "jobs.csv:2: UnixStartTime \"soon\" is not a finite number (correct or remove the line)");
  EXPECT_FALSE(read_text("; UnixStartTime: x\n"));
  EXPECT_TRUE(read_text("; UnixStartTime: -1\n"));
}

TEST(PhillyTables, Attempts) {
  const ReadResult result = read_ok(
      ",run_time,wait_time,submit_time,gpu_num\n0,100,5,1502114581,1\n7,14405,0,1502509727,8\n");
  EXPECT_EQ(result.format, "philly-attempts");
  EXPECT_THAT(names(result), ElementsAre("0", "7"));
  EXPECT_EQ(result.history.jobs[0].work_s, 100);
  EXPECT_EQ(result.history.recorded[0].start_ns, 1502114586 * kSecond);
  EXPECT_EQ(result.history.jobs[1].request.num_gpus, 8);
}

TEST(PhillyTables, SiaHasNoJobIdsAndNoZone) {
  const ReadResult result = read_ok(
      "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,66.0,1,66.0,11cb48\n"
      "2017-10-09 07:61:55,66.0,1,66.0,11cb48\n2017-10-09 06:13:03,2951.0,2.0,2951.0,6214e9\n");
  EXPECT_EQ(result.format, "philly-sia");
  EXPECT_TRUE(result.unsorted);
  EXPECT_THAT(names(result), ElementsAre("2", "0"));
  EXPECT_EQ(result.history.jobs[1].request.submit_ns, 1507532515 * kSecond);
  EXPECT_EQ(result.history.accounts[0], "11cb48");
  EXPECT_EQ(result.history.partitions[1], "6214e9");
  EXPECT_THAT(reasons(result), ElementsAre("3: timestamp \"2017-10-09 07:61:55\" is not a date and "
                                           "time such as 2017-10-09 07:01:55"));
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("read as UTC")));
}

constexpr std::string_view kChronusText =
    "job_id,user,num_gpu,submit_time,iterations,model_name,duration,interval,expect_time_list,"
    "expect_value_list,best_effort,job_type\n"
    "0,vc_6214e9,1,8555,5049,vgg16,747,14,1105,10,0,strict\n"
    "1,vc_ed69ec,0,832,296,mobilenet_v2,98,8,128,10,0,strict\n";

TEST(PhillyTables, ChronusUsersAreVirtualClusters) {
  const ReadResult result = read_ok(kChronusText);
  EXPECT_EQ(result.format, "chronus");
  EXPECT_THAT(names(result), ElementsAre("0"));
  EXPECT_EQ(result.counts.cpu_jobs, 1);
  EXPECT_EQ(result.rejected, 0);
  EXPECT_EQ(result.history.models[0], "vgg16");
  EXPECT_EQ(result.history.accounts[0], "vc_6214e9");
  EXPECT_EQ(result.history.users[0], "");
  EXPECT_THAT(result.ignored_columns, ElementsAre("iterations", "interval", "expect_time_list",
                                                  "expect_value_list", "best_effort", "job_type"));
}

constexpr std::string_view kLumosHeader =
    ",job,user,project,state,gpu_num,cpu_num,node_num,submit_time,wait_time,run_time,wall_time,"
    "node_hour,new_status\n";

TEST(Lumos, FloatsForWholeNumbers) {
  const ReadResult result =
      read_ok(std::string(kLumosHeader) +
              "0,10120170,24166353244411.0,33510060530859.0,0,2.0,0,2.0,1672529197.0,5.0,2305.54,"
              "3600.0,0.64,"
              "Pass\n1,10120171,0.0,0.0,0,1.0,0,1.0,1672529437.0,6.0,3602.3,0,1.0,Failed\n"
              "2,10120172,0.0,0.0,0,1.0,0,1.0,1672529437.0,6.0,3602.3,0,1.0,Lost\n");
  EXPECT_EQ(result.format, "lumos");
  EXPECT_THAT(names(result), ElementsAre("10120170", "10120171"));
  EXPECT_EQ(result.history.users[0], "24166353244411");
  EXPECT_EQ(result.history.accounts[1], "0");
  EXPECT_EQ(result.history.jobs[0].request.num_gpus, 2);
  EXPECT_EQ(result.history.jobs[0].work_s, 2305.54);
  EXPECT_EQ(result.history.jobs[0].request.walltime_limit_ns, 3600 * kSecond);
  EXPECT_EQ(result.history.jobs[1].request.walltime_limit_ns, 0);
  EXPECT_EQ(result.history.recorded[0].start_ns, 1672529202 * kSecond);
  EXPECT_EQ(result.history.recorded[1].end, RecordedEnd::Failed);
  EXPECT_THAT(
      reasons(result),
      ElementsAre("4: new_status \"Lost\" is not one of COMPLETED, FAILED, CANCELLED, TIMEOUT, "
                  "NODE_FAIL, Pass, Killed"));
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("gpu_num equals node_num")));
}

constexpr std::string_view kIntervals =
    "u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status\n";

TEST(Lumos, IntervalsAddUp) {
  const ReadResult result = read_ok(std::string(kIntervals) +
                                    "0,1,1,1,1,0,84,0,Pass\n1,2,2,1,1,94,87,600,Killed\n"
                                    "2,1,0,16,1,6,83,0,Pass\n3,1,x,1,1,50,83,0,Pass\n"
                                    "4,1,4,1,1,50,83,0,Failed\n5,1,4,1,1,4.6e9,83,0,Failed\n");
  EXPECT_EQ(result.format, "lumos-intervals");
  EXPECT_THAT(names(result), ElementsAre("0", "1", "4"));
  EXPECT_EQ(result.history.jobs[1].request.submit_ns, 94 * kSecond);
  EXPECT_EQ(result.history.jobs[1].request.walltime_limit_ns, 600 * kSecond);
  EXPECT_EQ(result.history.jobs[2].request.submit_ns, 200 * kSecond);
  EXPECT_EQ(result.counts.cpu_jobs_left_out, 1);
  EXPECT_THAT(reasons(result), ElementsAre("5: gpu_num \"x\" is not an integer",
                                           "7: the intervals add up to more than 4.6e9 seconds"));
}

TEST(Openb, Pods) {
  const ReadResult result = read_ok(
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
      "deletion_time,scheduled_time\n"
      "p0,12000,16384,1,1000,,LS,Running,0,100,10\n"
      "p1,6000,12288,1,460,T4|P100,BE,Failed,5,50,5\n"
      "p2,6000,12288,8,1000,,BE,Pending,7,50,\n"
      "p3,2500,30517,0,0,,BE,Succeeded,8,9,8\n"
      "p4,6000,12288,1,1000,,BE,Succeeded,60,50,\n"
      "p5,6000,12288,1,1000,,BE,Evicted,60,70,\n");
  EXPECT_EQ(result.format, "openb");
  EXPECT_THAT(names(result), ElementsAre("p0", "p1", "p2"));
  EXPECT_EQ(result.history.jobs[0].work_s, 90);
  EXPECT_EQ(result.history.recorded[0].start_ns, 10 * kSecond);
  EXPECT_EQ(result.history.recorded[0].end, RecordedEnd::Unknown);
  EXPECT_EQ(result.history.jobs[1].request.num_gpus, 1);
  EXPECT_EQ(result.history.recorded[1].end, RecordedEnd::Failed);
  EXPECT_EQ(result.history.jobs[2].work_s, 43);
  EXPECT_EQ(result.history.recorded[2].start_ns, -1);
  EXPECT_EQ(result.counts.gpu_shares, 1);
  EXPECT_EQ(result.counts.cpu_jobs, 1);
  EXPECT_THAT(
      reasons(result),
      ElementsAre("6: deletion_time is before the pod started",
                  "7: pod_phase \"Evicted\" is not one of Running, Pending, Succeeded, Failed, "
                  "Unknown"));
}

TEST(Helios, LocalTimesAndZones) {
  const ReadResult helios = read_ok(
      "job_id,user,vc,jobname,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,"
      "duration,queue\n"
      "1,u1,vcA,n,8,64,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:10:00,2020-04-01 "
      "01:10:00,3600,"
      "600\n"
      "2,u1,vcA,n,1,8,1,CANCELLED,2020-04-01 00:00:00,None,2020-04-01 00:05:00,0,300\n"
      "3,u1,vcB,n,0,8,1,FAILED,2020-04-01 00:00:00,2020-04-01 00:00:00,2020-04-01 00:00:09,9,0\n");
  EXPECT_EQ(helios.format, "helios");
  EXPECT_THAT(names(helios), ElementsAre("1", "2"));
  EXPECT_EQ(helios.history.jobs[0].request.submit_ns, 1585699200 * kSecond);
  EXPECT_EQ(helios.history.recorded[0].start_ns, 1585699800 * kSecond);
  EXPECT_EQ(helios.history.jobs[0].work_s, 3600);
  EXPECT_EQ(helios.history.jobs[1].work_s, 0);
  EXPECT_EQ(helios.history.recorded[1].start_ns, -1);
  EXPECT_EQ(helios.history.partitions[0], "vcA");
  EXPECT_EQ(helios.counts.cpu_jobs, 1);
  EXPECT_EQ(helios.notes.size(), 1u);

  const ReadResult acme = read_ok(
      "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,"
      "queue,gpu_time\n"
      "dlc1,u,1,8,64,Pretrain,NODE_FAIL,2023-03-01 08:00:00+08:00,2023-03-01 08:01:00+08:00,"
      "2023-03-01 08:02:00+08:00,120,60,960\n");
  EXPECT_EQ(acme.history.jobs.at(0).request.submit_ns, 1677628800 * kSecond);
  EXPECT_EQ(acme.history.jobs[0].work_s, 60);  // not the 120 that include the queue
  EXPECT_EQ(acme.history.accounts[0], "Pretrain");
  EXPECT_EQ(acme.history.recorded[0].end, RecordedEnd::NodeFailed);
  EXPECT_EQ(acme.format, "acme");
  EXPECT_EQ(acme.notes.size(), 1u);  // the duration that was not used
}

TEST(JobFormats, EachIsToldByItsOwnHeader) {
  for (const site::records::RecordFormat& format : site::records::record_formats()) {
    if (format.layout != site::records::Layout::HeaderCsv) continue;
    site::records::Header header;
    std::string name;
    for (const char c : std::string(format.header) + ",") {
      if (c == ',') header.push_back(std::exchange(name, ""));
      if (c != ',' && c != '[' && c != ']') name += c;
    }
    std::string taken_by;
    for (const site::records::RecordFormat& other : site::records::record_formats()) {
      if (other.recognises == nullptr) continue;
      if (other.recognises(header) && other.name != site::records::kGenericCsv.name)
        taken_by += other.name;
    }
    EXPECT_EQ(taken_by, format.name == site::records::kGenericCsv.name ? "" : format.name);
  }
}

TEST(JobFormats, NamedFormatsSayWhatTheyNeed) {
  ReadOptions options;
  options.format = "openb";
  const auto result =
      read_text("name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,1,1\n", options);
  ASSERT_FALSE(result);
  EXPECT_EQ(
      result.error().text(),
      "jobs.csv:1: the column creation_time is missing (openb requires name, num_gpu, gpu_milli, "
      "creation_time, deletion_time, scheduled_time, cpu_milli, qos, pod_phase)");
  options.format = "philly-attempts";
  EXPECT_THAT(
      read_text("run_time,wait_time,submit_time,gpu_num\n", options).error().text(),
      HasSubstr("the column without a name is missing (philly-attempts requires a first column "
                "without a name, run_time"));
}

TEST(CpuJobs, BecomeTheSmallestTypeThatHoldsThem) {
  const auto cluster = core::model::parse_cluster(
      "[[nodes]]\ncount = 4\ngpus = 4\ncores = 40\n"
      "[[resource_type]]\nname = \"Full\"\ngpus = 4\ncores = 40\n"
      "[[resource_type]]\nname = \"C.large\"\ncores = 20\nmax_instances = 3\n"
      "[[resource_type]]\nname = \"C.small\"\ncores = 5\n",
      "cluster.toml");
  ASSERT_TRUE(cluster) << cluster.error().text();
  ReadOptions options;
  options.cluster = &*cluster;
  const ReadResult result =
      read_ok(std::string(kIntervals) +
                  "0,1,0,5,1,0,84,0,Pass\n1,1,0,6,1,0,84,0,Pass\n2,1,0,41,1,0,84,0,Pass\n"
                  "3,1,0,0,1,0,84,0,Pass\n4,1,0,61,1,0,84,0,Pass\n",
              options);
  EXPECT_EQ(result.counts.cpu_jobs, 4);
  EXPECT_EQ(result.counts.cpu_jobs_left_out, 0);
  std::vector<std::string> placed;
  for (const core::model::Job& job : result.history.jobs) {
    placed.push_back(std::to_string(job.request.instances) + " x " +
                     cluster->resource_type(job.request.resource_type).name);
  }
  EXPECT_THAT(placed, ElementsAre("1 x C.small", "1 x C.large", "3 x C.large", "1 x C.small"));
  EXPECT_THAT(reasons(result), ElementsAre("6: 4 instances of C.large exceed the 3 allowed"));
}

TEST(CpuJobs, AreCountedOrKept) {
  const std::string text =
      "job_id,submit_time,duration,num_gpus,user\n1,0,5,0,u\n1,0,5,0,u\n2,1,5,1,u\n";
  const ReadResult counted = read_ok(text);
  EXPECT_THAT(names(counted), ElementsAre("2"));
  EXPECT_EQ(counted.counts.cpu_jobs_left_out, 1);
  EXPECT_THAT(reasons(counted), ElementsAre("3: job_id 1 was used before"));
  ReadOptions options;
  options.cpu_jobs = CpuJobs::Keep;
  const ReadResult kept = read_ok(text, options);
  EXPECT_THAT(names(kept), ElementsAre("1", "2"));
  EXPECT_EQ(kept.counts.cpu_jobs, 1);
  EXPECT_EQ(kept.counts.cpu_jobs_left_out, 0);
}

}  // namespace
}  // namespace goban::study::history
