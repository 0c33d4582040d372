// Writes a Cluster as TOML, with identical nodes in groups: the inverse of cluster_file.cpp.
#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <optional>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "core/model/cluster_file.hpp"
#include "core/model/name_pattern.hpp"

namespace goban::core::model {
namespace {

void add_line(std::string& out, std::string_view key, std::string_view value) {
  fmt::format_to(std::back_inserter(out), "{} = {}\n", key, value);
}

void add_bytes(std::string& out, std::string_view key, int64_t bytes) {
  if (bytes > 0) add_line(out, key, base::quoted(base::bytes_text(bytes)));
}

void add_number(std::string& out, std::string_view key, double value) {
  if (value > 0) add_line(out, key, base::number_text(value));
}

void add_host(std::string& out, const HostResources& host) {
  if (host.cores > 0) add_line(out, "cores", std::to_string(host.cores));
  add_bytes(out, "memory", host.mem_bytes);
  add_bytes(out, "ssd", host.ssd_bytes);
}

/// Domain of every node at a level. A node without GPUs belongs to the empty domain at its position
/// if there is one without a node, otherwise to the preceding domain.
std::vector<uint32_t> domains_of_nodes(const Cluster& cluster, const TopologyLevel& level,
                                       size_t index) {
  std::vector<uint32_t> domains;
  std::optional<uint32_t> current;
  for (const Node& node : cluster.nodes()) {
    if (node.num_gpus > 0) {
      current = cluster.domain_of(index, GpuId(node.first_gpu));
    } else {
      const uint32_t next = current ? *current + 1 : 0;
      const bool is_empty = next + 1 < level.first_gpu.size() &&
                            level.first_gpu[next] == node.first_gpu &&
                            level.first_gpu[next + 1] == node.first_gpu;
      if (is_empty || !current) current = next;
    }
    domains.push_back(*current);
  }
  return domains;
}

/// All properties of a node except its name, as the reader expects them.
struct NodeFacts {
  uint32_t num_gpus = 0;
  uint32_t gpu_model = 0;
  uint32_t islands = 1;
  HostResources host;
  std::optional<uint32_t> rack;
  std::optional<uint32_t> zone;
  std::optional<uint32_t> site;

