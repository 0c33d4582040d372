#include <gmock/gmock.h>

#include "core/model/cluster_presets.hpp"
#include "core/policy/compose.hpp"
#include "core/scheduler/core.hpp"

namespace goban::core::scheduler {
namespace {

using model::ActionKind;
using model::EventKind;
using testing::ElementsAre;
using testing::HasSubstr;

/// A core on two nodes of two GPUs: jobs 0 (2 GPUs) and 1 (1 GPU) run, 2 (2 GPUs) waits.
struct Busy {
  model::Cluster cluster = model::make_preset("2x2").value();
  knowledge::PmScores scores = knowledge::PmScores::uniform(4);
  knowledge::LocalityPenalties penalties{cluster, 1.5};
  policy::RunContext context{};
  Core core{policy::SpeedModel{&cluster, &scores, &penalties},
            policy::compose("fifo").value().make(context), context, 1};

  Busy() {
    for (const int32_t gpus : {2, 1, 2}) submit(gpus);
    (void)core.decide(0);
  }
  void submit(int32_t gpus) {
    model::JobRequest request;
    request.num_gpus = gpus;
    (void)core.apply(
        {.kind = EventKind::JobSubmitted, .job = JobId(submitted++), .request = &request});
  }
  uint32_t submitted = 0;

  std::string redo(const std::vector<Action>& actions,
                   const std::vector<std::vector<uint32_t>>& places) {
    std::vector<Allocation> allocations;
    for (const auto& place : places) {
      allocations.emplace_back();
      for (const uint32_t gpu : place) allocations.back().gpus.emplace_back(gpu);
    }
    const auto status = core.redo(base::kSecond, actions, allocations);
    return status ? "done" : status.error().text();
  }
};

Action start(uint32_t job) { return {.kind = ActionKind::Start, .job = JobId(job)}; }
Action preempt(uint32_t job) { return {.kind = ActionKind::Preempt, .job = JobId(job)}; }

TEST(CoreRedo, CarriesOutWhatItWouldNotDecide) {
  Busy busy;
  EXPECT_EQ(busy.redo({preempt(0), start(2)}, {{1, 0}}), "done");
  EXPECT_THAT(busy.core.allocation(JobId(2U)).gpus, ElementsAre(GpuId(1U), GpuId(0U)));
  EXPECT_THAT(busy.core.last_decision().placed, ElementsAre(JobId(2U)));
  EXPECT_THAT(busy.core.last_decision().terminated, ElementsAre(JobId(0U)));
  EXPECT_EQ(busy.core.num_waiting(), 1U);
  // It decides from there on: job 0 does not fit until job 2 ends.
  EXPECT_TRUE(busy.core.decide(2 * base::kSecond).placed.empty());
  (void)busy.core.apply(
      {.kind = EventKind::JobFinished, .at_ns = 3 * base::kSecond, .job = JobId(2U)});
  EXPECT_THAT(busy.core.decide(3 * base::kSecond).placed, ElementsAre(JobId(0U)));
  EXPECT_EQ(busy.core.state().job(busy.core.state().slot_of(JobId(0U))).attained_before_ns,
            base::kSecond);
}

TEST(CoreRedo, NodesRestAndWake) {
  Busy busy;
  const model::NodeId node(1U);
  (void)busy.core.apply({.kind = EventKind::JobFinished, .job = JobId(1U)});
  EXPECT_EQ(busy.redo({{.kind = ActionKind::Rest, .node = node}}, {}), "done");
  EXPECT_TRUE(busy.core.decide(base::kSecond).placed.empty());
  EXPECT_EQ(busy.redo({{.kind = ActionKind::Wake, .node = node}}, {}),
            "action 1 of a recorded decision is invalid: node 1 is not asleep "
            "(use the configuration with which the journal was written)");
  (void)busy.core.apply({.kind = EventKind::NodeAwake, .at_ns = base::kSecond, .node = node});
  EXPECT_THAT(busy.core.decide(base::kSecond).placed, ElementsAre(JobId(2U)));
}

TEST(CoreRedo, WhatIsNoLegalStepIsAnError) {
  EXPECT_THAT(Busy().redo({preempt(2)}, {}), HasSubstr("job id 2 is not running"));
  EXPECT_THAT(Busy().redo({preempt(9)}, {}), HasSubstr("job id 9 is unknown"));
  EXPECT_THAT(Busy().redo({start(1)}, {{3}}), HasSubstr("is not waiting"));
  EXPECT_THAT(Busy().redo({start(2)}, {{3}}), HasSubstr("requests 2 GPUs and would get 1"));
  EXPECT_THAT(Busy().redo({start(2)}, {{2, 3}}), HasSubstr("cannot take these GPUs"));
  EXPECT_THAT(Busy().redo({preempt(0), start(2)}, {{0, 0}}), HasSubstr("action 2"));
  EXPECT_THAT(Busy().redo({preempt(0), start(2)}, {{0, 99}}), HasSubstr("cannot take"));
  EXPECT_THAT(Busy().redo({preempt(0), start(2)}, {}), HasSubstr("allocation is missing"));
  EXPECT_THAT(Busy().redo({{.kind = ActionKind::Rest, .node = model::NodeId(0U)}}, {}),
              HasSubstr("node 0 is not idle"));
  EXPECT_THAT(Busy().redo({{.kind = ActionKind::Cap, .cap = 1, .gpu = GpuId(7U)}}, {}),
              HasSubstr("unknown GPU 7"));
}

}  // namespace
}  // namespace goban::core::scheduler
