// Jobs without GPUs as slots of one core.
#include "serve/api/cpu_jobs.hpp"

#include <gtest/gtest.h>

namespace goban::serve::api {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

core::model::Cluster machine(bool sells_slots = true) {
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

live::job::JobSpec job(int32_t cores, int64_t mem_bytes) {
  live::job::JobSpec spec;
  spec.num_gpus = 0;
  spec.cores = cores;
  spec.mem_bytes = mem_bytes;
  return spec;
}

TEST(CpuJobs, CoresAndMemoryBecomeSlots) {
  const auto cluster = machine();
  auto plain = job(0, 0);
  ASSERT_TRUE(fit_into_slots(plain, cluster));
  EXPECT_EQ(plain.resource_type, "cores");
  EXPECT_EQ(plain.instances, 1);
  EXPECT_EQ(plain.mem_bytes, 0);  // no limit was requested
  auto wide = job(6, kGiB);
  ASSERT_TRUE(fit_into_slots(wide, cluster));
  EXPECT_EQ(wide.instances, 6);
  EXPECT_EQ(wide.cores, 1);
  EXPECT_GE(wide.mem_bytes * wide.instances, kGiB);
  EXPECT_LT(wide.mem_bytes * wide.instances, kGiB + 6);
  auto fat = job(1, 10 * kGiB);  // 4 GiB per slot
  ASSERT_TRUE(fit_into_slots(fat, cluster));
  EXPECT_EQ(fat.instances, 3);
}

TEST(CpuJobs, WhatIsTooMuchIsNamed) {
  const auto cluster = machine();
  auto cores = job(9, 0);
  const auto many = fit_into_slots(cores, cluster);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().place.field, "cores");
  auto memory = job(1, 33 * kGiB);
  const auto much = fit_into_slots(memory, cluster);
  ASSERT_FALSE(much);
  EXPECT_EQ(much.error().place.field, "mem_bytes");
}

TEST(CpuJobs, OthersAreLeftAlone) {
  auto with_gpu = job(4, kGiB);
  with_gpu.num_gpus = 1;
  const auto before = with_gpu;
  ASSERT_TRUE(fit_into_slots(with_gpu, machine()));
  EXPECT_EQ(with_gpu, before);
  auto elsewhere = job(4, kGiB);
  ASSERT_TRUE(fit_into_slots(elsewhere, machine(false)));
  EXPECT_TRUE(elsewhere.resource_type.empty());
}

}  // namespace
}  // namespace goban::serve::api
