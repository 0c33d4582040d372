#include "serve/daemon/serve_config.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <tuple>
#include <unistd.h>

#include "base/config.hpp"
#include "base/text_file.hpp"
#include "core/model/cluster_file.hpp"
#include "core/policy/policy_options.hpp"
#include "live/engine/engines.hpp"
#include "serve/api/api_client.hpp"
#include "serve/api/submission.hpp"
#include "site/inputs/inputs.hpp"

namespace goban::serve::daemon {

using base::ConfigProblems;
using base::Result;
using base::TableReader;

namespace {

constexpr size_t kFileBytesMax = 1 << 20;
constexpr int64_t kVirtualGpusMax = 255;  // maximum GPUs of a node
constexpr double kSlownessMax = 100;
constexpr const char* kClusterPolicy = "easy-backfill+pal";
constexpr uint32_t kForEverybody = 0666;  // peer credentials identify the callers

bool is_same_type(const core::model::ResourceType& one, const core::model::ResourceType& other) {
  const auto all = [](const core::model::ResourceType& type) {
    return std::tie(type.name, type.gpus, type.host, type.max_instances, type.walltime_max_ns,
                    type.walltime_default_ns);
  };
  return all(one) == all(other);
}

void read_resource_types(TableReader& root, ServeConfig& config) {
  for (TableReader& table : root.tables("resource_type")) {
    core::model::ResourceType type = core::model::read_resource_type(table);
    const bool is_taken =
        std::ranges::find(config.resource_types, type.name, &core::model::ResourceType::name) !=
            config.resource_types.end() ||
        type.name == api::kSlots;
    if (is_taken) {
      table.refuse("name", fmt::format("duplicate name '{}'; names must be unique", type.name),
                   fmt::format("use another name; {} is reserved for the cores of the machine",
                               api::kSlots));
    }
    config.resource_types.push_back(std::move(type));
  }
}

/// Whether the key is `yes` (the default) rather than "none".
bool is_enabled(TableReader& root, const char* key, const char* yes) {
  const std::string word = root.text(key, yes);
  if (word != yes && word != "none") {
    root.refuse(key, "unknown value \"" + word + "\"",
                "must be \"" + std::string(yes) + "\" or \"none\"");
  }
  return word == yes;
}

/// What belongs to this machine, and what to a cluster.
void check_engine_keys(TableReader& root, const ServeConfig& config) {
  if (live::engine::submit_command(config.engine) == nullptr) {
    if (!config.cluster.empty()) {
      root.refuse("cluster", "engine \"" + config.engine.name + "\" runs jobs on this machine",
                  "omit it");
    }
    return;
  }
  for (const char* key : {"virtual_gpus", "virtual_slowness", "virtual_devices", "resource_type"}) {
    if (root.has(key)) {
      root.refuse(key, "is for jobs on this machine, not for engine \"" + config.engine.name + "\"",
                  "omit it");
    }
  }
  if (!config.scores.empty() && config.cluster.empty()) {
    root.refuse("scores", "needs the key cluster: scores are in the order of its nodes",
                "goban cluster import slurm writes such a file");
  }
}

live::controller::JobLimits read_limits(TableReader& root) {
  live::controller::JobLimits limits{.time_default_ns = root.duration("time_default"),
                                     .time_max_ns = root.duration("time_max"),
                                     .mem_default_bytes = root.bytes("mem_default"),
                                     .mem_max_bytes = root.bytes("mem_max")};
  if (limits.time_max_ns > 0 && limits.time_default_ns > limits.time_max_ns) {
    root.refuse("time_default", "is above time_max", "lower it");
  }
  if (limits.mem_max_bytes > 0 && limits.mem_default_bytes > limits.mem_max_bytes) {
    root.refuse("mem_default", "is above mem_max", "lower it");
  }
  return limits;
}

live::controller::ReservationRules read_reservation_rules(TableReader& table) {
  live::controller::ReservationRules rules;
  const std::string who = table.text("who", "operators");
  rules.by_users = who == "users";
  if (!rules.by_users && who != "operators") {
    table.refuse("who", "unknown value", "must be operators or users");
  }
  rules.unit_ns = table.duration("unit", rules.unit_ns);
  if (rules.unit_ns < base::kSecond) table.refuse("unit", "must be at least 1 s", "such as 1d");
  rules.longest_ns = table.duration("longest", rules.longest_ns);
  if (rules.longest_ns < rules.unit_ns) {
    table.refuse("longest", "must not be shorter than unit", "such as 30d");
  }
  rules.ahead_ns = table.duration("ahead", rules.ahead_ns);
  rules.nodes_max = static_cast<int32_t>(table.whole("nodes_max", 0, INT32_MAX, 0));
  return rules;
}

void read_staging(TableReader& table, ServeConfig& config) {
  if (table.has("gateway_command")) config.gateway_command = table.texts("gateway_command");
  if (config.gateway_command.empty()) {
    table.refuse("gateway_command", "is empty", "write the words of a command, such as \"ssh\"");
  }
  config.staging_user = table.text("user");
  config.stage_retry_ns = table.duration("retry", config.stage_retry_ns);
  config.stage_retry_max_ns = table.duration("retry_max", config.stage_retry_max_ns);
  if (config.stage_retry_ns < base::kSecond)
    table.refuse("retry", "must be at least 1 s", "such as 10s");
  if (config.stage_retry_max_ns < config.stage_retry_ns) {
    table.refuse("retry_max", "must not be shorter than retry", "such as 10m");
  }
}

}  // namespace

Result<ServeConfig> parse_serve_config(std::string_view toml, const std::string& file) {
  const auto document = base::parse_config(toml, file);
  if (!document) return base::failure(document.error());
  ConfigProblems problems(file);
  TableReader root(*document, "", problems);
  ServeConfig config;
  config.state = root.text("state");
  config.node = root.text("node");
  config.engine = live::engine::read_engine(root);
  config.cluster = root.text("cluster");
  const bool is_cluster = live::engine::submit_command(config.engine) != nullptr;
  config.policy = root.text("policy", is_cluster ? kClusterPolicy : config.policy);
  config.virtual_gpus = static_cast<int32_t>(root.whole("virtual_gpus", 0, kVirtualGpusMax, 0));
  config.virtual_slowness = root.numbers("virtual_slowness", 1, kSlownessMax);
  config.virtual_devices = root.texts("virtual_devices");
  config.tiers = root.text("tiers");
  config.scores = root.text("scores");
  config.accounts = root.text("accounts");
  config.energy = root.text("energy");
  config.colocation = root.text("colocation");
  config.rates = root.text("rates");
  const std::string interpolate = root.text("interpolate_rates", "no");
  config.interpolate_rates = interpolate == "yes";
  if (interpolate != "yes" && interpolate != "no") {
    root.refuse("interpolate_rates", "is neither yes nor no", "write \"yes\" or \"no\"");
  }
  config.sharing = root.texts("sharing");
  config.store = root.text("store");
  config.series = root.text("series");
  config.refresh = is_enabled(root, "refresh", "idle");
  config.learn = is_enabled(root, "learn", "jobs");
  config.keep_ended_ns = root.duration("keep_ended", config.keep_ended_ns);
  config.grace_max_ns = root.duration("grace_max", config.grace_max_ns);
  config.lead_max_ns = root.duration("lead_max", config.lead_max_ns);
  config.limits = read_limits(root);
  config.jobs_per_user_max = static_cast<size_t>(
      root.whole("jobs_per_user", 0, INT32_MAX, static_cast<int64_t>(config.jobs_per_user_max)));
  config.bytes_per_user_max = root.bytes("bytes_per_user", config.bytes_per_user_max);
  config.disk_reserve.bytes = root.bytes("disk_reserve", config.disk_reserve.bytes);
  config.disk_reserve.share = root.number("disk_reserve_share", 0, 1, config.disk_reserve.share);
  config.seed = static_cast<uint64_t>(root.whole("seed", 0, INT64_MAX, 1));
  if (config.virtual_slowness.size() > static_cast<size_t>(config.virtual_gpus)) {
    root.refuse("virtual_slowness", "has more entries than virtual_gpus",
                "give one number per virtual GPU");
  }
  if (!config.virtual_devices.empty() &&
      config.virtual_devices.size() != static_cast<size_t>(config.virtual_gpus)) {
    root.refuse("virtual_devices", "must have one entry for each of virtual_gpus",
                "give one device file per virtual GPU");
  }
  core::policy::PolicyOptions unused;
  if (auto status = set_sharing(config, unused); !status) {
    root.refuse("sharing", status.error().message, status.error().remedy);
  }
  read_resource_types(root, config);
  check_engine_keys(root, config);
  if (auto rules = root.table("reservations")) {
    config.reservations = read_reservation_rules(*rules);
    rules->finish();
  }
  if (auto staging = root.table("staging")) {
    read_staging(*staging, config);
    staging->finish();
  }
  if (auto service = root.table("service")) {
    config.service = api::read_service_options(*service, config.service);
    service->finish();
  }
  root.finish();
  if (auto status = problems.status(); !status) return base::failure(status.error());
  return config;
}

base::Status set_sharing(const ServeConfig& config, core::policy::PolicyOptions& options) {
  options.rules = core::policy::kLiveSharing;
  for (const std::string& setting : config.sharing) {
    if (auto status = core::policy::set_option(options, setting); !status) return status;
  }
  return {};
}

Result<ServeConfig> read_serve_config(const std::string& path) {
  const auto text = base::read_text_file(path, kFileBytesMax);
  if (!text) return base::failure(text.error());
  auto config = parse_serve_config(*text, path);
  if (!config) return config;
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  const auto from_here = [&](std::string& name) {
    if (!name.empty()) name = folder / name;
  };
  from_here(config->state);
  if (site::inputs::is_cluster_file(config->cluster)) from_here(config->cluster);
  from_here(config->tiers);
  from_here(config->scores);
  from_here(config->accounts);
  from_here(config->colocation);
  from_here(config->rates);
  from_here(config->service.certificate_file);
  from_here(config->service.key_file);
  from_here(config->service.callers.token_file);
  from_here(config->service.socket);
  if (config->energy.ends_with(".toml")) from_here(config->energy);
  if (config->series != "none") from_here(config->series);
  if (config->store.find(':') == std::string::npos) from_here(config->store);
  return config;
}

void add_defaults(ServeConfig& config) {
  const bool is_usual = config.state.empty();
  if (is_usual) config.state = api::default_state_folder();
  config.state = std::filesystem::absolute(config.state).lexically_normal();
  if (config.store.empty()) config.store = config.state + "/store.sqlite";
  if (config.series.empty()) config.series = config.state + "/series";
  config.service.many_users = geteuid() == 0;
  config.service.own_token_folder = config.state;
  if (!config.service.socket.empty()) return;
  const bool for_all = is_usual && geteuid() == 0 && std::getenv("GOBAN_STATE") == nullptr;
  config.service.socket = for_all ? std::string(api::kSystemSocket) : config.state + "/goban.sock";
  if (for_all) config.service.socket_mode = kForEverybody;
}

std::vector<std::string> keys_for_restart(const ServeConfig& running, const ServeConfig& fresh) {
  std::vector<std::string> keys;
  const auto compare = [&](const char* key, const auto& one, const auto& other) {
    if (!(one == other)) keys.emplace_back(key);
  };
  compare("state", running.state, fresh.state);
  compare("policy", running.policy, fresh.policy);
  compare("node", running.node, fresh.node);
  compare("engine", running.engine, fresh.engine);
  compare("cluster", running.cluster, fresh.cluster);
  compare("virtual_gpus", running.virtual_gpus, fresh.virtual_gpus);
  compare("virtual_slowness", running.virtual_slowness, fresh.virtual_slowness);
  compare("virtual_devices", running.virtual_devices, fresh.virtual_devices);
  compare("tiers", running.tiers, fresh.tiers);
  compare("staging.gateway_command", running.gateway_command, fresh.gateway_command);
  compare("staging.user", running.staging_user, fresh.staging_user);
  compare("staging.retry", running.stage_retry_ns, fresh.stage_retry_ns);
  compare("staging.retry_max", running.stage_retry_max_ns, fresh.stage_retry_max_ns);
  compare("scores", running.scores, fresh.scores);
  compare("accounts", running.accounts, fresh.accounts);
  compare("energy", running.energy, fresh.energy);
  compare("colocation", running.colocation, fresh.colocation);
  compare("rates", running.rates, fresh.rates);
  compare("interpolate_rates", running.interpolate_rates, fresh.interpolate_rates);
  compare("sharing", running.sharing, fresh.sharing);
  compare("store", running.store, fresh.store);
  compare("series", running.series, fresh.series);
  if (!std::ranges::equal(running.resource_types, fresh.resource_types, is_same_type)) {
    keys.emplace_back("resource_type");
  }
  compare("refresh", running.refresh, fresh.refresh);
  compare("learn", running.learn, fresh.learn);
  compare("keep_ended", running.keep_ended_ns, fresh.keep_ended_ns);
  compare("jobs_per_user", running.jobs_per_user_max, fresh.jobs_per_user_max);
  compare("bytes_per_user", running.bytes_per_user_max, fresh.bytes_per_user_max);
  compare("disk_reserve", running.disk_reserve, fresh.disk_reserve);
  compare("grace_max", running.grace_max_ns, fresh.grace_max_ns);
  compare("lead_max", running.lead_max_ns, fresh.lead_max_ns);
  compare("time_default", running.limits.time_default_ns, fresh.limits.time_default_ns);
  compare("time_max", running.limits.time_max_ns, fresh.limits.time_max_ns);
  compare("mem_default", running.limits.mem_default_bytes, fresh.limits.mem_default_bytes);
  compare("mem_max", running.limits.mem_max_bytes, fresh.limits.mem_max_bytes);
  compare("seed", running.seed, fresh.seed);
  compare("reservations", running.reservations, fresh.reservations);
  compare("service.socket", running.service.socket, fresh.service.socket);
  compare("service.socket_access", running.service.socket_mode, fresh.service.socket_mode);
  compare("service.listen", running.service.listen, fresh.service.listen);
  compare("service.requests_per_s", running.service.requests_per_s, fresh.service.requests_per_s);
  compare("service.requests_burst", running.service.requests_burst, fresh.service.requests_burst);
  compare("service.file_timeout", running.service.files.timeout_ns, fresh.service.files.timeout_ns);
  const base::http::HttpLimits& old_limits = running.service.limits;
  const base::http::HttpLimits& new_limits = fresh.service.limits;
  compare("service.connections_max", old_limits.connections_max, new_limits.connections_max);
  compare("service.streams_max", old_limits.streams_max, new_limits.streams_max);
  compare("service.workers", old_limits.workers, new_limits.workers);
  return keys;
}

}  // namespace goban::serve::daemon
