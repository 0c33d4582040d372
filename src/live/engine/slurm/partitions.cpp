#include "live/engine/slurm/partitions.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/ranges.h>
#include <utility>

#include "base/number.hpp"
#include "core/model/import/host_list.hpp"
#include "live/engine/slurm/left_jobs.hpp"
#include "live/engine/slurm/orders.hpp"
#include "live/job/request_values.hpp"

namespace goban::live::engine::slurm {

namespace {

bool has(std::span<const std::string> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

constexpr std::string_view kOn = " on ";
constexpr std::string_view kWith = " with ";
constexpr std::string_view kAt = " at ";

/// What stands behind `word`; it is removed from `text` with the word. Empty: the word is not
/// there.
std::string_view take_behind(std::string_view& text, std::string_view word) {
  const size_t at = text.find(word);
  if (at == text.npos) return {};
  const std::string_view behind = text.substr(at + word.size());
  text = text.substr(0, at);
  return behind;
}

}  // namespace

bool are_managed(std::string_view names, std::span<const std::string> managed) {
  if (managed.empty()) return true;
  const auto all = job::split_list(names, ',');
  return !all.empty() &&
         std::ranges::all_of(all, [&](std::string_view name) { return has(managed, name); });
}

std::string partition_list(std::string_view names) {
  if (names.find(',') == names.npos) return std::string(names);
  std::set<std::string_view> sorted;
  for (const std::string_view name : job::split_list(names, ',')) sorted.insert(name);
  return fmt::format("{}", fmt::join(sorted, ","));
}

bool has_own_nodes(const JobRow& row, const JobWords& words) {
  Mark mark;
  return !words.nodes.empty() && (!parse_mark(row.mark, mark) || mark.own_nodes);
}

std::vector<uint32_t> own_indices(const JobRow& row, const JobWords& words,
                                  std::span<const std::string> index_types) {
  Mark mark;
  const bool is_ours = parse_mark(row.mark, mark) && !mark.own_indices;
  if (is_ours || index_types.empty() || !takes_types(words)) return {};
  const auto gpus = requested_gpus(words, {.num_nodes = 1, .tasks = 1});
  if (!gpus) return {};
  std::vector<uint32_t> out;
  for (const std::string_view type : job::split_list(gpus->type, '+')) {
    const auto at = std::ranges::find(index_types, type);
    if (at == index_types.end()) return {};
    out.push_back(static_cast<uint32_t>(at - index_types.begin()));
  }
  std::ranges::sort(out);
  return std::cmp_equal(out.size(), gpus->count) ? out : std::vector<uint32_t>{};
}

bool has_other_choice(const JobRow& row, const JobWords& words) {
  const bool are_plain = std::ranges::all_of(words.features, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_.-&").find(c) != std::string_view::npos;
  });
  if (!are_plain) return true;
  if (!has_own_nodes(row, words)) return false;
  const auto names = core::model::expand_host_list(words.nodes);
  return !names || std::cmp_not_equal(names->size(), std::max(row.num_nodes, 1)) ||
         words.nodes.find_first_of(" |") != words.nodes.npos;
}

std::string place_of(const JobRow& row, const JobWords& words,
                     std::span<const std::string> index_types) {
  std::string place = partition_list(row.partition);
  if (has_other_choice(row, words)) return place;
  if (has_own_nodes(row, words)) place += fmt::format("{}{}", kOn, words.nodes);
  if (!words.features.empty()) place += fmt::format("{}{}", kWith, words.features);
  const std::vector<uint32_t> indices = own_indices(row, words, index_types);
  if (!indices.empty()) place += fmt::format("{}{}", kAt, fmt::join(indices, ","));
  return place;
}

std::set<std::string> places(std::span<const std::string> wanted, const cluster::Picture& told) {
  std::set<std::string> out;
  for (const SeenNode& node : told.cluster.nodes) {
    for (const std::string& partition : node.partitions) {
      if (is_place(partition)) out.insert(partition);
    }
  }
  for (const std::string& place : wanted) {
    if (out.size() >= kPlacesMost) break;
    if (is_place(place)) out.insert(place);
  }
  return out;
}

std::string partitions_for(std::string_view names, std::span<const NodePart> parts,
                           std::span<const NodeRow> nodes) {
  if (names.find(',') == names.npos) return {};
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

std::vector<std::string> places_with(const NodeRow& node, std::span<const std::string> partitions,
                                     const std::set<std::string>& places) {
  std::vector<std::string> out;
  for (const std::string& place : places) {
    std::string_view rest = place;
    const auto indices = job::split_list(take_behind(rest, kAt), ',');
    const std::string_view features = take_behind(rest, kWith);
    const std::string_view nodes = take_behind(rest, kOn);
    const auto is_in = [&](std::string_view name) { return has(partitions, name); };
    if (std::ranges::none_of(job::split_list(rest, ','), is_in)) continue;
    const auto all = job::split_list(features, '&');
    if (!std::ranges::all_of(all, [&](auto name) { return has(node.features, name); })) continue;
    const auto names = core::model::expand_host_list(std::string(nodes));
    if (!nodes.empty() && (!names || !has(*names, node.node.name))) continue;
    const auto has_index = [&](std::string_view index) {
      return std::cmp_less(base::parse_int(index).value_or(INT64_MAX), node.index_types.size());
    };
    if (!std::ranges::all_of(indices, has_index)) continue;
    out.push_back(place);
  }
  return out;
}

}  // namespace goban::live::engine::slurm
