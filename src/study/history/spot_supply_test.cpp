// The supply of spot instances, by hand.
#include "study/history/spot_supply.hpp"

#include <gmock/gmock.h>
#include <tuple>

#include "base/test_folder.hpp"
#include "core/model/cluster_presets.hpp"
#include "study/history/incidents.hpp"

namespace goban::study::history {
namespace {

using base::kSecond;
using core::model::EventKind;
using testing::ElementsAre;
using testing::HasSubstr;

std::string problem(std::string_view json) {
  const auto supply = parse_spot_supply(json, "f.json");
  return supply ? "" : supply.error().text();
}

TEST(SpotSupply, LowestNodesOpenFirst) {
  const base::TestFolder folder("spot_supply");
  const std::string file =
      folder.write("s.json", R"({"metadata": {"gap_seconds": 300}, "data": [0, 2, 2, 1, 3]})");
  const auto cluster = core::model::make_preset("2x4:V100+3x4:P100").value();
  const auto group = read_spot_group(file + ":P100", cluster);
  ASSERT_TRUE(group) << group.error().text();
  EXPECT_THAT(group->nodes, ElementsAre(2, 3, 4));
  Incidents incidents;
  ASSERT_TRUE(add_outages(*group, 1000 * kSecond, incidents.outages));
  std::vector<std::tuple<int64_t, EventKind, size_t>> seen;
  for (const auto& event : incidents.events()) {
    seen.emplace_back(event.at_ns / kSecond, event.kind, event.node.index());
  }
  using T = std::tuple<int64_t, EventKind, size_t>;
  EXPECT_THAT(
      seen, ElementsAre(T(1000, EventKind::NodeLost, 2), T(1000, EventKind::NodeLost, 3),
                        T(1000, EventKind::NodeLost, 4), T(1300, EventKind::NodeRestored, 2),
                        T(1300, EventKind::NodeRestored, 3), T(1900, EventKind::NodeLost, 3),
                        T(2200, EventKind::NodeRestored, 3), T(2200, EventKind::NodeRestored, 4)));
}

TEST(SpotSupply, OutagesOfIncidentsAreMerged) {
  const auto cluster = core::model::make_preset("2x4").value();
  Incidents incidents;
  incidents.outages[0].push_back({.begin_ns = 0, .end_ns = 100 * kSecond, .is_failure = true});
  const SpotGroup group{.supply = {.gap_s = 60, .instances = {1, 0, 1}}, .nodes = {0}};
  ASSERT_TRUE(add_outages(group, 0, incidents.outages));
  const auto events = incidents.events();
  ASSERT_EQ(events.size(), 2U);  // down from 0 to 120 s, once
  EXPECT_EQ(events[0].at_ns, 0);
  EXPECT_EQ(events[1].at_ns, 120 * kSecond);
}

TEST(SpotSupply, GroupsAreModelsNodesAndRanges) {
  const base::TestFolder folder("spot_groups");
  const std::string file =
      folder.write("a:b.json", R"({"metadata": {"gap_seconds": 1}, "data": [1]})");
  const auto cluster = core::model::make_preset("4x2").value();
  const auto nodes = [&](const std::string& group) {
    const auto read = read_spot_group(file + ":" + group, cluster);
    return read ? read->nodes : std::vector<size_t>{};
  };
  EXPECT_THAT(nodes("*"), ElementsAre(0, 1, 2, 3));
  const std::string first = cluster.nodes()[1].name;
  EXPECT_THAT(nodes(first), ElementsAre(1));
  EXPECT_THAT(nodes(first + ".." + cluster.nodes()[2].name), ElementsAre(1, 2));
  const auto error = [&](const std::string& option) {
    const auto read = read_spot_group(option, cluster);
    return read ? "" : read.error().text();
  };
  EXPECT_THAT(error(file + ":H100"), HasSubstr("the cluster has no nodes 'H100'"));
  EXPECT_THAT(error("file.json"), HasSubstr("is not FILE:GROUP"));
}

TEST(SpotSupply, EveryProblemNamesItsField) {
  EXPECT_EQ(problem(R"({"metadata": {"gap_seconds": 300}, "data": [0, 16]})"), "");
  EXPECT_THAT(problem("[1]"), HasSubstr("f.json: metadata.gap_seconds: is missing"));
  EXPECT_THAT(problem(R"({"metadata": {"gap_seconds": 0}, "data": [1]})"),
              HasSubstr("metadata.gap_seconds: is not in [0.001, 1e9]"));
  EXPECT_THAT(problem(R"({"metadata": {"gap_seconds": 1}, "data": []})"),
              HasSubstr("data: is missing or not a list"));
  EXPECT_THAT(problem(R"({"metadata": {"gap_seconds": 1}, "data": [1, 1.5]})"),
              HasSubstr("data[1]: is not a number of instances"));
  EXPECT_THAT(problem(R"({"metadata": {"gap_seconds": 1}, "data": [-1]})"), HasSubstr("data[0]"));
  EXPECT_THAT(problem("{"), HasSubstr("f.json"));
}

}  // namespace
}  // namespace goban::study::history
