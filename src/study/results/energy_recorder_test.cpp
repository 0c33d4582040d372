// Energy of simulated runs: computed by hand, and conserved on random runs.
#include "study/results/energy_recorder.hpp"

#include <gtest/gtest.h>
#include <numeric>
#include <rapidcheck/gtest.h>

#include "core/knowledge/colocation/colocation_file.hpp"
#include "core/knowledge/energy/power_presets.hpp"
#include "core/model/cluster_presets.hpp"
#include "core/policy/make_knowledge.hpp"

namespace goban::study::results {
namespace {

using base::from_seconds;
using core::knowledge::EnergyAccount;
using core::knowledge::EnergyAccounting;

/// 100 W of host, GPUs of 10 W idle and 10 + 100 U busy.
core::knowledge::PowerModel plain_power() {
  core::knowledge::PowerModel power;
  power.num_gpus = 2;
  power.host_idle_w = 100;
  power.gpu_idle_w = 10;
  power.gpu_dynamic_w = 100;
  power.sleep = {20, 5, 700, 10, 1500};
  power.off = {5, 20, 3000, 100, 9000};
  return power;
}

struct MeteredRun {
  core::model::Cluster cluster;
  core::model::JobHistory history;
  std::shared_ptr<core::policy::SiteKnowledge> knowledge;

  void add(double submit_s, double work_s, int32_t gpus, const char* model, float util_pct) {
    core::model::Job job;
    job.request.submit_ns = from_seconds(submit_s);
    job.request.num_gpus = gpus;
    job.request.model = core::model::ModelId(history.models.intern(model));
    job.work_s = work_s;
    history.job_names.add(std::to_string(history.jobs.size()));
    history.jobs.push_back(job);
    history.training.push_back({.gpu_util_pct = util_pct});
  }

  void know(std::optional<core::knowledge::ColocationHistory> colocation = {}) {
    core::policy::KnowledgeSources sources{.colocation = std::move(colocation),
                                           .power = core::knowledge::PowerCatalog{{plain_power()}}};
    knowledge = std::make_shared<core::policy::SiteKnowledge>(
        core::policy::make_knowledge(std::move(sources), cluster, history).value().knowledge);
  }

