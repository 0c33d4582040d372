#include "serve/daemon/made_with.hpp"

#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "base/number.hpp"
#include "base/sha256.hpp"
#include "base/text_file.hpp"
#include "base/units.hpp"
#include "core/knowledge/scores_file.hpp"

namespace goban::serve::daemon {

namespace {

constexpr size_t kFileBytesMax = size_t{256} << 20;

std::string digest(std::string_view text) { return base::hex(base::sha256(text)).substr(0, 16); }

/// Digest of a file's bytes; anything else is the name of a preset and returned unchanged.
base::Result<std::string> digest_of(const std::string& file) {
  std::error_code none;
  if (file.empty() || !std::filesystem::is_regular_file(file, none)) return file;
  const auto text = base::read_text_file(file, kFileBytesMax);
  if (!text) return base::failure(text.error());
  return digest(*text);
}

std::string cluster_text(const core::model::Cluster& cluster) {
  std::string out;
  for (const core::model::Node& node : cluster.nodes()) {
    out += fmt::format("{} {} {} {}\n", node.name, node.num_gpus, node.host.cores,
                       node.host.mem_bytes);
  }
  for (const core::model::GpuModel& gpu : cluster.gpu_models()) {
    out += fmt::format("{} {}\n", gpu.name, gpu.mem_bytes);
  }
  for (const core::model::ResourceType& type : cluster.resource_types()) {
    out += fmt::format("{} {} {} {}\n", type.name, type.gpus, type.host.cores, type.host.mem_bytes);
  }
  return out;
}

/// Journals record preemption by its number, after the names of the other parts.
std::string parts_text(const core::policy::Composition& composition) {
  std::string out;
  for (const core::policy::Part* part : composition.parts) {
    // Before there were sizes, journals did not say that they were fixed.
    const bool fixed =
        part->kind == core::policy::PartKind::Size && composition.is_standard(part->kind);
    if (part->kind == core::policy::PartKind::Preemption || fixed) continue;
    out += fmt::format("{}+", part->name);
  }
  return out + std::to_string(static_cast<int>(composition.preemption()));
}

constexpr const char* kStaging = "staging";

/// "retry=10s retry_max=10m", and "user=77:7:name".
std::string staging_text(const live::controller::StagingRules& rules) {
  std::string out = fmt::format("retry={} retry_max={}", base::duration_text(rules.retry_ns),
                                base::duration_text(rules.retry_max_ns));
  if (!rules.others) return out;
  return out +
         fmt::format(" user={}:{}:{}", rules.others->uid, rules.others->gid, rules.others->user);
}

/// What is after `name` and "=", up to a blank.
std::string_view word_of(const std::string& text, const std::string& name) {
  const std::string whole = " " + text;
  const size_t found = whole.find(" " + name + "=");
  if (found == std::string::npos) return {};
  const std::string_view rest = std::string_view(text).substr(found + name.size() + 1);
  return rest.substr(0, rest.find(' '));
}

void read_staging(const std::string& text, live::controller::StagingRules& rules) {
  if (const auto retry = base::parse_duration(word_of(text, "retry"))) rules.retry_ns = *retry;
  if (const auto most = base::parse_duration(word_of(text, "retry_max"))) {
    rules.retry_max_ns = *most;
  }
  rules.others.reset();
  const std::string_view user = word_of(text, "user");
  const size_t first = user.find(':');
  const size_t second = first == user.npos ? first : user.find(':', first + 1);
  if (second == user.npos) return;
  const auto uid = base::parse_int(user.substr(0, first));
  const auto gid = base::parse_int(user.substr(first + 1, second - first - 1));
  if (!uid || !gid) return;
  rules.others = live::job::Owner{.uid = static_cast<uint32_t>(*uid),
                                  .gid = static_cast<uint32_t>(*gid),
                                  .user = std::string(user.substr(second + 1)),
                                  .realm = {}};
}

}  // namespace

base::Result<live::journal::InputFacts> made_with(const ServeConfig& config,
                                                  const live::controller::Site& site) {
  live::journal::InputFacts out = {
      {"policy", config.policy},
      {"engine", config.engine.name},
      {"parts", parts_text(site.composition)},
      {"sharing", fmt::format("{}", fmt::join(config.sharing, " "))},
      {"seed", fmt::format("{}", site.seed)},
      {"gpus", fmt::format("{}", site.cluster.num_gpus())},
      {"keep_ended_s", fmt::format("{}", site.keep_ended_ns / base::kSecond)},
      {"cluster", digest(cluster_text(site.cluster))},
      {"scores", digest(core::knowledge::to_csv(site.scores))}};
  if (!site.cluster.gpu_models().empty()) {
    const core::model::GpuModel& gpu = site.cluster.gpu_models().front();
    out["gpu_name"] = gpu.name;
    out["gpu_mem_bytes"] = fmt::format("{}", gpu.mem_bytes);
    out["gpu_memory_enforced"] = gpu.memory_enforced ? "yes" : "no";
  }
  if (site.staging.fast) {
    out["fast_tier"] = fmt::format("{} {}", site.staging.fast->size_bytes, site.staging.fast->path);
    out[kStaging] = staging_text(site.staging);
  }
  const std::array<std::pair<const char*, const std::string*>, 3> files = {
      {{"accounts", &config.accounts},
       {"energy", &config.energy},
       {"colocation", &config.colocation}}};
  for (const auto& [name, file] : files) {
    auto of_file = digest_of(*file);
    if (!of_file) return base::failure(of_file.error());
    out[name] = std::move(*of_file);
  }
  if (config.rates.empty()) return out;
  auto of_rates = digest_of(config.rates);
  if (!of_rates) return base::failure(of_rates.error());
  out["rates"] = std::move(*of_rates) + (config.interpolate_rates ? " interpolated" : "");
  return out;
}

std::vector<base::gpus::LocalGpu> recorded_gpus(const live::journal::InputFacts& facts) {
  const auto number = [&](const char* name) {
    const auto found = facts.find(name);
    return found == facts.end() ? std::nullopt : base::parse_int(found->second);
  };
  const auto count = number("gpus");
  const auto mem_bytes = number("gpu_mem_bytes");
  constexpr int64_t kGpusMax = 100'000;
  if (!count || !mem_bytes || *count < 1 || *count > kGpusMax) return {};
  base::gpus::LocalGpu gpu;
  gpu.name = facts.contains("gpu_name") ? facts.at("gpu_name") : "";
  gpu.mem_bytes = *mem_bytes;
  gpu.memory_enforced =
      !facts.contains("gpu_memory_enforced") || facts.at("gpu_memory_enforced") == "yes";
  return std::vector<base::gpus::LocalGpu>(static_cast<size_t>(*count), gpu);
}

std::optional<core::model::StorageTier> recorded_tier(const live::journal::InputFacts& facts) {
  const auto found = facts.find("fast_tier");
  if (found == facts.end()) return std::nullopt;
  const size_t blank = found->second.find(' ');
  const auto bytes = base::parse_int(std::string_view(found->second).substr(0, blank));
  if (blank == std::string::npos || !bytes || *bytes <= 0) return std::nullopt;
  return core::model::StorageTier{
      .name = "fast", .path = found->second.substr(blank + 1), .size_bytes = *bytes};
}

live::controller::StagingRules recorded_staging(const std::vector<live::journal::MadeWith>& made,
                                                size_t num_records,
                                                const live::controller::StagingRules& now) {
  live::controller::StagingRules out = now;
  const live::journal::MadeWith* last = nullptr;
  for (const live::journal::MadeWith& each : made) {
    // A daemon that ended before its first record decided nothing.
    if (last == nullptr || std::cmp_less(each.from, num_records)) last = &each;
  }
  if (last == nullptr) return out;
  auto tier = recorded_tier(last->facts);
  if (tier && now.fast) {
    out.fast->size_bytes = tier->size_bytes;
    out.fast->path = tier->path;
  } else {
    out.fast = std::move(tier);
  }
  const auto found = last->facts.find(kStaging);
  if (found != last->facts.end()) read_staging(found->second, out);
  return out;
}

std::optional<live::controller::StagingRules> other_staging(
    const std::vector<live::journal::MadeWith>& made, size_t num_records,
    const live::controller::StagingRules& now) {
  auto then = recorded_staging(made, num_records, now);
  const auto place = [](const live::controller::StagingRules& rules) {
    return rules.fast ? fmt::format("{} {}", rules.fast->size_bytes, rules.fast->path)
                      : std::string{};
  };
  // Without a tier nothing is staged, whatever the rest is.
  if (place(then) == place(now) && (!now.fast || staging_text(then) == staging_text(now))) {
    return std::nullopt;
  }
  return then;
}

std::vector<std::string> differences(const live::journal::InputFacts& then,
                                     const live::journal::InputFacts& now) {
  std::vector<std::string> out;
  const auto shown = [](const std::string& value) { return value.empty() ? "none" : value; };
  for (const auto& [name, value] : now) {
    const auto before = then.find(name);
    if (before == then.end() || before->second == value) continue;
    out.push_back(fmt::format("{}: {} then, {} now", name, shown(before->second), shown(value)));
  }
  return out;
}

}  // namespace goban::serve::daemon
