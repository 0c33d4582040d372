#include "study/lab/lab.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "core/model/cluster_presets.hpp"
#include "study/lab/test_history.hpp"

namespace goban::study::lab {
namespace {

using core::model::GpuId;
using core::model::JobHistory;
using simulator::SimulationResult;
using testing::ElementsAre;
using testing::HasSubstr;

/// Shortest estimate first, from the lowest GPUs; what it is asked is recorded.
class ShortestFirst : public Methods {
 public:
  void order(const JobRows& rows, std::span<double> keys) override {
    sizes.push_back(rows.size());
    for (size_t row = 0; row < rows.size(); ++row) {
      keys[row] = rows.real(RealColumn::EstimateS, row);
    }
  }
  void preempt(const JobRows& rows, std::span<double> keys) override {
    for (size_t row = 0; row < rows.size(); ++row) {
      keys[row] = std::numeric_limits<double>::infinity();
    }
  }
  void select(const JobRows& rows, int32_t /*free_gpus*/, std::vector<int64_t>& chosen) override {
    for (size_t row = rows.size(); row-- > 0;) chosen.push_back(static_cast<int64_t>(row));
  }
  bool place(const PlaceView& view, std::vector<int64_t>& gpus) override {
    for (int64_t gpu = view.free->cluster().num_gpus() - 1;
         gpu >= 0 && gpus.size() < static_cast<size_t>(view.request->num_gpus); --gpu) {
      if (view.free->is_free(GpuId(static_cast<uint32_t>(gpu)))) gpus.push_back(gpu);
    }
    return gpus.size() == static_cast<size_t>(view.request->num_gpus);
  }
  std::vector<size_t> sizes;
};

std::vector<int64_t> starts_s(const base::Result<SimulationResult>& result) {
  std::vector<int64_t> out;
  EXPECT_TRUE(result) << result.error().text();
  if (!result) return out;
  for (const auto& outcome : result->outcomes) out.push_back(outcome.start_ns / base::kSecond);
  return out;
}

base::Result<SimulationResult> run_on(const std::string& cluster, const JobHistory& history,
                                      const PolicyText& policy, Methods& methods) {
  const auto made = core::model::make_preset(cluster);
  EXPECT_TRUE(made);
  return run(history, *made, policy, methods, {.restart_cost_s = 0});
}

const std::vector<Sample> kQueue = {{.work_s = 10, .limit_s = 10},
                                    {.submit_s = 1, .work_s = 30, .limit_s = 30},
                                    {.submit_s = 2, .work_s = 5, .limit_s = 5},
                                    {.submit_s = 3, .work_s = 20, .limit_s = 20}};

TEST(Lab, OrderDecidesWhoStartsFirst) {
  for (const KeyTime when : {KeyTime::Arrival, KeyTime::Event}) {
    ShortestFirst methods;
    const PolicyText policy{.name = "shortest", .methods = {.order = true}, .when = when};
    EXPECT_THAT(starts_s(run_on("1x1", history_of(kQueue), policy, methods)),
                ElementsAre(0, 35, 10, 15));
  }
}

TEST(Lab, NewcomersWaitBehindUntilTheNextInterval) {
  ShortestFirst methods;
  const PolicyText policy{
      .name = "shortest", .methods = {.order = true}, .when = KeyTime::Every, .every_s = 12};
  // At 10 s nobody has a key but the first: in order of arrival. At 40 s they have one.
  EXPECT_THAT(starts_s(run_on("1x1", history_of(kQueue), policy, methods)),
              ElementsAre(0, 10, 40, 45));
}

TEST(Lab, KeysOfJobsWithLimitsAreComputedOnceForAll) {
  ShortestFirst methods;
  const PolicyText policy{.name = "shortest", .methods = {.order = true}, .when = KeyTime::Arrival};
  ASSERT_TRUE(run_on("1x1", history_of(kQueue), policy, methods));
  EXPECT_THAT(methods.sizes, ElementsAre(4, 1, 1));  // all, and two of them again alone
}

TEST(Lab, EstimatesAreMeansOfTheUsersJobsThatHaveEnded) {
  ShortestFirst methods;
  const PolicyText policy{.name = "shortest", .methods = {.order = true}};
  // User 0 is known for 100 s and user 1 for 40 s, so that the last job overtakes the one before,
  // which is shorter and came first.
  const auto history = history_of({{.work_s = 100, .user = 0},
                                   {.work_s = 40, .user = 1},
                                   {.submit_s = 50, .work_s = 150, .user = 2},
                                   {.submit_s = 100, .work_s = 99, .user = 2},
                                   {.submit_s = 101, .work_s = 1, .user = 0},
                                   {.submit_s = 102, .work_s = 70, .user = 1}});
  EXPECT_THAT(starts_s(run_on("1x2", history, policy, methods)),
              ElementsAre(0, 0, 50, 100, 200, 199));
}

TEST(Lab, BackfillDoesNotKnowTrueRunTimes) {
  ShortestFirst methods;
  // Job 1 needs both GPUs and waits for job 0. Job 2 would end in time, which nobody can know: the
  // estimate of an unknown user is an hour.
  const auto history = history_of({{.work_s = 100, .user = 0},
                                   {.submit_s = 1, .work_s = 10, .gpus = 2, .user = 1},
                                   {.submit_s = 2, .work_s = 5, .user = 2}});
  PolicyText policy{.name = "any", .parts = "fifo+easy-backfill", .methods = {.order = true}};
  EXPECT_THAT(starts_s(run_on("1x2", history, policy, methods)), ElementsAre(0, 100, 110));
  policy.oracle = true;
  EXPECT_THAT(starts_s(run_on("1x2", history, policy, methods)), ElementsAre(0, 100, 2));
}

TEST(Lab, SelectStartsWhatItReturnsInThatOrder) {
  ShortestFirst methods;
  const PolicyText policy{.name = "last", .methods = {.select = true}};
  EXPECT_THAT(starts_s(run_on("1x1", history_of(kQueue), policy, methods)),
              ElementsAre(0, 35, 30, 10));
}

TEST(Lab, PreemptedJobsYieldToSmallerKeys) {
  ShortestFirst methods;
  const PolicyText policy{
      .name = "yield", .parts = "fifo+sticky", .methods = {.order = true, .preempt = true}};
  const auto history = history_of(
      {{.work_s = 100, .limit_s = 1000}, {.submit_s = 10, .work_s = 5, .limit_s = 2000}});
  const auto result = run_on("1x1", history, policy, methods);
  ASSERT_TRUE(result);
  // Infinite keys of running jobs: who waits always precedes, so both alternate.
  EXPECT_GT(result->outcomes[0].preemptions, 0);
  EXPECT_EQ(result->outcomes[1].start_ns, 10 * base::kSecond);
}

TEST(Lab, PlacementIsChecked) {
  struct Bad : ShortestFirst {
    bool place(const PlaceView& /*view*/, std::vector<int64_t>& gpus) override {
      gpus = returned;
      return true;
    }
    std::vector<int64_t> returned;
  };
  const PolicyText policy{.name = "bad", .methods = {.place = true}};
  const std::vector<std::pair<std::vector<int64_t>, const char*>> cases = {
      {{0}, "returned 1 GPUs for a job of 2"},
      {{0, 0}, "GPU 0 twice"},
      {{0, 4}, "GPU 4, which does not exist: the cluster has 0 to 3"},
      {{-1, 1}, "GPU -1, which does not exist"}};
  for (const auto& [returned, problem] : cases) {
    Bad methods;
    methods.returned = returned;
    try {
      (void)run_on("1x4", history_of({{.submit_s = 7, .work_s = 1, .gpus = 2}}), policy, methods);
      FAIL() << problem;
    } catch (const Fault& fault) {
      EXPECT_THAT(fault.problem, HasSubstr(problem));
      EXPECT_EQ(fault.method, "place");
      EXPECT_EQ(fault.job, JobId(0U));
      EXPECT_EQ(fault.at_ns, 7 * base::kSecond);
    }
  }
  Bad taken;
  taken.returned = {1};
  const auto two = history_of({{.work_s = 9}, {.submit_s = 1, .work_s = 9}});
  EXPECT_THROW((void)run_on("1x4", two, policy, taken), Fault);
}

TEST(Lab, KeysAreChecked) {
  struct Nan : ShortestFirst {
    void order(const JobRows& /*rows*/, std::span<double> keys) override {
      keys.front() = std::nan("");
    }
  } nan;
  PolicyText policy{.name = "nan", .methods = {.order = true}};
  EXPECT_THROW((void)run_on("1x1", history_of(kQueue), policy, nan), Fault);
  struct Rank : ShortestFirst {
    void order(const JobRows& rows, std::span<double> keys) override {
      for (size_t row = 0; row < rows.size(); ++row) {
        keys[row] = static_cast<double>(rows.size() - row);
      }
    }
  } rank;
  policy.when = KeyTime::Arrival;
  EXPECT_THROW((void)run_on("1x1", history_of(kQueue), policy, rank), Fault);
  policy.when = KeyTime::Event;
  EXPECT_TRUE(run_on("1x1", history_of(kQueue), policy, rank));
}

}  // namespace
}  // namespace goban::study::lab
