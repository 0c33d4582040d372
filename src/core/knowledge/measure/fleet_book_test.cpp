#include "core/knowledge/measure/fleet_book.hpp"

#include <gmock/gmock.h>

namespace goban::core::knowledge {
namespace {

using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;

constexpr int64_t kNow_s = 1'800'000'000;

GpuSession session(double block_s, int64_t unix_s = kNow_s) {
  GpuSession out{.unix_s = unix_s, .condition = {.driver = "550"}};
  for (auto& kernel : out.block_s) kernel.assign(6, block_s);
  return out;
}

MeasureBook node_book(const std::vector<std::pair<std::string, double>>& gpus,
                      int64_t unix_s = kNow_s) {
  MeasureBook out{.since_unix_s = unix_s, .spent_s = 4};
  for (const auto& [uuid, block_s] : gpus) add_session(out.of(uuid), session(block_s, unix_s));
  return out;
}

const std::vector<FleetNode> kNodes = {{"n1", 2}, {"n2", 2}, {"n3", 1}};

TEST(FleetBook, ScoresAreRelativeToTheMedianOfTheFleet) {
  MeasureBook fleet;
  GpuPlaces places;
  add_node(fleet, places, "n1", node_book({{"GPU-a", 1.0}, {"GPU-b", 1.0}}));
  add_node(fleet, places, "n2", node_book({{"GPU-c", 1.5}, {"GPU-d", 1.0}}));
  const auto scores = fleet_scores(fleet, places, kNodes, kNow_s);
  ASSERT_FALSE(scores.empty());
  for (const auto& of_class : scores) {
    EXPECT_THAT(of_class, ElementsAre(DoubleNear(1, 1e-9), DoubleNear(1, 1e-9),
                                      DoubleNear(1.5, 1e-9), DoubleNear(1, 1e-9), 1.0))
        << "n3 was never measured";
  }
  EXPECT_DOUBLE_EQ(fleet.spent_s, 8);
  EXPECT_EQ(fleet.since_unix_s, kNow_s);
}

TEST(FleetBook, ScoresFollowTheUuid) {
  MeasureBook fleet;
  GpuPlaces places;
  add_node(fleet, places, "n1", node_book({{"GPU-a", 1.0}, {"GPU-b", 1.0}}));
  add_node(fleet, places, "n2", node_book({{"GPU-c", 1.5}, {"GPU-d", 1.0}}));
  // The slow GPU was moved to n1; its measurements of before count for changes.
  add_node(fleet, places, "n1", node_book({{"GPU-c", 1.5}, {"GPU-b", 1.0}}, kNow_s + 100));
  add_node(fleet, places, "n2", node_book({{"GPU-a", 1.0}, {"GPU-d", 1.0}}, kNow_s + 100));
  for (const auto& of_class : fleet_scores(fleet, places, kNodes, kNow_s + 200)) {
    EXPECT_THAT(of_class[0], DoubleNear(1.5, 1e-9));
    EXPECT_THAT(of_class[2], DoubleNear(1, 1e-9));
  }
  EXPECT_EQ(fleet.find("GPU-c")->sessions.size(), 2U);
  EXPECT_EQ(fleet.gpus.size(), 4U);
}

TEST(FleetBook, VirtualGpusOfTwoNodesAreTwo) {
  MeasureBook fleet;
  GpuPlaces places;
  add_node(fleet, places, "n1", node_book({{"VIRTUAL-0", 1.0}}));
  add_node(fleet, places, "n2", node_book({{"VIRTUAL-0", 3.0}}));
  EXPECT_THAT(places.at("n2"), ElementsAre("n2/VIRTUAL-0"));
  EXPECT_EQ(fleet.gpus.size(), 2U);
}

TEST(FleetBook, WhatIsOldIsUnknown) {
  MeasureBook fleet;
  GpuPlaces places;
  add_node(fleet, places, "n1", node_book({{"GPU-a", 1.0}, {"GPU-b", 2.0}}));
  constexpr int64_t kYear_s = 365 * 86'400;
  for (const auto& of_class : fleet_scores(fleet, places, kNodes, kNow_s + kYear_s)) {
    EXPECT_THAT(of_class, Each(1.0));
  }
}

TEST(FleetBook, ANodeIsDueAsItsOldestGpu) {
  MeasureBook fleet;
  GpuPlaces places;
  EXPECT_EQ(measured_unix_s(fleet, places, kNodes[0]), 0);
  add_node(fleet, places, "n1", node_book({{"GPU-a", 1.0}, {"GPU-b", 1.0}}));
  EXPECT_EQ(measured_unix_s(fleet, places, kNodes[0]), kNow_s);
  MeasureBook again = node_book({{"GPU-a", 1.0}}, kNow_s + 50);
  (void)again.of("GPU-b");  // abandoned: nothing new of it
  add_node(fleet, places, "n1", again);
  EXPECT_EQ(measured_unix_s(fleet, places, kNodes[0]), kNow_s);
  EXPECT_EQ(measured_unix_s(fleet, places, {"n1", 4}), 0) << "it has GPUs that were not measured";
}

TEST(FleetBook, PlacesAreReadAsTheyWereWritten) {
  const GpuPlaces places = {{"n1", {"GPU-a", "GPU-b"}}, {"n2", {}}};
  const auto read = parse_places(to_json(places), "f");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, places);
  for (const char* wrong : {"[]", "{}", R"({"version":2,"nodes":{}})", R"({"version":1})",
                            R"({"version":1,"nodes":{"n":[1]}})"}) {
    EXPECT_FALSE(parse_places(wrong, "f")) << wrong;
  }
  EXPECT_EQ(places_path("a/scores.csv"), "a/scores.places.json");
}

}  // namespace
}  // namespace goban::core::knowledge
