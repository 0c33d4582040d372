#include "live/job/job_spec.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/test_names.hpp"

namespace goban::live::job {
namespace {

TEST(JobSpec, TheUmaskIsOctal) {
  JobSpec spec;
  EXPECT_FALSE(to_json(spec).contains("umask"));
  spec.umask = 0027;
  EXPECT_EQ(to_json(spec)["umask"], "0027");
  EXPECT_EQ(job_spec_from_json(to_json(spec)).value(), spec);
  for (const char* wrong : {"9", "1777", "-1", "0o22", "22 "}) {
    EXPECT_FALSE(job_spec_from_json({{"umask", wrong}})) << wrong;
  }
}

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

JobSpec full_spec() {
  JobSpec spec{.name = "train \"quoted\" \xe2\x82\xac",
               .owner = {.uid = 1000, .gid = 100, .user = "alice"},
               .account = "vision",
               .partition = "gpu",
               .qos = "high",
               .model = "resnet50",
               .resource_type = "rt_F",
               .reservation = "week",
               .app_class = 2,
               .class_from = ClassSource::Measured,
               .num_gpus = 8,
               .instances = 2,
               .cores = 4,
               .mem_bytes = int64_t{1} << 40,
               .priority = -3,
               .walltime_limit_ns = 90 * base::kSecond};
  spec.training = {.deadline_ns = base::kSecond / 4,
                   .gpu_mem_bytes = 123,
                   .gpu_util_pct = 37.5F,
                   .epochs = 90,
                   .batch_size = 64,
                   .max_slowdown = 1.5F,
                   .max_wait_ns = 7 * base::kSecond,
                   .sharing = core::model::SharingRequest::Yes};
  spec.dependencies = {{.kind = DependencyKind::AfterOk, .job = JobId(2U)},
                       {.kind = DependencyKind::After, .job = JobId(0U)}};
  spec.array_first = JobId(6U);
  spec.array_task = 2;
  spec.array_limit = 5;
  spec.held = true;
  spec.stage_in = {"/lustre/images", "words"};
  spec.stage_out = {{.from = "model", .to = "out-%j"}};
  spec.stage_out_always = true;
  spec.requeue = false;
  spec.preemptible = true;
  spec.interactive = true;
  spec.begin_ns = 1'795'428'000 * base::kSecond;
  spec.gpu_model = "a100";
  spec.node_list = {"n1", "n2"};
  spec.exclude_nodes = {"n3"};
  spec.payload = "5f2c";
  spec.work_folder = "/home/alice";
  spec.stdout_path = "out-%j";
  spec.stderr_path = "err-%j";
  spec.stdin_path = "in-%a";
  spec.open_mode = OpenMode::Truncate;
  spec.script_path = "/home/alice/train.sh";
  spec.script_hash = 0xfedcba98;
  spec.stop = {.signal = 10, .lead_ns = 60 * base::kSecond, .grace_ns = base::kSecond / 2};
  return spec;
}

TEST(JobSpecJson, EveryFieldComesBack) {
  const auto back = job_spec_from_json(json::parse(to_json(full_spec()).dump()));
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(*back, full_spec());
}

TEST(JobSpecJson, DefaultsAreLeftOut) {
  EXPECT_EQ(to_json(JobSpec{}).dump(), "{}");
  EXPECT_EQ(*job_spec_from_json(json::object()), JobSpec{});
}

TEST(JobSpecJson, NamesWhatItDoesNotKnow) {
  std::vector<std::string> unknown;
  ASSERT_TRUE(job_spec_from_json(
      json::parse(R"({"gpus": 3, "training": {"epoch": 1}, "stop": {"now": true}})"), &unknown));
  EXPECT_THAT(unknown, testing::UnorderedElementsAre("gpus", "training.epoch", "stop.now"));
}

struct Wrong {
  const char* text;
  const char* field;
};
std::ostream& operator<<(std::ostream& out, const Wrong& each) {
  return out << base::test_name(each.text);
}
class JobSpecErrors : public testing::TestWithParam<Wrong> {};

TEST_P(JobSpecErrors, NamesTheField) {
  const auto spec = job_spec_from_json(json::parse(GetParam().text));
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().code, base::ErrorCode::BadData);
  EXPECT_EQ(spec.error().place.field, GetParam().field) << spec.error().text();
}

INSTANTIATE_TEST_SUITE_P(
    All, JobSpecErrors,
    testing::Values(
        Wrong{R"({"num_gpus": "3"})", "num_gpus"}, Wrong{R"({"num_gpus": -1})", "num_gpus"},
        Wrong{R"({"num_gpus": 18446744073709551615})", "num_gpus"},
        Wrong{R"({"num_gpus": 1.5})", "num_gpus"}, Wrong{R"({"name": 3})", "name"},
        Wrong{R"({"name": "a\u0000b"})", "name"}, Wrong{R"({"held": 1})", "held"},
        Wrong{R"({"walltime_s": -1})", "walltime_s"},
        Wrong{R"({"walltime_s": 1e300})", "walltime_s"},
        Wrong{R"({"app_class": "AB"})", "app_class"}, Wrong{R"({"app_class": ""})", "app_class"},
        Wrong{R"({"app_class": 1})", "app_class"},
        Wrong{R"({"class_from": "hearsay"})", "class_from"},
        Wrong{R"({"training": {"share": "maybe"}})", "training.share"},
        Wrong{R"({"training": []})", "training"},
        Wrong{R"({"dependencies": [{"kind": "afterok"}]})", "dependencies.job"},
        Wrong{R"({"dependencies": [{"kind": "before", "job": 1}]})", "dependencies.kind"},
        Wrong{R"({"dependencies": [{"kind": "singleton", "job": 1}]})", "dependencies.job"},
        Wrong{R"({"stop": {"signal": 65}})", "stop.signal"}, Wrong{"[]", ""}),
    [](const auto& each) { return base::test_name(each.param.text); });

TEST(JobNames, ArrayTasksNameTheirArray) {
  EXPECT_EQ(job_name_of(JobId(4U), JobSpec{}), "5");
  EXPECT_EQ(job_name_of(JobId(8U), full_spec()), "7_2");
}

}  // namespace
}  // namespace goban::live::job
