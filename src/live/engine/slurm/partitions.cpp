#include "live/engine/slurm/partitions.hpp"

#include <algorithm>
#include <fmt/ranges.h>

#include "live/job/request_values.hpp"

namespace goban::live::engine::slurm {

namespace {

bool has(std::span<const std::string> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

bool are_managed(std::string_view names, std::span<const std::string> managed) {
  if (managed.empty()) return true;
  const auto all = job::split_list(names, ',');
  return !all.empty() &&
         std::ranges::all_of(all, [&](std::string_view name) { return has(managed, name); });
}

std::string partition_list(std::string_view names) {
  if (!is_list(names)) return std::string(names);
  std::set<std::string_view> sorted;
  for (const std::string_view name : job::split_list(names, ',')) sorted.insert(name);
  return fmt::format("{}", fmt::join(sorted, ","));
}

std::set<std::string> partition_lists(std::span<const JobRow> rows,
                                      std::span<const std::string> managed,
                                      const cluster::Picture& told) {
  std::set<std::string> lists;
  for (const SeenNode& node : told.cluster.nodes) {
    for (const std::string& partition : node.partitions) {
      if (is_list(partition)) lists.insert(partition);
    }
  }
  for (const JobRow& row : rows) {
    if (lists.size() >= kListsMost) break;
    if (!is_list(row.partition) || !row.batch || !are_managed(row.partition, managed)) continue;
    std::string list = partition_list(row.partition);
    if (is_list(list)) lists.insert(std::move(list));
  }
  return lists;
}

std::string partitions_for(std::string_view names, std::span<const NodePart> parts,
                           std::span<const NodeRow> nodes) {
  if (!is_list(names)) return {};
  const auto has_all = [&](std::string_view name) {
    return std::ranges::all_of(parts, [&](const NodePart& part) {
      const auto node = std::ranges::find_if(
          nodes, [&](const NodeRow& each) { return each.node.name == part.node; });
      return node != nodes.end() && has(node->partitions, name);
    });
  };
  std::vector<std::string_view> ordered = job::split_list(names, ',');
  std::ranges::stable_partition(ordered, has_all);
  return fmt::format("{}", fmt::join(ordered, ","));
}

void add_lists(const std::set<std::string>& lists, std::vector<std::string>& partitions) {
  const std::vector<std::string> own = partitions;
  for (const std::string& list : lists) {
    const auto names = job::split_list(list, ',');
    if (std::ranges::any_of(names, [&](std::string_view name) { return has(own, name); })) {
      partitions.push_back(list);
    }
  }
}

}  // namespace goban::live::engine::slurm
