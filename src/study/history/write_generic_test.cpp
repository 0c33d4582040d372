#include "study/history/write_generic.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_data.hpp"
#include "core/model/cluster_presets.hpp"
#include "study/history/test_reading.hpp"

namespace goban::study::history {
namespace {

std::string written(const core::model::JobHistory& history,
                    const core::model::Cluster* cluster = nullptr) {
  std::string out;
  write_generic(history, cluster, [&out](std::string_view text) { out += text; });
  return out;
}

/// All that a history has about a job, with names as text.
std::string describe(const core::model::JobHistory& history, size_t i) {
  const core::model::Job& job = history.jobs[i];
  const core::model::JobRequest& r = job.request;
  const core::model::Recorded recorded =
      history.recorded.empty() ? core::model::Recorded{} : history.recorded[i];
  return fmt::format(
      "{} submit {} work {} limit {} gpus {} priority {} instances {} type {} class {} array {} "
      "user {} "
      "model {} account {} partition {} qos {} recorded {} {} {}",
      history.job_names[i], r.submit_ns, job.work_s, r.walltime_limit_ns, r.num_gpus, r.priority,
      r.instances, r.resource_type.value, r.app_class.letter(), r.array.valid(),
      history.users[r.user.index()], history.models[r.model.index()],
      history.accounts[r.account.index()], history.partitions[r.partition.index()],
      history.qos[r.qos.index()], recorded.start_ns, recorded.finish_ns,
      static_cast<int>(recorded.end));
}

void expect_equal(const core::model::JobHistory& a, const core::model::JobHistory& b) {
  ASSERT_EQ(a.jobs.size(), b.jobs.size());
  EXPECT_EQ(a.recorded.empty(), b.recorded.empty());
  EXPECT_EQ(a.has_walltime_limits, b.has_walltime_limits);
  for (size_t i = 0; i < a.jobs.size(); ++i) ASSERT_EQ(describe(a, i), describe(b, i));
}

TEST(WriteGeneric, LeavesOutWhatNobodyFills) {
  EXPECT_EQ(written(read_ok("job_id,submit_time,duration,num_gpus,user,model,qos,priority\n"
                            "b,5,1.5,2,u,,,0\na,0.25,0,1,\"v, w\",,,0\n")
                        .history),
            "job_id,submit_time,duration,num_gpus,user\na,0.25,0,1,\"v, w\"\nb,5,1.5,2,u\n");
  EXPECT_EQ(written({}), "job_id,submit_time,duration,num_gpus,user\n");
}

TEST(WriteGeneric, StagedDataComesBackInSubmitOrder) {
  const std::string header =
      "job_id,submit_time,duration,num_gpus,user,stage_in_bytes,stage_out_bytes,data_set\n";
  const auto read = read_ok(header + "b,5,1,2,u,400,,images\na,0,1,1,u,,7,\nc,6,1,1,u,,,\n");
  const core::model::JobHistory& history = read.history;
  ASSERT_EQ(history.staging.size(), 3U);
  EXPECT_EQ(history.staging[0].out_bytes, 7);
  EXPECT_EQ(history.staging[1].in_bytes, 400);
  EXPECT_EQ(history.data_sets[history.staging[1].set], "images");
  EXPECT_EQ(written(history), header + "a,0,1,1,u,,7,\nb,5,1,2,u,400,,images\nc,6,1,1,u,,,\n");
  EXPECT_TRUE(read_ok(header + "a,0,1,1,u,0,,images\n").history.staging.empty())
      << "a name alone is no data";
  EXPECT_EQ(read_ok(header + "a,0,1,1,u,-4,,\nb,0,1,1,u,,,\n").rejected, 1);
}

TEST(WriteGeneric, EveryColumnComesBack) {
  const auto abci = core::model::make_preset("abci");
  ASSERT_TRUE(abci);
  ReadOptions options;
  options.cluster = &*abci;
  options.cpu_jobs = CpuJobs::Keep;
  const std::string text =
      "job_id,submit_time,duration,num_gpus,user,model,class,priority,walltime_s,resource_type,"
      "instances,array_tasks,array_limit,account,partition,qos,start_time,end_time,state\n"
      "1,1600000000.123456789,0.1,8,u,resnet50,,-7,7200,Full,2,,,acc,part,q,1600000001,1600000002,"
      "TIMEOUT\n"
      "2,1600000003,5,1,v,vgg19,A,,,,,3,2,acc,,,,,\n"
      "3,1600000003,5,0,v,other,,,60,C.small,1,,,,,,,,NODE_FAIL\n"
      "4,1600000004,5,1,,\"a \"\"b\"\"\",Z,,,,,1,,,,,,,CANCELLED\n";
  const ReadResult first = read_ok(text, options);
  ASSERT_EQ(first.rejected, 0) << first.first_rejections[0].reason;
  ASSERT_EQ(first.history.jobs.size(), 6u);
  const std::string out = written(first.history, &*abci);
  EXPECT_EQ(out, text);
  expect_equal(first.history, read_ok(out, options).history);
}

TEST(WriteGeneric, JobsThatMustNotBePreemptedComeBack) {
  const std::string text =
      "job_id,submit_time,duration,num_gpus,user,preemptible\n"
      "1,0,5,1,u,yes\n"
      "2,1,5,1,u,no\n";
  const ReadResult read = read_ok(text);
  EXPECT_FALSE(read.history.jobs[0].request.stays);
  EXPECT_TRUE(read.history.jobs[1].request.stays);
  EXPECT_EQ(written(read.history), text);
  const std::string plain = "job_id,submit_time,duration,num_gpus,user\n1,0,5,1,u\n";
  EXPECT_EQ(written(read_ok(plain).history), plain);
}

TEST(WriteGeneric, TrainingFactsComeBack) {
  const std::string text =
      "job_id,submit_time,duration,num_gpus,user,batch_size,epochs,gpu_mem_bytes,gpu_util_pct,"
      "deadline_s,max_slowdown,max_wait_s,share\n"
      "1,0,5,1,u,,,,,,,,\n"
      "2,1,5,1,u,64,12,8986296320,96.3,6,1.15,,no\n"
      "3,2,5,1,u,,,,0,4.5,,0,yes\n";
  const ReadResult first = read_ok(text);
  ASSERT_EQ(first.rejected, 0) << first.first_rejections[0].reason;
  EXPECT_EQ(first.counts.impossible_deadlines, 1) << "4.5 s for 5 s of work";
  ASSERT_EQ(first.history.training.size(), 3u);
  EXPECT_EQ(first.history.training[0], core::model::TrainingFacts{});
  EXPECT_EQ(first.history.training[1].deadline_ns, 6 * base::kSecond);
  EXPECT_EQ(first.history.training[1].gpu_mem_bytes, 8986296320);
  EXPECT_EQ(first.history.training[2].gpu_util_pct, 0);
  EXPECT_EQ(first.history.training[1].max_slowdown, 1.15F);
  EXPECT_EQ(first.history.training[1].max_wait_ns, -1);
  EXPECT_EQ(first.history.training[2].max_slowdown, 0);
  EXPECT_EQ(first.history.training[2].max_wait_ns, 0);
  EXPECT_EQ(first.history.training[1].sharing, core::model::SharingRequest::No);
  EXPECT_EQ(first.history.training[2].sharing, core::model::SharingRequest::Yes);
  EXPECT_EQ(written(first.history), text);
  // Unsorted input: training facts are reordered with the jobs.
  const ReadResult turned = read_ok(
      "job_id,submit_time,duration,num_gpus,user,epochs\nb,9,5,1,u,7\na,1,5,1,u,3\nc,10,1,1,u,\n");
  EXPECT_EQ(turned.history.training.at(0).epochs, 3);
  EXPECT_EQ(turned.history.training.at(1).epochs, 7);
  EXPECT_EQ(turned.history.training.at(2).epochs, 0);
}

TEST(WriteGeneric, BadTrainingFactsAreRefused) {
  const ReadResult result = read_ok(
      "job_id,submit_time,duration,num_gpus,user,gpu_mem_bytes,gpu_util_pct,deadline_s,"
      "max_slowdown,max_wait_s,share\n"
      "1,0,5,1,u,-1,,,,,\n2,0,5,1,u,,101,,,,\n3,0,5,1,u,,,-2,,,\n4,0,5,1,u,,,,,,\n"
      "5,0,5,1,u,,,,0.99,,\n6,0,5,1,u,,,,1e300,,\n7,0,5,1,u,,,,,-1,\n8,0,5,1,u,,,,,,maybe\n");
  EXPECT_EQ(result.rejected, 7);
  EXPECT_THAT(reasons(result)[6], testing::HasSubstr("share \"maybe\" is neither yes nor no"));
  EXPECT_THAT(reasons(result)[3], testing::HasSubstr("max_slowdown \"0.99\" is not from 1 to 1e6"));
  EXPECT_THAT(reasons(result)[4], testing::HasSubstr("max_slowdown \"1e300\" is not from 1"));
  EXPECT_THAT(reasons(result)[5], testing::HasSubstr("max_wait_s \"-1\""));
  EXPECT_THAT(reasons(result)[0], testing::HasSubstr("2: gpu_mem_bytes \"-1\""));
  EXPECT_THAT(reasons(result)[1], testing::HasSubstr("3: gpu_util_pct \"101\" is above 100"));
  EXPECT_THAT(reasons(result)[2], testing::HasSubstr("4: deadline_s \"-2\""));
}

TEST(WriteGenericGolden, RealHistoriesComeBack) {
  for (const char* file :
       {"philly/philly_df_schedule.csv.gz", "philly/sia_philly.csv.gz",
        "philly/chronus_trace_job_Philly_MIX1.csv.gz", "helios/helios_15k.csv.gz",
        "alcf/data_thetagpu.csv.gz", "alcf/data_mira.csv.gz",
        "alibaba-openb-v2023/openb_pod_list_default.csv.gz", "swf/hpc2n_part.swf.gz"}) {
    const auto path = base::test_data(std::string("traces/") + file);
    if (!path) GTEST_SKIP() << path.error().text();
    SCOPED_TRACE(file);
    ReadOptions options;
    options.cpu_jobs = CpuJobs::Keep;
    const auto first = read_jobs(*path, options);
    ASSERT_TRUE(first) << first.error().text();
    const ReadResult again = read_ok(written(first->history), options);
    EXPECT_EQ(again.format, "generic");
    EXPECT_EQ(again.rejected, 0);
    expect_equal(first->history, again.history);
  }
}

}  // namespace
}  // namespace goban::study::history
