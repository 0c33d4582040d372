// For tests: a small site with identical GPUs.
#pragma once

#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "core/knowledge/energy/power_presets.hpp"
#include "core/model/job_history.hpp"
#include "core/policy/make_knowledge.hpp"
#include "live/controller/controller.hpp"

namespace goban::live::loop {

/// Nodes n0, n1, ... with `gpus_each` GPUs; all scores are 1. `between_nodes` is the locality
/// penalty.
inline controller::Site test_site(int nodes, int gpus_each, std::string_view policy,
                                  double between_nodes = 1) {
  core::model::ClusterBuilder builder("test");
  const uint32_t gpu = builder.add_gpu_model({.name = "test", .mem_bytes = int64_t{16} << 30});
  for (int i = 0; i < nodes; ++i) {
    core::model::ClusterBuilder::Placed placed;
    placed.node.name = fmt::format("n{}", i);
    placed.node.num_gpus = static_cast<decltype(placed.node.num_gpus)>(gpus_each);
    placed.node.gpu_model = gpu;
    builder.add_node(placed);
  }
  controller::Site site;
  site.cluster = *builder.build();
  site.scores = core::knowledge::PmScores::uniform(site.cluster.num_gpus());
  site.penalties = core::knowledge::LocalityPenalties(site.cluster, between_nodes);
  site.composition = *core::policy::compose(std::string(policy));
  return site;
}

/// Adds the power model of V100 nodes and a co-location history.
inline void add_knowledge(
    controller::Site& site,
    std::optional<core::knowledge::ColocationHistory> colocation = std::nullopt) {
  core::policy::KnowledgeSources sources;
  sources.colocation = std::move(colocation);
  sources.power = *core::knowledge::make_power_presets("v100");
  core::model::JobHistory no_jobs;
  auto made = core::policy::make_knowledge(std::move(sources), site.cluster, no_jobs);
  site.knowledge = std::make_shared<core::policy::SiteKnowledge>(std::move(made->knowledge));
}

/// Speeds of the model "net" on 1 to 12 GPUs.
inline void add_speeds(controller::Site& site) {
  auto speeds = std::make_shared<core::model::JobSpeeds>();
  const core::model::ModelId net(site.models.intern("net"));
  double steps_per_s = 1;
  for (int32_t gpus = 1; gpus <= 12; ++gpus) {
    speeds->add(net, 0, 0, {.gpus = gpus, .steps_per_s = steps_per_s});
    steps_per_s += 1.0 / (1 + 0.2 * gpus);
  }
  site.speeds = std::move(speeds);
}

}  // namespace goban::live::loop
