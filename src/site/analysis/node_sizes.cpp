#include "site/analysis/node_sizes.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "base/text.hpp"

namespace goban::site::analysis {
namespace {

using records::RecordRow;

constexpr int32_t kSizeMost = 255;  // the limit of ClusterBuilder

/// GPUs that the job held on each of its nodes, rounded up; 0 = unknown.
int32_t gpus_on_node(const records::RecordTable& table, const RecordRow& row) {
  const auto listed = static_cast<int32_t>(table.nodes_of(row).size());
  const int32_t nodes = listed > 0 ? listed : row.num_nodes;
  if (row.num_gpus <= 0 || nodes <= 0 || row.gpu_share || row.gpu_milli > 0) return 0;
  return std::min((row.num_gpus - 1) / nodes + 1, kSizeMost);
}

/// A job takes or gives back GPUs of a node.
struct NodeEvent {
  uint32_t node;
  int32_t gpus;
  base::TimeNs time_ns;
  friend bool operator<(const NodeEvent& a, const NodeEvent& b) {
    return std::tuple(a.node, a.time_ns, a.gpus) < std::tuple(b.node, b.time_ns, b.gpus);
  }
};

}  // namespace

NodeSizes::NodeSizes(const records::RecordTable& table, const Rules& rules,
                     const core::model::Cluster* cluster, int32_t site_gpus)
    : table_(table),
      site_gpus_(std::clamp(site_gpus, 1, kSizeMost)),
      has_cluster_(cluster != nullptr) {
  all_nodes_ = std::min(rules.gpus_per_node, kSizeMost);
  if (all_nodes_ > 0) return;
  of_partition_.assign(table.partitions().size(), 0);
  for (uint32_t i = 0; i < of_partition_.size(); ++i) {
    const auto found = rules.gpus_per_node_of.find(table.partitions()[i]);
    if (found != rules.gpus_per_node_of.end())
      of_partition_[i] = std::min(found->second, kSizeMost);
  }
  of_node_.assign(table.node_names().size(), 0);
  of_model_.assign(table.gpu_types().size(), 0);
  if (cluster != nullptr) take_cluster(*cluster);
  if (all_nodes_ > 0) return;
  guess_groups();
  if (cluster == nullptr) guess_nodes();
}

void NodeSizes::take_cluster(const core::model::Cluster& cluster) {
  std::set<int32_t> sizes;
  std::map<std::string, std::set<int32_t>> of_model;
  for (const core::model::Node& node : cluster.nodes()) {
    if (node.num_gpus == 0) continue;
    const auto gpus = static_cast<int32_t>(node.num_gpus);
    sizes.insert(gpus);
    if (node.gpu_model < cluster.gpu_models().size()) {
      of_model[base::lowered(cluster.gpu_models()[node.gpu_model].name)].insert(gpus);
    }
  }
  if (sizes.size() == 1) {
    all_nodes_ = *sizes.begin();
    return;
  }
  for (uint32_t i = 0; i < of_node_.size(); ++i) {
    if (const auto node = cluster.find_node(table_.node_names()[i])) {
      of_node_[i] = static_cast<int32_t>(cluster.node(*node).num_gpus);
    }
  }
  for (uint32_t i = 0; i < of_model_.size(); ++i) {
    const auto found = of_model.find(base::lowered(table_.gpu_types()[i]));
    if (found != of_model.end() && found->second.size() == 1) of_model_[i] = *found->second.begin();
  }
}

uint32_t NodeSizes::group_of(const RecordRow& row) const {
  const auto types = static_cast<uint32_t>(table_.gpu_types().size()) + 1;
  const auto or_last = [](uint32_t name, size_t names) {
    return name == records::kNoName ? static_cast<uint32_t>(names) : name;
  };
  return or_last(row.partition, table_.partitions().size()) * types +
         or_last(row.gpu_type, table_.gpu_types().size());
}

void NodeSizes::guess_groups() {
  of_group_.assign((table_.partitions().size() + 1) * (table_.gpu_types().size() + 1), 0);
  for (const RecordRow& row : table_.rows()) {
    int32_t& gpus = of_group_[group_of(row)];
    gpus = std::max(gpus, gpus_on_node(table_, row));
  }
}

void NodeSizes::guess_nodes() {
  std::vector<NodeEvent> events;
  std::vector<int32_t> jobs(of_node_.size(), 0);
  int32_t most = 0;
  for (const RecordRow& row : table_.rows()) {
    const int32_t gpus = gpus_on_node(table_, row);
    if (gpus == 0) continue;
    most = std::max(most, gpus);
    for (const uint32_t node : table_.nodes_of(row)) {
      ++jobs[node];
      of_node_[node] = std::max(of_node_[node], gpus);
      if (row.start_ns < 0 || row.end_ns <= row.start_ns) continue;
      events.push_back({node, gpus, row.start_ns});
      events.push_back({node, -gpus, row.end_ns});
    }
  }
  // Jobs that share a node show its size together. At equal times GPUs are given back first.
  std::ranges::sort(events, std::less<>{});
  uint32_t node = records::kNoName;
  int32_t held = 0;
  for (const NodeEvent& event : events) {
    if (event.node != node) held = 0;
    node = event.node;
    held += event.gpus;
    of_node_[node] = std::max(of_node_[node], std::min(held, most));
  }
  // Few jobs say little of a node: it may have more GPUs than they asked for.
  constexpr int32_t kJobsMin = 10;
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i] < kJobsMin) of_node_[i] = 0;
  }
}