  [[nodiscard]] bool is_like(const NodeFacts& other) const {
    return num_gpus == other.num_gpus && gpu_model == other.gpu_model && islands == other.islands &&
           host == other.host && zone == other.zone && site == other.site;
  }
};

std::vector<NodeFacts> facts_of(const Cluster& cluster) {
  std::vector<NodeFacts> facts;
  for (const Node& node : cluster.nodes()) {
    NodeFacts& fact = facts.emplace_back();
    fact.num_gpus = node.num_gpus;
    fact.gpu_model = node.gpu_model;
    fact.host = node.host;
    if (cluster.node_level() > 0 && node.num_gpus > 0) {
      fact.islands = cluster.domain_of(0, GpuId(node.end_gpu() - 1)) -
                     cluster.domain_of(0, GpuId(node.first_gpu)) + 1;
    }
  }
  const auto fill = [&](std::string_view name, std::optional<uint32_t> NodeFacts::* member) {
    const auto level = std::ranges::find(cluster.levels(), name, &TopologyLevel::name);
    if (level == cluster.levels().end()) return;
    const auto index = static_cast<size_t>(level - cluster.levels().begin());
    const std::vector<uint32_t> domains = domains_of_nodes(cluster, *level, index);
    for (size_t i = 0; i < facts.size(); ++i) facts[i].*member = domains[i];
  };
  fill("rack", &NodeFacts::rack);
  fill("zone", &NodeFacts::zone);
  fill("site", &NodeFacts::site);
  return facts;
}

/// Consecutive nodes that one [[nodes]] can describe: identical, with consecutive numbers.
struct Run {
  size_t begin = 0;
  size_t end = 0;
  NamePattern pattern;
  int64_t start = 0;
};

std::vector<Run> find_runs(const Cluster& cluster, const std::vector<NodeFacts>& facts) {
  std::vector<Run> runs;
  for (size_t i = 0; i < facts.size(); ++i) {
    const std::string& name = cluster.nodes()[i].name;
    if (!runs.empty()) {
      Run& run = runs.back();
      const int64_t number = run.start + static_cast<int64_t>(i - run.begin);
      if (facts[i].is_like(facts[run.begin]) && run.pattern.has_number() &&
          run.pattern.name(number) == name) {
        run.end = i + 1;
        continue;
      }
    }
    Run& run = runs.emplace_back();
    run.begin = i;
    run.end = i + 1;
    run.pattern = NamePattern::of_name(name, run.start);
  }
  return runs;
}

/// Nodes per rack if racks of one size fill the run (the last may be smaller); otherwise 0.
size_t nodes_per_rack(const std::vector<NodeFacts>& facts, const Run& run) {
  const auto same = [&](size_t a, size_t b) { return facts[a].rack == facts[b].rack; };
  if (run.begin > 0 && same(run.begin - 1, run.begin)) return 0;
  if (run.end < facts.size() && same(run.end - 1, run.end)) return 0;
  size_t size = 1;
  while (run.begin + size < run.end && same(run.begin, run.begin + size)) ++size;
  for (size_t i = run.begin + 1; i < run.end; ++i) {
    if (same(i - 1, i) != ((i - run.begin) % size != 0)) return 0;
  }
  return size;
}

void add_nodes(std::string& out, const Cluster& cluster, const std::vector<NodeFacts>& facts,
               const Run& run, size_t rack_size) {
  const NodeFacts& fact = facts[run.begin];
  out += "\n[[nodes]]\n";
  add_line(out, "count", std::to_string(run.end - run.begin));
  add_line(out, "name", base::quoted(run.pattern.text()));
  if (run.pattern.has_number()) add_line(out, "start", std::to_string(run.start));
  add_line(out, "gpus", std::to_string(fact.num_gpus));
  if (!cluster.gpu_models().empty()) {
    add_line(out, "gpu_model", base::quoted(cluster.gpu_models()[fact.gpu_model].name));
  }
  if (fact.islands > 1) add_line(out, "islands", std::to_string(fact.islands));
  add_host(out, fact.host);
  if (rack_size > 0) {
    add_line(out, "nodes_per_rack", std::to_string(rack_size));
  } else if (fact.rack) {
    add_line(out, "rack", base::quoted(fmt::format("rack{}", *fact.rack)));
  }
  if (fact.zone) add_line(out, "zone", base::quoted(fmt::format("zone{}", *fact.zone)));
  if (fact.site) add_line(out, "site", base::quoted(fmt::format("site{}", *fact.site)));
}

void add_run(std::string& out, const Cluster& cluster, const std::vector<NodeFacts>& facts,
             Run run) {
  if (!facts[run.begin].rack) return add_nodes(out, cluster, facts, run, 0);
  const size_t size = nodes_per_rack(facts, run);
  if (size > 0) return add_nodes(out, cluster, facts, run, size);
  while (run.begin < run.end) {
    Run part = run;
    part.end = run.begin + 1;
    while (part.end < run.end && facts[part.end].rack == facts[run.begin].rack) ++part.end;
    add_nodes(out, cluster, facts, part, 0);
    run.start += static_cast<int64_t>(part.end - run.begin);
    run.begin = part.end;
  }
}

void add_links(std::string& out, const Cluster& cluster) {
  for (const TopologyLevel& level : cluster.levels()) {
    if (level.bandwidth_bytes_per_s == 0 && level.latency_s == 0 && !level.locality_penalty) {
      continue;
    }
    out += "\n[[link]]\n";
    add_line(out, "level", base::quoted(level.name));
    add_number(out, "bandwidth", level.bandwidth_bytes_per_s);
    if (level.latency_s > 0) {
      add_line(out, "latency",
               base::quoted(base::duration_text(base::from_seconds(level.latency_s))));
    }
    if (level.locality_penalty) add_number(out, "locality_penalty", *level.locality_penalty);
  }
}

/// The GPU model whose nodes are those on which the type may lie; null: it may lie on every node.
const GpuModel* model_of(const ResourceType& type, const Cluster& cluster) {
  const auto first = std::ranges::find(type.nodes, true);
  if (first == type.nodes.end()) return nullptr;
  const Node& node = cluster.nodes()[static_cast<size_t>(first - type.nodes.begin())];
  return &cluster.gpu_models()[node.gpu_model];
}

void add_resource_types(std::string& out, const Cluster& cluster) {
  for (const ResourceType& type : cluster.resource_types()) {
    out += "\n[[resource_type]]\n";
    add_line(out, "name", base::quoted(type.name));
    if (type.gpus > 0) add_line(out, "gpus", std::to_string(type.gpus));
    add_host(out, type.host);
    if (const GpuModel* model = model_of(type, cluster); model != nullptr) {
      add_line(out, "gpu_model", base::quoted(model->name));
    }
    add_line(out, "max_instances", std::to_string(type.max_instances));
    if (type.walltime_max_ns > 0) {
      add_line(out, "walltime_max", base::quoted(base::duration_text(type.walltime_max_ns)));
    }
    if (type.walltime_default_ns > 0) {
      add_line(out, "walltime_default",
               base::quoted(base::duration_text(type.walltime_default_ns)));
    }
  }
}

}  // namespace

std::string to_toml(const Cluster& cluster) {
  std::string out;
  if (!cluster.name().empty()) add_line(out, "name", base::quoted(cluster.name()));
  for (const GpuModel& gpu : cluster.gpu_models()) {
    out += "\n[[gpu_model]]\n";
    add_line(out, "name", base::quoted(gpu.name));
    add_bytes(out, "memory", gpu.mem_bytes);
    add_number(out, "power_max_w", gpu.power_max_w);
    add_number(out, "power_idle_w", gpu.power_idle_w);
  }
  const std::vector<NodeFacts> facts = facts_of(cluster);
  for (const Run& run : find_runs(cluster, facts)) add_run(out, cluster, facts, run);
  add_links(out, cluster);
  add_resource_types(out, cluster);
  return out;
}

}  // namespace goban::core::model
