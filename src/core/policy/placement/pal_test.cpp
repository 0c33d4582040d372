// Compares PM-First and PAL with a literal, slow implementation of their rules (PAL: PM-First and
// PAL placement, docs/papers.md).
#include <algorithm>
#include <gmock/gmock.h>
#include <map>
#include <rapidcheck.h>

#include "core/policy/placement/test_cluster.hpp"
#include "core/policy/test_part.hpp"

namespace goban::core::policy {
namespace {

using testing::ElementsAre;

struct State {
  uint32_t nodes = 0;
  uint32_t gpus_per_node = 0;
  std::vector<double> bins;
  std::vector<bool> taken;
  double across = 1;
};

/// PM-First: sort by (bin, |c - n|, id).
std::vector<uint32_t> literal_pm_first(const State& s, uint32_t n, double bin_max) {
  std::vector<uint32_t> candidates;
  std::map<std::pair<double, uint32_t>, int> group;
  for (uint32_t gpu = 0; gpu < s.bins.size(); ++gpu) {
    if (s.taken[gpu] || s.bins[gpu] > bin_max) continue;
    candidates.push_back(gpu);
    ++group[{s.bins[gpu], gpu / s.gpus_per_node}];
  }
  if (candidates.size() < n) return {};
  std::ranges::sort(candidates, {}, [&](uint32_t gpu) {
    const int c = group[{s.bins[gpu], gpu / s.gpus_per_node}];
    return std::tuple(s.bins[gpu], std::abs(c - static_cast<int>(n)), gpu);
  });
  candidates.resize(n);
  return candidates;
}

/// PAL "within", by enumeration of all combinations on all nodes.
std::vector<uint32_t> literal_within(const State& s, uint32_t n, double bin_max) {
  using Rank = std::tuple<double, int, uint32_t, std::vector<uint32_t>>;
  std::vector<Rank> options;
  for (uint32_t node = 0; node < s.nodes; ++node) {
    std::vector<uint32_t> eligible;
    for (uint32_t i = 0; i < s.gpus_per_node; ++i) {
      const uint32_t gpu = node * s.gpus_per_node + i;
      if (!s.taken[gpu] && s.bins[gpu] <= bin_max) eligible.push_back(gpu);
    }
    for (uint32_t mask = 0; mask < 1u << eligible.size(); ++mask) {
      if (static_cast<uint32_t>(std::popcount(mask)) != n) continue;
      std::vector<uint32_t> gpus;
      double worst = 0;
      for (size_t i = 0; i < eligible.size(); ++i) {
        if ((mask >> i & 1) == 0) continue;
        gpus.push_back(eligible[i]);
        worst = std::max(worst, s.bins[eligible[i]]);
      }
      options.emplace_back(worst, -static_cast<int>(eligible.size()), node, gpus);
    }
  }
  return options.empty() ? std::vector<uint32_t>{} : std::get<3>(std::ranges::min(options));
}

std::vector<uint32_t> literal_pal(const State& s, uint32_t n) {
  const double all = *std::ranges::max_element(s.bins);
  if (n == 1 || n > s.gpus_per_node) return literal_pm_first(s, n, all);
  struct Entry {
    double product;
    double bin;
    bool within;
  };
  std::vector<Entry> entries;
  std::vector<double> seen;
  for (const double bin : s.bins) {
    if (std::ranges::find(seen, bin) != seen.end()) continue;
    seen.push_back(bin);
    entries.push_back({bin * 1.0, bin, true});
    entries.push_back({bin * s.across, bin, false});
  }
  std::ranges::stable_sort(entries, {}, &Entry::product);
  for (const Entry& entry : entries) {
    const auto gpus =
        entry.within ? literal_within(s, n, entry.bin) : literal_pm_first(s, n, entry.bin);
    if (!gpus.empty()) return gpus;
  }
  return {};
}

State draw_state() {
  State s;
  s.nodes = *rc::gen::inRange<uint32_t>(1, 6);
  s.gpus_per_node = *rc::gen::inRange<uint32_t>(1, 6);
  const auto total = s.nodes * s.gpus_per_node;
  const std::vector<double> values = {0.87, 0.9, 1.0, 1.05, 1.53, 1.7, 2.6};
  s.bins = *rc::gen::container<std::vector<double>>(total, rc::gen::elementOf(values));
  s.taken = *rc::gen::container<std::vector<bool>>(
      total, rc::gen::weightedElement<bool>({{2, false}, {1, true}}));
  s.across = *rc::gen::element(1.0, 1.1, 1.7, 3.0);
  return s;
}

TestCluster make(const State& s) {
  TestCluster cluster(s.nodes, s.gpus_per_node, s.bins, s.across);
  for (uint32_t gpu = 0; gpu < s.bins.size(); ++gpu) {
    if (s.taken[gpu]) cluster.take(gpu);
  }
  return cluster;
}

TEST(PalProperty, ArtifactPlacementsAreThoseOfTheSpecification) {
  EXPECT_TRUE(rc::check([] {
    const State s = draw_state();
    const TestCluster cluster = make(s);
    const auto n = *rc::gen::inRange<uint32_t>(1, s.gpus_per_node * 2 + 2);
    RC_ASSERT(cluster.place(*test_part("pal-paper").placement, n) == literal_pal(s, n));
    const double all = *std::ranges::max_element(s.bins);
    RC_ASSERT(cluster.place(*test_part("pm-first").placement, n) == literal_pm_first(s, n, all));
  }));
}

TEST(PalProperty, OnAFlatClusterEveryLevelAndTheArtifactAgree) {
  EXPECT_TRUE(rc::check([] {
    const State s = draw_state();
    const TestCluster cluster = make(s);
    const auto n = *rc::gen::inRange<uint32_t>(1, s.gpus_per_node + 1);
    RC_ASSERT(cluster.place(*test_part("pal").placement, n) ==
              cluster.place(*test_part("pal-paper").placement, n));
  }));
}

TEST(PalProperty, NoOtherChoiceHasALowerProduct) {
  // Optimality: no set of free GPUs runs the job faster (by bins).
  EXPECT_TRUE(rc::check([] {
    State s = draw_state();
    s.nodes = std::min(s.nodes, 3u);
    s.gpus_per_node = std::min(s.gpus_per_node, 4u);
    const size_t total = size_t{s.nodes} * s.gpus_per_node;
    s.bins.resize(total);
    s.taken.resize(total);
    const TestCluster cluster = make(s);
    const auto n = *rc::gen::inRange<uint32_t>(2, static_cast<uint32_t>(total) + 1);
    const auto cost = [&](const std::vector<uint32_t>& gpus) {
      double worst = 0;
      bool spans = false;
      for (const uint32_t gpu : gpus) {
        worst = std::max(worst, s.bins[gpu]);
        spans = spans || gpu / s.gpus_per_node != gpus.front() / s.gpus_per_node;
      }
      return worst * (spans ? s.across : 1.0);
    };
    const auto chosen = cluster.place(*test_part("pal").placement, n);
    for (uint32_t mask = 0; mask < 1u << total; ++mask) {
      if (static_cast<uint32_t>(std::popcount(mask)) != n) continue;
      std::vector<uint32_t> gpus;
      for (uint32_t gpu = 0; gpu < total; ++gpu) {
        if ((mask >> gpu & 1) != 0 && !s.taken[gpu]) gpus.push_back(gpu);
      }
      if (gpus.size() != n) continue;
      RC_ASSERT(chosen.size() == n);
      RC_ASSERT(cost(chosen) <= cost(gpus));
    }
  }));
}

TEST(Pal, SensitiveJobIsPlacedAsPmFirstWould) {
  // Two good GPUs on different nodes; spanning costs less than slow GPUs of one node.
  const TestCluster cluster(2, 2, {0.9, 1.5, 0.9, 1.5}, 1.1);
  EXPECT_THAT(cluster.place(*test_part("pal").placement, 2), ElementsAre(0, 2));
  EXPECT_EQ(cluster.place(*test_part("pal").placement, 2),
            cluster.place(*test_part("pm-first").placement, 2));
}

TEST(Pal, InsensitiveJobIsPlacedPurelyByLocality) {
  // One bin for all: the node with the most free GPUs, as without scores.
  TestCluster cluster(3, 4, std::vector<double>(12, 1.0), 1.7);
  cluster.take(0);
  EXPECT_THAT(cluster.place(*test_part("pal").placement, 3), ElementsAre(4, 5, 6));
  for (uint32_t gpu : {4u, 5u, 8u, 9u}) cluster.take(gpu);  // free: 3, 2, 2
  EXPECT_THAT(cluster.place(*test_part("pal").placement, 3), ElementsAre(1, 2, 3));
}

TEST(Pal, RacksAreALevelOfTheirOwn) {
  // Rack 0: nodes 0, 1 with slow GPUs; rack 1: nodes 2, 3 with fast ones. Four GPUs span nodes.
  const std::vector<double> bins = {1.2, 1.2, 1.2, 1.2, 1.0, 1.0, 1.0, 1.2};
  TestCluster cluster(4, 2, bins, 1.0, 2);
  const size_t rack = cluster.cluster().node_level() + 1;
  cluster.penalties().set_level(rack, 1.3);
  cluster.penalties().set_level(rack + 1, 2.0);
  EXPECT_THAT(cluster.place(*test_part("pal").placement, 3), ElementsAre(4, 5, 6));
  cluster.take(
      6);  // only two fast GPUs remain: a slow one in the rack is better than leaving the rack
  EXPECT_THAT(cluster.place(*test_part("pal").placement, 3), ElementsAre(0, 1, 2));
}

TEST(Pal, OneNodeRequestsStayOnANodeWhateverItCosts) {
  const TestCluster cluster(2, 2, {0.9, 1.5, 0.9, 1.5}, 1.1);
  EXPECT_THAT(cluster.place(*test_part("pal").placement, 2, true), ElementsAre(0, 1));
  EXPECT_THAT(cluster.place(*test_part("pm-first").placement, 2, true), ElementsAre(0, 1));
}

}  // namespace
}  // namespace goban::core::policy
