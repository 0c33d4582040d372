#include "core/model/tenants.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <rapidcheck.h>
#include <set>
#include <string>

namespace goban::core::model {
namespace {

using testing::ElementsAre;

Cluster two_nodes() {
  ClusterBuilder builder("two");
  const uint32_t gpu = builder.add_gpu_model(GpuModel{"V100"});
  for (const char* name : {"a", "b"}) {
    ClusterBuilder::Placed placed;
    placed.node.name = name;
    placed.node.num_gpus = 4;
    placed.node.gpu_model = gpu;
    builder.add_node(placed);
  }
  return builder.build().value();
}

std::vector<GpuId> gpus(std::initializer_list<uint32_t> numbers) {
  std::vector<GpuId> out;
  for (const uint32_t number : numbers) out.emplace_back(number);
  return out;
}

class TenantsTest : public testing::Test {
 public:
  const Cluster cluster = two_nodes();
  Tenants tenants{cluster};
  const TraitsId plain = tenants.intern({AppId(1U)});
  const TraitsId other = tenants.intern({AppId(2U)});
  const JobId a{0U}, b{1U}, c{2U};
};

TEST_F(TenantsTest, TraitsAreNumberedOnce) {
  EXPECT_EQ(tenants.intern({AppId(1U)}), plain);
  EXPECT_NE(plain, other);
  EXPECT_EQ(tenants.traits(other).app, AppId(2U));
}

TEST_F(TenantsTest, AJobOnTheSameGpusJoinsTheGroup) {
  tenants.add(a, plain, gpus({0, 1}), 5);
  EXPECT_TRUE(tenants.take_changed().empty()) << "nobody has a neighbour yet";
  tenants.add(b, other, gpus({1, 0}), 7);
  ASSERT_EQ(tenants.groups_of(a).size(), 1U);
  const Tenants::Group& group = tenants.group(tenants.groups_of(a).front());
  EXPECT_THAT(group.jobs, ElementsAre(a, b));
  EXPECT_THAT(group.gpus, ElementsAre(GpuId(0U), GpuId(1U)));
  EXPECT_EQ(group.changed_ns, 7);
  EXPECT_THAT(tenants.take_changed(), ElementsAre(a, b));
  EXPECT_TRUE(tenants.take_changed().empty());
  tenants.remove(a, 9);
  EXPECT_THAT(tenants.take_changed(), ElementsAre(b));
  tenants.remove(b, 9);
  EXPECT_FALSE(tenants.group_of(GpuId(0U)).valid());
}

TEST_F(TenantsTest, APartOfAGroupSplitsItUntilTheJobLeaves) {
  tenants.add(a, plain, gpus({0, 1, 2, 3}), 0);
  tenants.add(b, other, gpus({1, 2}), 1);
  EXPECT_EQ(tenants.groups_of(a).size(), 2U);
  EXPECT_EQ(tenants.group(tenants.group_of(GpuId(3U))).gpus, gpus({0, 3}));
  EXPECT_EQ(tenants.group(tenants.group_of(GpuId(1U))).jobs, (std::vector<JobId>{a, b}));
  tenants.remove(b, 2);
  ASSERT_EQ(tenants.groups_of(a).size(), 1U);
  EXPECT_EQ(tenants.group(tenants.groups_of(a).front()).gpus, gpus({0, 1, 2, 3}));
}

TEST_F(TenantsTest, KindsTellGroupsAlike) {
  tenants.add(a, plain, gpus({0, 1}), 0);
  tenants.add(b, plain, gpus({4, 5}), 0);
  tenants.add(c, plain, gpus({3, 7}), 0);
  const KindId kind = tenants.group(tenants.group_of(GpuId(0U))).kind;
  EXPECT_EQ(tenants.kind(kind).groups.size(), 2U);
  EXPECT_TRUE(tenants.kind(kind).one_node);
  const KindId spanning = tenants.group(tenants.group_of(GpuId(3U))).kind;
  EXPECT_FALSE(tenants.kind(spanning).one_node);
  EXPECT_THAT(tenants.kinds_of_size(2), ElementsAre(kind, spanning));
  EXPECT_TRUE(tenants.kinds_of_size(1).empty());
  EXPECT_TRUE(tenants.kinds_of_size(9).empty());
}

TEST(TenantsOfSeveralModelsTest, AGroupHasGpusOfOneModel) {
  ClusterBuilder builder("mixed");
  const uint32_t v100 = builder.add_gpu_model(GpuModel{"V100"});
  const uint32_t k80 = builder.add_gpu_model(GpuModel{"K80"});
  int number = 0;
  for (const uint32_t gpu_model : {v100, k80, v100}) {
    ClusterBuilder::Placed placed;
    placed.node.name = "node" + std::to_string(number++);
    placed.node.num_gpus = 2;
    placed.node.gpu_model = gpu_model;
    builder.add_node(placed);
  }
  const Cluster cluster = builder.build().value();
  Tenants tenants(cluster);
  const TraitsId plain = tenants.intern({AppId(1U)});
  const JobId whole{0U}, part{1U};
  tenants.add(whole, plain, gpus({0, 1, 2, 3, 4, 5}), 0);
  ASSERT_EQ(tenants.groups_of(whole).size(), 2U);
  const Tenants::Group& fast = tenants.group(tenants.group_of(GpuId(0U)));
  EXPECT_EQ(fast.gpus, gpus({0, 1, 4, 5}));
  EXPECT_EQ(tenants.kind(fast.kind).gpu_model, v100);
  const Tenants::Group& slow = tenants.group(tenants.group_of(GpuId(2U)));
  EXPECT_EQ(slow.gpus, gpus({2, 3}));
  EXPECT_EQ(tenants.kind(slow.kind).gpu_model, k80);
  tenants.add(part, plain, gpus({1, 2}), 1);
  EXPECT_EQ(tenants.groups_of(whole).size(), 4U);
  tenants.remove(part, 2);
  EXPECT_EQ(tenants.groups_of(whole).size(), 2U) << "those of one model are one again";
}

TEST_F(TenantsTest, APowerLimitIsAChange) {
  tenants.add(a, plain, gpus({0}), 0);
  tenants.set_cap(tenants.group_of(GpuId(0U)), 2);
  EXPECT_THAT(tenants.take_changed(), ElementsAre(a));
  tenants.set_cap(tenants.group_of(GpuId(0U)), 2);
  EXPECT_TRUE(tenants.take_changed().empty());
}

/// After any sequence of adds and removes, groups are the sets of GPUs held by the same jobs.
TEST(TenantsPropertyTest, GroupsAreTheClassesOfGpusWithTheSameJobs) {
  const bool holds = rc::check([] {
    const Cluster cluster = two_nodes();
    Tenants tenants(cluster);
    std::map<JobId, std::set<GpuId>> held;
    const auto steps = *rc::gen::container<std::vector<std::pair<uint8_t, uint8_t>>>(
        rc::gen::pair(rc::gen::arbitrary<uint8_t>(), rc::gen::arbitrary<uint8_t>()));
    uint32_t next = 0;
    for (const auto& [what, mask] : steps) {
      if (what % 3 == 0 && !held.empty()) {
        const auto gone = std::next(held.begin(), mask % static_cast<long>(held.size()));
        tenants.remove(gone->first, next);
        held.erase(gone);
      } else if (mask != 0) {
        const JobId job(next++);
        std::vector<GpuId> wanted;
        for (uint32_t gpu = 0; gpu < 8; ++gpu) {
          if ((mask >> gpu & 1) != 0) wanted.emplace_back(gpu);
        }
        tenants.add(job, tenants.intern({AppId(uint32_t{what} % 3)}), wanted, next);
        held[job] = {wanted.begin(), wanted.end()};
      }
      std::map<std::set<JobId>, std::set<GpuId>> classes;
      for (uint32_t gpu = 0; gpu < 8; ++gpu) {
        std::set<JobId> jobs;
        for (const auto& [job, on] : held) {
          if (on.contains(GpuId(gpu))) jobs.insert(job);
        }
        RC_ASSERT(tenants.group_of(GpuId(gpu)).valid() == !jobs.empty());
        if (!jobs.empty()) classes[jobs].insert(GpuId(gpu));
      }
      for (const auto& [jobs, on] : classes) {
        const Tenants::Group& group = tenants.group(tenants.group_of(*on.begin()));
        RC_ASSERT((std::set<JobId>(group.jobs.begin(), group.jobs.end()) == jobs));
        RC_ASSERT((std::set<GpuId>(group.gpus.begin(), group.gpus.end()) == on));
        RC_ASSERT(group.traits.size() == group.jobs.size());
        const auto& alike = tenants.kind(group.kind).groups;
        RC_ASSERT(std::ranges::find(alike, tenants.group_of(*on.begin())) != alike.end());
      }
      size_t in_kinds = 0;
      for (uint32_t size = 1; size <= tenants.largest_size(); ++size) {
        for (const KindId kind : tenants.kinds_of_size(size)) {
          RC_ASSERT(!tenants.kind(kind).groups.empty());
          in_kinds += tenants.kind(kind).groups.size();
        }
      }
      RC_ASSERT(in_kinds == classes.size());
    }
  });
  EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace goban::core::model
