// Jobs of a resource type get the resources of the type; jobs without GPUs become slots of one
// core.
#include <gtest/gtest.h>

#include "base/time.hpp"
#include "serve/api/submission.hpp"

namespace goban::serve::api {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;
using base::TimeNs;

core::model::Cluster machine() {
  core::model::ClusterBuilder builder("here");
  builder.add_gpu_model({.name = "virtual"});
  core::model::ClusterBuilder::Placed placed;
  placed.node.name = "here";
  placed.node.num_gpus = 4;
  placed.node.host = {.cores = 8, .mem_bytes = 32 * kGiB};
  builder.add_resource_type({.name = "small",
                             .gpus = 2,
                             .host = {.cores = 3, .mem_bytes = 8 * kGiB},
                             .max_instances = 2,
                             .walltime_max_ns = 3600 * base::kSecond,
                             .walltime_default_ns = 60 * base::kSecond});
  builder.add_node(std::move(placed));
  return builder.build().value();
}

live::job::JobSpec job(const std::string& type, int32_t instances = 1) {
  live::job::JobSpec spec;
  spec.resource_type = type;
  spec.instances = instances;
  return spec;
}

TEST(TypedJobs, WhatIsNotSaidFollowsFromTheType) {
  auto two = job("small", 2);
  ASSERT_TRUE(fill_unset(two, machine(), {}));
  EXPECT_EQ(two.num_gpus, 4);
  EXPECT_EQ(two.cores, 3);
  EXPECT_EQ(two.mem_bytes, 8 * kGiB);
  EXPECT_EQ(two.walltime_limit_ns, 60 * base::kSecond);
  auto modest = job("small");
  modest.cores = 1;
  modest.mem_bytes = kGiB;
  modest.walltime_limit_ns = 600 * base::kSecond;
  ASSERT_TRUE(fill_unset(modest, machine(), {}));
  EXPECT_EQ(modest.num_gpus, 2);
  EXPECT_EQ(modest.cores, 1);
  EXPECT_EQ(modest.mem_bytes, kGiB);
  EXPECT_EQ(modest.walltime_limit_ns, 600 * base::kSecond);
}

TEST(TypedJobs, MoreThanTheTypeHasIsNamed) {
  const auto field = [](const live::job::JobSpec& asked) {
    live::job::JobSpec spec = asked;
    const auto fits = fill_unset(spec, machine(), {});
    return fits ? "" : fits.error().place.field;
  };
  auto cores = job("small");
  cores.cores = 4;
  EXPECT_EQ(field(cores), "cores");
  auto memory = job("small");
  memory.mem_bytes = 9 * kGiB;
  EXPECT_EQ(field(memory), "mem_bytes");
  auto time = job("small");
  time.walltime_limit_ns = 7200 * base::kSecond;
  EXPECT_EQ(field(time), "walltime_s");
}

TEST(TypedJobs, OthersAreLeftAlone) {
  for (const char* type : {"", "unheard-of"}) {
    auto other = job(type);
    const auto before = other;
    ASSERT_TRUE(fill_unset(other, machine(), {}));
    EXPECT_EQ(other, before);
  }
}

core::model::Cluster cpu_machine(bool sells_slots = true) {
  core::model::ClusterBuilder builder("here");
  builder.add_gpu_model({.name = "virtual"});
  core::model::ClusterBuilder::Placed placed;
  placed.node.name = "here";
  placed.node.num_gpus = 2;
  placed.node.host = {.cores = 8, .mem_bytes = 32 * kGiB};
  if (sells_slots) builder.add_resource_type(core_slots(placed.node.host));
  builder.add_node(std::move(placed));
  return builder.build().value();
}

live::job::JobSpec cpu_job(int32_t cores, int64_t mem_bytes) {
  live::job::JobSpec spec;
  spec.num_gpus = 0;
  spec.cores = cores;
  spec.mem_bytes = mem_bytes;
  return spec;
}

TEST(CpuJobs, CoresAndMemoryBecomeSlots) {
  const auto cluster = cpu_machine();
  auto plain = cpu_job(0, 0);
  ASSERT_TRUE(fill_unset(plain, cluster, {}));
  EXPECT_EQ(plain.resource_type, "cores");
  EXPECT_EQ(plain.instances, 1);
  EXPECT_EQ(plain.mem_bytes, 0);  // no limit was requested
  auto wide = cpu_job(6, kGiB);
  ASSERT_TRUE(fill_unset(wide, cluster, {}));
  EXPECT_EQ(wide.instances, 6);
  EXPECT_EQ(wide.cores, 1);
  EXPECT_GE(wide.mem_bytes * wide.instances, kGiB);
  EXPECT_LT(wide.mem_bytes * wide.instances, kGiB + 6);
  auto fat = cpu_job(1, 10 * kGiB);  // 4 GiB per slot
  ASSERT_TRUE(fill_unset(fat, cluster, {}));
  EXPECT_EQ(fat.instances, 3);
}

TEST(CpuJobs, WhatIsTooMuchIsNamed) {
  const auto cluster = cpu_machine();
  auto cores = cpu_job(9, 0);
  const auto many = fill_unset(cores, cluster, {});
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().place.field, "cores");
  auto memory = cpu_job(1, 33 * kGiB);
  const auto much = fill_unset(memory, cluster, {});
  ASSERT_FALSE(much);
  EXPECT_EQ(much.error().place.field, "mem_bytes");
}

