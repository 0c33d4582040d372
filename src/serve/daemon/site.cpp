#include "serve/daemon/site.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <pwd.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "base/host_name.hpp"
#include "base/text_file.hpp"
#include "core/model/cluster_file.hpp"
#include "core/policy/make_knowledge.hpp"
#include "live/engine/engines.hpp"
#include "serve/api/submission.hpp"
#include "site/inputs/inputs.hpp"
#include "study/history/rates.hpp"

namespace goban::serve::daemon {

using base::Result;
using base::Status;
using base::gpus::LocalGpu;

namespace {

std::string machine_name(const ServeConfig& config) {
  if (!config.node.empty()) return config.node;
  std::string name = base::host_name().value_or("");
  name.resize(std::min(name.size(), name.find('.')));
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

/// The cluster of the file, or one that its engine replaces by what it sees: a node that nobody
/// names, as a cluster needs one. Untyped GPUs get the first model.
Result<core::model::Cluster> engine_cluster(const ServeConfig& config) {
  if (!config.cluster.empty()) return site::inputs::resolve_cluster(config.cluster);
  core::model::ClusterBuilder builder(config.node.empty() ? config.engine.name : config.node);
  core::model::ClusterBuilder::Placed placed;
  placed.node.gpu_model = builder.add_gpu_model({.name = "GPU"});
  placed.node.name = "(not seen yet)";
  placed.node.num_gpus = 1;
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
    auto history = site::inputs::read_colocation(config.colocation);
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

Status add_rates(const ServeConfig& config, live::controller::Site& site) {
  if (config.rates.empty()) return {};
  const auto text = base::read_text_file(config.rates);
  if (!text) return base::failure(text.error());
  const auto rows = study::history::parse_rates(*text, config.rates);
  if (!rows) return base::failure(rows.error());
  const auto number = [&site](const std::string& model) {
    return core::model::ModelId(site.models.intern(model));
  };
  auto speeds = study::history::make_speeds(*rows, config.rates, site.cluster, number,
                                            config.interpolate_rates);
  if (!speeds) return base::failure(speeds.error());
  site.speeds = std::make_shared<core::model::JobSpeeds>(std::move(*speeds));
  return {};
}

Status add_staging(const ServeConfig& config, live::controller::Site& site) {
  const std::string& file = config.tiers.empty() ? config.cluster : config.tiers;
  if (file.empty()) return {};
  auto tiers = site::inputs::resolve_tiers(file);
  if (!tiers) return base::failure(tiers.error());
  if (!tiers->fast && !config.tiers.empty()) {
    return base::usage_error(file + " has no fast storage tier",
                             "add [[tier]] with kind = \"fast\", or omit tiers");
  }
  if (!tiers->fast) return {};
  if (tiers->fast->path.empty()) {
    return base::usage_error(
        fmt::format("the fast storage tier {} of {} has no path", tiers->fast->name, file),
        "give the folder in which jobs' data is to be copied");
  }
  site.staging.fast = std::move(tiers->fast);
  site.staging.retry_ns = config.stage_retry_ns;
  site.staging.retry_max_ns = config.stage_retry_max_ns;
  if (config.staging_user.empty()) return {};
  const passwd* user = ::getpwnam(config.staging_user.c_str());
  if (user == nullptr) {
    return base::usage_error("staging.user: unknown user " + config.staging_user,
                             "name a user of this machine");
  }
  site.staging.others = live::job::Owner{
      .uid = user->pw_uid, .gid = user->pw_gid, .user = config.staging_user, .realm = {}};
  return {};
}

/// The same policy without the part that lets nodes sleep: its parts by name.
std::string without_sleep(const core::policy::Composition& composition, std::string_view policy) {
  const std::string_view name = core::policy::current_name(policy);
  const auto preset = std::ranges::find(core::policy::presets(), name, &core::policy::Preset::name);
  std::string_view rest = preset == core::policy::presets().end() ? name : preset->parts;
  std::string out;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('+'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    if (part == composition.part(core::policy::PartKind::Power).name) continue;
    out += fmt::format("{}{}", out.empty() ? "" : "+", part);
  }
  return out;
}

}  // namespace

Result<live::controller::Site> make_site(const ServeConfig& config,
                                         const std::vector<LocalGpu>& gpus) {
  live::controller::Site site;
  const char* submit_with = live::engine::submit_command(config.engine);
  if (submit_with != nullptr) site.submit_with = submit_with;
  site.fences_nodes = live::engine::fences_nodes(config.engine);
  site.suspends_jobs = live::engine::suspends_jobs(config.engine);
  site.parts_share_nodes = live::engine::parts_share_nodes(config.engine);
  auto cluster = submit_with != nullptr ? engine_cluster(config) : machine_cluster(config, gpus);
  if (!cluster) return base::failure(cluster.error());
  site.cluster = std::move(*cluster);
  for (const LocalGpu& gpu : gpus) {
    if (std::ranges::find(site.gpu_models, gpu.name) == site.gpu_models.end()) {
      site.gpu_models.push_back(gpu.name);
    }
  }
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
  if (submit_with != nullptr && composition->rests_nodes() &&
      !live::engine::rests_nodes(config.engine)) {
    return base::usage_error(
        fmt::format("policy '{}' lets nodes sleep, and engine {} may not", config.policy,
                    config.engine.name),
        fmt::format("leave that part out, policy = \"{}\", or permit it by `sleep` in [{}]",
                    without_sleep(*composition, config.policy), config.engine.name));
  }
  site.composition = std::move(*composition);
  if (auto status = set_sharing(config, site.composition.options); !status) {
    return base::failure(status.error());
  }
  for (const Status& status : {add_rules(config, site), add_knowledge(config, site),
                               add_rates(config, site), add_staging(config, site)}) {
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
  site.grace_max_ns = config.grace_max_ns;
  site.lead_max_ns = config.lead_max_ns;
  site.limits = config.limits;
  return site;
}

bool is_by_priority(const live::controller::Site& site) {
  return site.composition.part(core::policy::PartKind::Order).name == "priority";
}

}  // namespace goban::serve::daemon
