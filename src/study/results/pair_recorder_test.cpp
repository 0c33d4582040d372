// Time that pairs of applications shared GPUs, computed by hand.
#include "study/results/pair_recorder.hpp"

#include <gmock/gmock.h>

#include "core/knowledge/colocation/colocation_file.hpp"
#include "core/model/cluster_presets.hpp"
#include "core/policy/make_knowledge.hpp"

namespace goban::study::results {
namespace {

using base::from_seconds;
using core::model::AppId;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class PairRecorderTest : public testing::Test {
 protected:
  void add(double submit_s, double work_s, int32_t gpus, const char* model) {
    core::model::Job job;
    job.request.submit_ns = from_seconds(submit_s);
    job.request.num_gpus = gpus;
    job.request.model = core::model::ModelId(history_.models.intern(model));
    job.work_s = work_s;
    history_.job_names.add(std::to_string(history_.jobs.size()));
    history_.jobs.push_back(job);
    history_.training.push_back({.gpu_mem_bytes = 1'000'000'000, .gpu_util_pct = 30});
  }

  /// GPU-seconds by pair.
  std::map<PairRecorder::Pair, double> simulate(const char* cluster_name, const char* policy) {
    const auto cluster = core::model::make_preset(cluster_name).value();
    core::policy::KnowledgeSources sources{
        .colocation = core::knowledge::parse_colocation(kMeasured, "h.csv").value(), .power = {}};
    auto made = core::policy::make_knowledge(std::move(sources), cluster, history_);
    EXPECT_TRUE(made.has_value());
    a_ = made->knowledge.colocation.find_app("a", "");
    b_ = made->knowledge.colocation.find_app("b", "");
    const auto scores = core::knowledge::PmScores::uniform(cluster.num_gpus());
    const core::knowledge::LocalityPenalties penalties(cluster, 1.0);
    PairRecorder recorder(cluster, nullptr);
    simulator::SimulationOptions options;
    options.observer = &recorder;
    options.knowledge = std::make_shared<core::policy::SiteKnowledge>(std::move(made->knowledge));
    const auto result = simulator::simulate(history_, {&cluster, &scores, &penalties},
                                            core::policy::compose(policy).value(), options);
    EXPECT_TRUE(result.has_value());
    return recorder.together_s();
  }

  static constexpr const char* kMeasured =
      "gpu_type,members,slowdowns\n"
      "V100,a,\nV100,b,\nV100,a + b,1.25 + 1.4\n";
  core::model::JobHistory history_;
  AppId a_;
  AppId b_;
};

TEST_F(PairRecorderTest, CountsWhileBothAreThere) {
  add(0, 100, 2, "a");
  add(10, 100, 2, "b");
  // Alone for 10 s, then at 1 / 1.25: a ends at 10 + 90 x 1.25.
  const auto together_s = simulate("1x2:V100", "best-pair");
  EXPECT_THAT(together_s,
              ElementsAre(Pair(PairRecorder::Pair(0, a_, b_), DoubleNear(2 * 112.5, 1e-6))));
}

TEST_F(PairRecorderTest, NobodyMeetsOnGpusOfTheirOwn) {
  add(0, 100, 1, "a");
  add(0, 100, 1, "b");
  EXPECT_THAT(simulate("1x2:V100", "best-pair"), IsEmpty());
  EXPECT_THAT(simulate("1x1:V100", "fifo+packed"), IsEmpty()) << "one after the other";
}

TEST_F(PairRecorderTest, LeavesOutJobsWithoutAnApplication) {
  add(0, 100, 1, "");
  add(0, 100, 1, "a");
  EXPECT_THAT(simulate("1x1:V100", "best-pair"), IsEmpty());
}

}  // namespace
}  // namespace goban::study::results
