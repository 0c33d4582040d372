#include "live/controller/core_image_json.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "core/model/cluster_presets.hpp"
#include "core/policy/compose.hpp"

namespace goban::live::controller {
namespace {

using core::scheduler::Core;
using core::scheduler::CoreImage;
using nlohmann::json;
using testing::HasSubstr;

/// A core under a policy on two nodes of two GPUs.
struct ImageSite {
  core::model::Cluster cluster = core::model::make_preset("2x2").value();
  core::knowledge::PmScores scores = core::knowledge::PmScores::uniform(4);
  core::knowledge::LocalityPenalties penalties{cluster, 1.5};
  core::policy::RunContext context{};

  [[nodiscard]] std::unique_ptr<Core> core(const std::string& policy) const {
    return std::make_unique<Core>(core::policy::SpeedModel{&cluster, &scores, &penalties},
                                  core::policy::compose(policy).value().make(context), context, 1);
  }
};

void submit(Core& core, uint32_t job, int32_t gpus, base::TimeNs at_ns) {
  core::model::JobRequest request;
  request.submit_ns = at_ns;
  request.walltime_limit_ns = 100 * base::kSecond;
  request.num_gpus = gpus;
  (void)core.apply({.kind = core::model::EventKind::JobSubmitted,
                    .at_ns = at_ns,
                    .job = core::model::JobId(job),
                    .request = &request});
}

/// Jobs 0 and 1 run, job 2 waits, node 1 is to be left by 500 s.
std::unique_ptr<Core> busy(const ImageSite& site, const std::string& policy) {
  auto core = site.core(policy);
  submit(*core, 0, 2, 0);
  submit(*core, 1, 1, 0);
  submit(*core, 2, 4, 0);
  (void)core->apply({.kind = core::model::EventKind::NodeDrained,
                     .node = core::model::NodeId(1U),
                     .until_ns = 500 * base::kSecond});
  (void)core->decide(0);
  return core;
}

TEST(CoreImageJson, IsExactAndLeavesDefaultsOut) {
  CoreImage image;
  image.fair_share = {0.1, 1.0 / 3, 5e-324, INFINITY, -INFINITY, NAN};
  image.decided_at_ns = 1'700'000'000'123'456'789;
  image.next_review_ns = base::kNever;
  image.jobs.resize(1);
  image.jobs[0].state.training.gpu_util_pct = 32.1F;
  const json out = to_json(image);
  EXPECT_FALSE(out.contains("arrivals"));
  EXPECT_FALSE(out.contains("next_review_ns"));
  const auto read = parse_core_image(json::parse(out.dump()));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(to_json(*read).dump(), out.dump());
  EXPECT_EQ(read->fair_share[1], 1.0 / 3);
  EXPECT_EQ(read->fair_share[2], 5e-324);
  EXPECT_TRUE(std::isnan(read->fair_share[5]));
  EXPECT_EQ(read->decided_at_ns, 1'700'000'000'123'456'789);
  EXPECT_EQ(read->jobs[0].state.training.gpu_util_pct, 32.1F);
}

TEST(CoreImageJson, SaysWhatIsWrongAndWhere) {
  const auto problem = [](const std::string& text) {
    const auto read = parse_core_image(json::parse(text));
    return read ? "none" : read.error().text();
  };
  EXPECT_EQ(problem(R"({"version":1,"of_a_newer_release":5})"), "none");
  EXPECT_THAT(problem(R"({"version":5})"), HasSubstr("version 5"));
  EXPECT_THAT(problem("[]"), HasSubstr("no version"));
  EXPECT_THAT(problem(R"({"version":1,"jobs":[{},{"state":{"job":-1}}]})"),
              HasSubstr("core.jobs[1].state.job"));
  EXPECT_THAT(problem(R"({"version":1,"jobs":[{"state":{"phase":3}}]})"), HasSubstr("phase"));
  EXPECT_THAT(problem(R"({"version":1,"arrivals":4294967296})"), HasSubstr("too large"));
  EXPECT_THAT(problem(R"({"version":1,"fair_share":["x"]})"), HasSubstr("core.fair_share[0]"));
}

TEST(CoreImage, ImageThatDoesNotFitIsRefused) {
  const ImageSite site;
  const CoreImage good = busy(site, "easy-backfill")->image();
  EXPECT_TRUE(site.core("easy-backfill")->restore(good));
  const auto refused = [&](const std::function<void(CoreImage&)>& spoil) {
    CoreImage image = good;
    spoil(image);
    const auto status = site.core("easy-backfill")->restore(image);
    return status ? "taken" : status.error().text();
  };
  EXPECT_THAT(refused([](CoreImage& i) { i.num_gpus = 8; }), HasSubstr("this one has 2 and 4"));
  EXPECT_THAT(refused([](CoreImage& i) { i.jobs[1].allocation.gpus[0] = core::model::GpuId(9U); }),
              HasSubstr("GPU 9"));
  EXPECT_THAT(
      refused([](CoreImage& i) { i.jobs[1].allocation.gpus[0] = i.jobs[0].allocation.gpus[0]; }),
      HasSubstr("held by more jobs"));
  EXPECT_THAT(refused([](CoreImage& i) { i.jobs[1].slot = i.jobs[0].slot; }),
              HasSubstr("is a duplicate or out of range"));
  EXPECT_THAT(refused([](CoreImage& i) { i.jobs[1].state.job = i.jobs[0].state.job; }),
              HasSubstr("is a duplicate or invalid"));
  EXPECT_THAT(refused([](CoreImage& i) { i.jobs[0].allocation.gpus.clear(); }),
              HasSubstr("requests 2 GPUs and holds 0"));
  EXPECT_THAT(refused([](CoreImage& i) { i.nodes[0].is_open = i.nodes[1].is_open = false; }),
              HasSubstr("closed node"));
}

// The site's policy may be changed between two starts.
TEST(CoreImage, JobsKeepWhatTheyHoldUnderAnotherPolicy) {
  const ImageSite site;
  const auto before = busy(site, "easy-backfill");
  for (const char* policy : {"las+pal", "fifo", "goban", "conservative-backfill+spread"}) {
    const auto after = site.core(policy);
    const auto restored = after->restore(before->image());
    ASSERT_TRUE(restored) << restored.error().text();
    EXPECT_EQ(after->num_running(), 2U) << policy;
    EXPECT_EQ(after->num_waiting(), 1U);
    EXPECT_EQ(after->allocation(core::model::JobId(0U)).gpus,
              before->allocation(core::model::JobId(0U)).gpus);
    for (const uint32_t job : {0U, 1U}) {
      (void)after->apply({.kind = core::model::EventKind::JobFinished,
                          .at_ns = 50 * base::kSecond,
                          .job = core::model::JobId(job)});
    }
    const auto& decision = after->decide(50 * base::kSecond);
    ASSERT_EQ(decision.placed.size(), 1U) << policy;
    EXPECT_EQ(decision.placed[0], core::model::JobId(2U));
  }
}

}  // namespace
}  // namespace goban::live::controller