TEST(CpuJobs, OthersAreLeftAlone) {
  auto with_gpu = cpu_job(4, kGiB);
  with_gpu.num_gpus = 1;
  const auto before = with_gpu;
  ASSERT_TRUE(fill_unset(with_gpu, cpu_machine(), {}));
  EXPECT_EQ(with_gpu, before);
  auto elsewhere = cpu_job(4, kGiB);
  ASSERT_TRUE(fill_unset(elsewhere, cpu_machine(false), {}));
  EXPECT_TRUE(elsewhere.resource_type.empty());
}

TEST(SiteLimits, WhatIsNotSaidFollowsFromTheSite) {
  const live::controller::JobLimits limits{.time_default_ns = base::kHour,
                                           .time_max_ns = 24 * base::kHour,
                                           .mem_default_bytes = 4 * kGiB,
                                           .mem_max_bytes = 16 * kGiB};
  live::job::JobSpec plain;
  ASSERT_TRUE(fill_unset(plain, machine(), limits));
  EXPECT_EQ(plain.walltime_limit_ns, base::kHour);
  EXPECT_EQ(plain.mem_bytes, 4 * kGiB);
  live::job::JobSpec modest{.mem_bytes = kGiB, .walltime_limit_ns = 2 * base::kHour};
  ASSERT_TRUE(fill_unset(modest, machine(), limits));
  EXPECT_EQ(modest.walltime_limit_ns, 2 * base::kHour);
  EXPECT_EQ(modest.mem_bytes, kGiB);
  live::job::JobSpec largest;
  ASSERT_TRUE(fill_unset(largest, machine(),
                         {.time_max_ns = 24 * base::kHour, .mem_max_bytes = 16 * kGiB}));
  EXPECT_EQ(largest.walltime_limit_ns, 24 * base::kHour) << "without a default, the maximum";
  EXPECT_EQ(largest.mem_bytes, 16 * kGiB);
  live::job::JobSpec greedy{.mem_bytes = 17 * kGiB};
  const auto refused = fill_unset(greedy, machine(), limits);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().place.field, "mem_bytes");
  EXPECT_NE(refused.error().text().find("17408 MiB; this site allows at most 16384 MiB"),
            std::string::npos);
  auto typed = job("small");
  ASSERT_TRUE(fill_unset(typed, machine(), {.mem_max_bytes = kGiB}));
  EXPECT_EQ(typed.mem_bytes, 8 * kGiB) << "its type says how much";
}

}  // namespace
}  // namespace goban::serve::api
