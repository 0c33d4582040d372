#include "core/model/import/slurm_nodes.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/number.hpp"
#include "core/model/import/host_list.hpp"
#include "core/model/import/slurm_json.hpp"
#include "core/model/import/slurm_text.hpp"

namespace goban::core::model {
namespace {

using base::Result;

constexpr int64_t kMiB = int64_t{1} << 20;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : separator;
    depth += c == '(' ? 1 : 0;
    depth -= c == ')' ? 1 : 0;
    if (i < text.size() && (c != separator || depth > 0)) continue;
    if (i > begin) parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

/// A count of GPUs: "4", "1K" (gres.conf allows suffixes).
std::optional<int64_t> parse_count(std::string_view text) {
  constexpr int64_t kMost = 1'000'000;
  const auto count = base::parse_int(text);
  if (!count || *count < 0 || *count > kMost) return std::nullopt;
  return count;
}

/// Number of sockets in a list such as "0-1" or "0,2-3"; 0 if the text is not such a list.
int64_t count_sockets(std::string_view list) {
  const auto names = expand_host_list(fmt::format("[{}]", list));
  return names ? static_cast<int64_t>(names->size()) : 0;
}

void add_type(SlurmGpus& gpus, std::string_view type, int64_t count) {
  gpus.count += count;
  if (type.empty() || count == 0) return;
  if (gpus.type.empty()) {
    gpus.type = type;
  } else if (("+" + gpus.type + "+").find("+" + std::string(type) + "+") == std::string::npos) {
    gpus.type += '+';
    gpus.type += type;
  }
}

tl::unexpected<base::Error> bad_gres(std::string_view entry) {
  return base::bad_data({}, fmt::format("\"{}\" has no valid number of GPUs", entry.substr(0, 80)),
                        "generic resources have the form gpu:a100:4(S:0-1)");
}

/// FUTURE nodes are placeholders of the configuration.
bool is_future(std::string_view state) { return state.find("FUTURE") != state.npos; }

Result<SiteNode> node_of(const SlurmRecord& record) {
  SiteNode node;
  node.place = record.place;
  node.name = record.value("NodeName");
  SlurmNodeFacts facts;
  facts.gres = record.value("Gres");
  facts.tres = record.value("CfgTRES");
  facts.state = record.value("State");
  const char* cpus = record.find("CPUTot") != nullptr ? "CPUTot" : "CPUs";
  for (const auto& [key, value] : {std::pair{cpus, &facts.cpus},
                                   {"RealMemory", &facts.mem_mib},
                                   {"TmpDisk", &facts.disk_mib}}) {
    const auto number = record.whole(key);
    if (!number) return base::failure(number.error());
    *value = *number;
  }
  for (const std::string_view name : split(record.value("Partitions"), ',')) {
    node.partitions.emplace_back(name);
  }
  if (auto status = set_slurm_facts(facts, node); !status) {
    base::Error error = status.error();
    const std::string key = error.place.field == "tres" ? "CfgTRES" : "Gres";
    const SlurmRecord::Field* field = record.find(key);
    error.place = {record.place.file, field != nullptr ? field->line : record.place.line, 0, key};
    return base::failure(std::move(error));
  }
  return node;
}

}  // namespace

Result<SlurmGpus> parse_slurm_gres(std::string_view gres) {
  SlurmGpus gpus;
  if (gres == "(null)" || gres == "N/A") return gpus;
  for (std::string_view entry : split(gres, ',')) {
    // "gpu:a100:4(S:0-1)", "gpu:tesla:no_consume:4", "gres/gpu:4", "gpu" for one.
    if (entry.starts_with("gres/")) entry.remove_prefix(5);
    const size_t open = entry.find('(');
    std::string_view sockets = open == entry.npos ? std::string_view{} : entry.substr(open);
    const std::vector<std::string_view> parts = split(entry.substr(0, open), ':');
    if (parts.empty() || parts.front() != "gpu") continue;
    int64_t count = 1;
    if (parts.size() > 1) {
      const auto number = parse_count(parts.back());
      if (!number) return bad_gres(entry);
      count = *number;
    }
    const bool typed = parts.size() > 2 && parts[1] != "no_consume";
    add_type(gpus, typed ? parts[1] : std::string_view{}, count);
    if (sockets.starts_with("(S:") && sockets.ends_with(")")) {
      sockets = sockets.substr(3, sockets.size() - 4);
      gpus.sockets = std::max(gpus.sockets, count_sockets(sockets));
    }
  }
  return gpus;
}

Result<SlurmGpus> parse_slurm_tres(std::string_view tres) {
  SlurmGpus typed;
  SlurmGpus plain;
  for (const std::string_view entry : split(tres, ',')) {
    const size_t equals = entry.find('=');
    if (!entry.starts_with("gres/gpu") || equals == entry.npos) continue;
    const auto count = parse_count(entry.substr(equals + 1));
    if (!count) return bad_gres(entry);
    const std::string_view name = entry.substr(0, equals);
    constexpr std::string_view kTyped = "gres/gpu:";
    if (name == "gres/gpu") {
      add_type(plain, {}, *count);
    } else if (name.starts_with(kTyped)) {
      add_type(typed, name.substr(kTyped.size()), *count);
    }
  }
  // The plain entry counts all types; typed entries may be missing.
  plain.type = typed.type;
  return plain.count > 0 ? plain : typed;
}

bool slurm_state_usable(std::string_view state) {
  const auto has = [state](std::string_view word) { return state.find(word) != state.npos; };
  // POWERED_DOWN and POWERING_DOWN nodes save energy and wake up for jobs.
  const bool asleep = has("POWERED_DOWN") || has("POWERING_DOWN") || has("POWER_DOWN");
  const bool down = !asleep && has("DOWN");
  return !down && !has("DRAIN") && !has("FAIL") && !has("FUTURE") && !has("INVAL") && !has("ERROR");
}

base::Status set_slurm_facts(const SlurmNodeFacts& facts, SiteNode& node) {
  const auto gres = parse_slurm_gres(facts.gres);
  if (!gres) {
    base::Error error = gres.error();
    error.place.field = "gres";
    return base::failure(std::move(error));
  }
  const auto tres = parse_slurm_tres(facts.tres);
  if (!tres) {
    base::Error error = tres.error();
    error.place.field = "tres";
    return base::failure(std::move(error));
  }
  // Gres lists what the node has; CfgTRES, what is accounted, is used if Gres is empty.
  const SlurmGpus& gpus = gres->count > 0 ? *gres : *tres;
  constexpr int64_t kMost = int64_t{1} << 40;
  for (const int64_t value : {facts.cpus, facts.mem_mib, facts.disk_mib}) {
    if (value < 0 || value > kMost) {
      return base::bad_data({}, fmt::format("{} is out of range", value),
                            "check cpus, memory and disk");
    }
  }
  constexpr int64_t kCoresMost = INT32_MAX;
  node.num_gpus = gpus.count;
  node.gpu_model = gpus.type.empty() ? tres->type : gpus.type;
  node.sockets = gpus.sockets;
  node.host.cores = static_cast<int32_t>(std::min(facts.cpus, kCoresMost));
  node.host.mem_bytes = facts.mem_mib * kMiB;
  node.host.ssd_bytes = facts.disk_mib * kMiB;
  node.state = facts.state;
  node.usable = slurm_state_usable(facts.state);
  return {};
}

base::Result<SiteNodes> parse_slurm_nodes(std::string_view text, const std::string& file) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  Result<SiteNodes> site = SiteNodes{};
  if (first != text.npos && text[first] == '{') {
    site = parse_slurm_json(text, file);
    if (!site) return site;
  } else {
    const auto records = parse_slurm_records(text, file, {"NodeName"});
    if (!records) return base::failure(records.error());
    for (const SlurmRecord& record : *records) {
      auto node = node_of(record);
      if (!node) return base::failure(node.error());
      site->nodes.push_back(std::move(*node));
    }
  }
  const size_t before = site->nodes.size();
  std::erase_if(site->nodes, [](const SiteNode& node) { return is_future(node.state); });
  if (before > site->nodes.size()) {
    site->notes.push_back(base::counted(
        before - site->nodes.size(), "node in state FUTURE is excluded: it does not exist yet",
        "nodes in state FUTURE are excluded: they do not exist yet"));
  }
  const auto mixed = std::ranges::find_if(site->nodes, [](const SiteNode& node) {
    return node.gpu_model.find('+') != std::string::npos;
  });
  if (mixed != site->nodes.end()) {
    site->notes.push_back(
        fmt::format("{} has GPUs of several types: a cluster file has one per node, named {}",
                    mixed->name, mixed->gpu_model));
  }
  if (site->nodes.empty()) {
    return base::bad_data({file, 0, 0, ""}, "contains no nodes",
                          "pass the output of scontrol show node, with or without --json, or of "
                          "sinfo --json");
  }
  return site;
}

}  // namespace goban::core::model