  /// Simulates and returns the recorder's account; the power over time goes to `drawn_j` as joules.
  EnergyAccount simulate(const std::string& policy,
                         std::span<const core::model::Event> incidents = {},
                         double* drawn_j = nullptr) {
    const auto scores = core::knowledge::PmScores::uniform(cluster.num_gpus());
    const core::knowledge::LocalityPenalties penalties(cluster, 1.0);
    simulator::SimulationOptions options;
    options.incidents = incidents;
    EnergyRecorder recorder(history, cluster, knowledge, false, nullptr);
    options.observer = &recorder;
    const auto result = simulator::simulate(history, {&cluster, &scores, &penalties},
                                            core::policy::compose(policy).value(), options);
    EXPECT_TRUE(result.has_value());
    if (drawn_j != nullptr) {
      *drawn_j = 0;
      const TimeBins& bins = recorder.power();
      const TimeNs begin_ns = history.jobs.front().request.submit_ns;
      for (size_t bin = 0; bin < bins.bins_until(result->end_ns); ++bin) {
        const TimeNs from = begin_ns + static_cast<TimeNs>(bin) * bins.width_ns();
        const TimeNs to = std::min(from + bins.width_ns(), result->end_ns);
        *drawn_j += bins.mean(0, bin, result->end_ns) * base::to_seconds(to - from);
      }
    }
    return recorder.account();
  }
};

void expect_conserved(const EnergyAccount& account) {
  const double jobs = std::accumulate(account.job_j.begin(), account.job_j.end(), 0.0);
  for (const core::knowledge::EnergyTotals& totals : account.totals) {
    const double parts = jobs + totals.idle_j + totals.rest_j + totals.transition_j;
    EXPECT_NEAR(parts, totals.cluster_j, 1e-9 * std::max(1.0, totals.cluster_j));
  }
}

TEST(EnergyRecorder, ByHand) {
  MeteredRun run{core::model::make_preset("2x2").value(), {}, {}};
  run.add(10, 100, 1, "a", 40);   // node 0: 10-110
  run.add(60, 100, 1, "b", 100);  // node 0: 60-160
  run.add(160, 50, 4, "b", 100);  // both nodes: 160-210
  run.know();
  const EnergyAccount account = run.simulate("fifo+packed");
  // GPU of a: 50 W. Of b: 110 W. Host shares: 100 W while alone, 50 W while co-located.
  EXPECT_DOUBLE_EQ(account.job_j[0], 50 * (150.0 + 100.0));
  EXPECT_DOUBLE_EQ(account.job_j[1], 50 * (160.0 + 210.0));
  EXPECT_DOUBLE_EQ(account.job_j[2], 50 * (2 * 320.0));
  // The meter starts at the first submission; node 1 idles for 150 s, as do free GPUs on node 0.
  EXPECT_DOUBLE_EQ(account.of(EnergyAccounting::IdleOn).idle_j, 120 * 150 + 10 * (50 + 50));
  EXPECT_DOUBLE_EQ(account.avg_active_nodes, (200 + 50) / 200.0);
  expect_conserved(account);
}

TEST(EnergyRecorder, MeasuredWattsComeFirst) {
  MeteredRun run{core::model::make_preset("1x2:V100").value(), {}, {}};
  run.add(0, 100, 2, "a", 40);
  run.know(core::knowledge::parse_colocation("gpu_type,members,slowdowns,power_w\nV100,a,,150\n",
                                             "h.csv")
               .value());
  const EnergyAccount account = run.simulate("fifo+packed");
  EXPECT_DOUBLE_EQ(account.job_j[0], 100 * (2 * 150.0)) << "the node's watts / its GPUs";
}

TEST(EnergyRecorder, UnknownUtilisationIsFullyBusy) {
  MeteredRun run{core::model::make_preset("1x2").value(), {}, {}};
  run.add(0, 100, 1, "", -1);
  run.add(0, 100, 1, "", 25);  // no model, but a declared utilisation
  run.know();
  const EnergyAccount account = run.simulate("fifo+packed");
  EXPECT_DOUBLE_EQ(account.job_j[0], 100 * (50 + 110.0));
  EXPECT_DOUBLE_EQ(account.job_j[1], 100 * (50 + 35.0));
}

RC_GTEST_PROP(EnergyRecorderProperty, EnergyIsConservedOnRandomRuns, ()) {
  MeteredRun run{core::model::make_preset("3x2:V100+2x4:K80").value(), {}, {}};
  const auto jobs = *rc::gen::inRange(1, 40);
  double submit_s = 0;
  for (int i = 0; i < jobs; ++i) {
    submit_s += *rc::gen::inRange(0, 400);
    const auto work_s = *rc::gen::inRange(1, 3000);
    run.add(submit_s, work_s, *rc::gen::inRange(1, 9), *rc::gen::element("a", "b", ""),
            static_cast<float>(*rc::gen::inRange(-1, 101)));
  }
  run.know();
  std::vector<core::model::Event> incidents;
  if (*rc::gen::arbitrary<bool>()) {
    incidents.push_back({.kind = core::model::EventKind::NodeLost,
                         .at_ns = from_seconds(*rc::gen::inRange(0, 2000)),
                         .node = core::model::NodeId(0u)});
    incidents.push_back({.kind = core::model::EventKind::NodeRestored,
                         .at_ns = incidents[0].at_ns + from_seconds(1000),
                         .node = core::model::NodeId(0u)});
  }
  double drawn_j = 0;
  const EnergyAccount account =
      run.simulate(*rc::gen::element<std::string>("fifo+packed", "las+skip+spread", "srtf+packed"),
                   incidents, &drawn_j);
  expect_conserved(account);
  const double d = account.of(EnergyAccounting::EveryoneSleeps).cluster_j;
  RC_ASSERT(std::abs(drawn_j - d) <= 1e-6 * std::max(1.0, d));
  // Every job draws at least its share of a context while it works, and nothing else does.
  for (int i = 0; i < jobs; ++i) RC_ASSERT(account.job_j[static_cast<size_t>(i)] > 0);
  RC_ASSERT(account.job_j.back() == 0);  // no fillers
  RC_ASSERT(!testing::Test::HasFailure());
}

}  // namespace
}  // namespace goban::study::results
