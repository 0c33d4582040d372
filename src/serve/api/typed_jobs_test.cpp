// Jobs of a resource type get the resources of the type.
#include "serve/api/typed_jobs.hpp"

#include <gtest/gtest.h>

namespace goban::serve::api {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

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
  ASSERT_TRUE(fit_into_type(two, machine()));
  EXPECT_EQ(two.num_gpus, 4);
  EXPECT_EQ(two.cores, 3);
  EXPECT_EQ(two.mem_bytes, 8 * kGiB);
  EXPECT_EQ(two.walltime_limit_ns, 60 * base::kSecond);
  auto modest = job("small");
  modest.cores = 1;
  modest.mem_bytes = kGiB;
  modest.walltime_limit_ns = 600 * base::kSecond;
  ASSERT_TRUE(fit_into_type(modest, machine()));
  EXPECT_EQ(modest.num_gpus, 2);
  EXPECT_EQ(modest.cores, 1);
  EXPECT_EQ(modest.mem_bytes, kGiB);
  EXPECT_EQ(modest.walltime_limit_ns, 600 * base::kSecond);
}

TEST(TypedJobs, MoreThanTheTypeHasIsNamed) {
  const auto field = [](const live::job::JobSpec& asked) {
    live::job::JobSpec spec = asked;
    const auto fits = fit_into_type(spec, machine());
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
    ASSERT_TRUE(fit_into_type(other, machine()));
    EXPECT_EQ(other, before);
  }
}

}  // namespace
}  // namespace goban::serve::api
