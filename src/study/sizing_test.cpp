// Cluster sizes with wait times computed by hand.
#include "study/sizing.hpp"

#include <gtest/gtest.h>

#include "core/model/cluster_presets.hpp"
#include "site/analysis/test_population.hpp"

namespace goban::study {
namespace {

using site::analysis::Labels;
using site::analysis::Language;

/// Four one-hour jobs, each on a whole node of two GPUs, all submitted at once.
site::analysis::TestPopulation four_jobs(const core::model::Cluster& cluster) {
  std::string jobs = "job_id,submit_time,duration,num_gpus,user\n";
  for (int i = 0; i < 4; ++i) jobs += std::to_string(i) + ",0,3600,2,u\n";
  return site::analysis::population_of(jobs, {}, &cluster);
}

int64_t scalar(const site::analysis::ReportData& report, const std::string& key) {
  for (const site::analysis::Scalar& each : report.scalars) {
    if (each.key == key) return std::get<int64_t>(each.value);
  }
  ADD_FAILURE() << key;
  return -1;
}

TEST(Sizing, FewerNodesWhereWaitingIsFine) {
  const auto cluster = core::model::make_preset("8x2").value();
  const auto test = four_jobs(cluster);
  const Labels labels(Language::English);
  const auto nodes = [&](const SizingTarget& target) {
    site::analysis::ReportData report;
    const auto added = add_sizing({test.population, test.rules, labels, report, nullptr, {}},
                                  target, base::Progress());
    EXPECT_TRUE(added) << added.error().text();
    EXPECT_EQ(scalar(report, "cloud_gpus"), 8);
    EXPECT_EQ(report.tables.size(), 1U);
    return scalar(report, "sizing_nodes");
  };
  EXPECT_EQ(nodes({.wait_h = 0, .share = 1}), 4) << "no job waits";
  EXPECT_EQ(nodes({.wait_h = 1, .share = 1}), 2) << "two after the other";
  EXPECT_EQ(nodes({.wait_h = 3, .share = 1}), 1);
  EXPECT_EQ(nodes({.wait_h = 2, .share = 0.75}), 1);
}

TEST(Sizing, EndsWhenCancelled) {
  const auto cluster = core::model::make_preset("8x2").value();
  const auto test = four_jobs(cluster);
  const Labels labels(Language::English);
  site::analysis::ReportData report;
  const std::atomic<bool> cancel = true;
  EXPECT_FALSE(add_sizing({test.population, test.rules, labels, report, nullptr, {}}, {},
                          base::Progress(cancel)));
}

}  // namespace
}  // namespace goban::study
