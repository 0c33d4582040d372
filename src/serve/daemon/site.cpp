#include "serve/daemon/site.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "base/text_file.hpp"
#include "core/knowledge/colocation/colocation_file.hpp"
#include "core/model/cluster_file.hpp"
#include "core/policy/make_knowledge.hpp"
#include "serve/api/cpu_jobs.hpp"
#include "site/inputs/inputs.hpp"

namespace goban::serve::daemon {

using base::Result;
using base::Status;
using base::gpus::LocalGpu;

namespace {

constexpr size_t kColocationBytesMax = size_t{256} << 20;

std::string machine_name(const ServeConfig& config) {
  if (!config.node.empty()) return config.node;
  std::string name(256, '\0');
  if (gethostname(name.data(), name.size()) != 0) return "localhost";
  name.resize(std::min(name.find('\0'), name.find('.')));
  return name.empty() ? "localhost" : name;
}

Result<core::model::Cluster> machine_cluster(const ServeConfig& config,
                                             const std::vector<LocalGpu>& gpus) {
  core::model::ClusterBuilder builder(machine_name(config));
  const LocalGpu& first = gpus.front();
  core::model::ClusterBuilder::Placed placed;
  placed.node.gpu_model = builder.add_gpu_model({.name = first.name,
                                                 .mem_bytes = first.mem_bytes,
                                                 .power_max_w = first.power_max_w,
                                                 .power_idle_w = first.power_idle_w,
                                                 .memory_enforced = first.memory_enforced});
  placed.node.name = machine_name(config);
  placed.node.num_gpus = static_cast<uint32_t>(gpus.size());
  placed.node.host = {.cores = static_cast<int32_t>(std::thread::hardware_concurrency()),
                      .mem_bytes = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE)};
  builder.add_resource_type(api::core_slots(placed.node.host));
  for (const core::model::ResourceType& type : config.resource_types) {
    if (!core::model::fits_on(type, placed.node)) {
      return base::usage_error(
          fmt::format("resource type {} does not fit on this machine: {} GPUs, {} cores, {} MiB",
                      type.name, placed.node.num_gpus, placed.node.host.cores,
                      placed.node.host.mem_bytes >> 20),
          "reduce its gpus, cores or memory; ssd is not supported here");
    }
    builder.add_resource_type(type);
  }
  builder.add_node(std::move(placed));
  return builder.build();
}

Status add_rules(const ServeConfig& config, live::controller::Site& site) {
  if (config.accounts.empty()) return {};
  core::model::JobHistory names;
  auto rules = site::inputs::read_site_rules(config.accounts, names);
  if (!rules) return base::failure(rules.error());
  site.composition.rules = std::make_shared<core::model::SiteRules>(std::move(*rules));
  site.accounts = std::move(names.accounts);
  site.users = std::move(names.users);
  site.partitions = std::move(names.partitions);
  site.qos = std::move(names.qos);
  return {};
}

Status add_knowledge(const ServeConfig& config, live::controller::Site& site) {
  if (config.energy.empty() && config.colocation.empty()) return {};
  core::policy::KnowledgeSources sources;
  if (!config.colocation.empty()) {
    const auto text = base::read_text_file(config.colocation, kColocationBytesMax);
    if (!text) return base::failure(text.error());
    auto history = core::knowledge::parse_colocation(*text, config.colocation);
    if (!history) return base::failure(history.error());
    sources.colocation = std::move(*history);
  }
  if (!config.energy.empty()) {
    auto power = site::inputs::resolve_power(config.energy);
    if (!power) return base::failure(power.error());
    sources.power = std::move(*power);
  }
  core::model::JobHistory no_jobs;
  auto made = core::policy::make_knowledge(std::move(sources), site.cluster, no_jobs);
  if (!made) return base::failure(made.error());
  site.knowledge = std::make_shared<core::policy::SiteKnowledge>(std::move(made->knowledge));
  return {};
}

}  // namespace

Result<live::controller::Site> make_site(const ServeConfig& config,
                                         const std::vector<LocalGpu>& gpus) {
  live::controller::Site site;
  auto cluster = machine_cluster(config, gpus);
  if (!cluster) return base::failure(cluster.error());
  site.cluster = std::move(*cluster);
  site.penalties = core::knowledge::LocalityPenalties(site.cluster, 1);
  site.scores = core::knowledge::PmScores::uniform(site.cluster.num_gpus());
  if (!config.scores.empty()) {
    auto scores = site::inputs::read_scores(config.scores, site.cluster.num_gpus());
    if (!scores) return base::failure(scores.error());
    site.scores = std::move(*scores);
  }
  auto composition = core::policy::compose(config.policy);
  if (!composition) return base::failure(composition.error());
  if (composition->simulation_only()) {
    return base::usage_error(
        fmt::format("policy '{}' requires true job durations, which exist only in simulation",
                    config.policy),
        "use another policy; goban policies lists them");
  }
  site.composition = std::move(*composition);
  if (auto status = set_sharing(config, site.composition.options); !status) {
    return base::failure(status.error());
  }
  for (const Status& status : {add_rules(config, site), add_knowledge(config, site)}) {
    if (!status) return base::failure(status.error());
  }
  const Status known = core::policy::check_knowledge(
      site.composition, site.knowledge != nullptr,
      "set `energy` and `colocation`, or use a policy that does not require them");
  if (!known) return base::failure(known.error());
  site.seed = config.seed;
  site.keep_ended_ns = config.keep_ended_ns;
  site.reservations = config.reservations;
  site.jobs_per_user_max = config.jobs_per_user_max;
  return site;
}

}  // namespace goban::serve::daemon