int32_t NodeSizes::nodes_mean(const RecordRow& row) const {
  const auto nodes = table_.nodes_of(row);
  int64_t gpus = 0;
  for (const uint32_t node : nodes) {
    if (of_node_[node] == 0) return 0;
    gpus += of_node_[node];
  }
  const auto count = static_cast<int64_t>(nodes.size());
  return count == 0 ? 0 : static_cast<int32_t>((gpus + count - 1) / count);
}

int32_t NodeSizes::stated(const RecordRow& row) const {
  if (all_nodes_ > 0) return all_nodes_;
  if (row.partition != records::kNoName && of_partition_[row.partition] > 0) {
    return of_partition_[row.partition];
  }
  if (!has_cluster_) return 0;
  if (const int32_t mean = nodes_mean(row); mean > 0) return mean;
  return row.gpu_type == records::kNoName ? 0 : of_model_[row.gpu_type];
}

int32_t NodeSizes::of(const RecordRow& row) const {
  if (const int32_t gpus = stated(row); gpus > 0) return gpus;
  if (const int32_t mean = has_cluster_ ? 0 : nodes_mean(row); mean > 0) return mean;
  const int32_t group = of_group_[group_of(row)];
  if (group == 0) return site_gpus_;
  return has_cluster_ ? std::min(group, site_gpus_) : group;
}

std::string NodeSizes::guessed() const {
  if (all_nodes_ > 0) return {};
  std::map<std::string, std::set<int32_t>> sizes;
  for (const RecordRow& row : table_.rows()) {
    if (row.num_gpus <= 0 || stated(row) > 0) continue;
    const std::string_view name =
        row.partition == records::kNoName ? "all" : table_.partitions()[row.partition];
    sizes[std::string(name)].insert(of(row));
  }
  constexpr size_t kPartitionsNamed = 8;
  std::string text;
  size_t named = 0;
  for (const auto& [name, values] : sizes) {
    if (++named > kPartitionsNamed) {
      text += fmt::format(", and {} more", sizes.size() - kPartitionsNamed);
      break;
    }
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, *values.begin());
    if (values.size() > 1) text += fmt::format(" to {}", *values.rbegin());
  }
  return text;
}

}  // namespace goban::site::analysis
