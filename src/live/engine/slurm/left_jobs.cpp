#include "live/engine/slurm/left_jobs.hpp"

#include <algorithm>

#include "live/engine/slurm/orders.hpp"
#include "live/engine/slurm/partitions.hpp"
#include "live/job/request_values.hpp"

namespace goban::live::engine::slurm {

namespace {

bool is_of(std::span<const std::string> names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

NodeTraits traits_of(std::span<const NodeRow> nodes, const QueueRules& rules) {
  NodeTraits out{.index_types = index_types_of(nodes)};
  std::set<std::vector<std::string>> kinds;
  for (const NodeRow& node : nodes) {
    out.shards_per_gpu = std::max(out.shards_per_gpu, shards_per_gpu(node));
    if (!is_managed_node(node, rules)) continue;
    kinds.insert(managed_partitions(node, rules));
    if (node.node.num_gpus > 0) out.models.insert(node.node.gpu_model);
  }
  out.partitions_differ = kinds.size() > 1;
  out.mixed = std::ranges::any_of(
      out.models, [](const std::string& model) { return model.find('+') != model.npos; });
  return out;
}

bool names_index(const JobWords& words, std::span<const std::string> index_types) {
  if (index_types.empty()) return false;
  const auto gpus = requested_gpus(words, {.num_nodes = 1, .tasks = 1});
  return gpus && std::ranges::any_of(job::split_list(gpus->type, '+'), [&](auto type) {
           return std::ranges::find(index_types, type) != index_types.end();
         });
}

bool takes_types(const JobWords& words) {
  // CPUs of a task are listed there, too.
  const auto names_none = [](const std::string& text) { return text.find("gpu") == text.npos; };
  return names_none(words.tres_per_job) && names_none(words.tres_per_socket) &&
         names_none(words.tres_per_task);
}

bool is_managed(const JobRow& row, const JobWords& words, const QueueRules& rules,
                std::span<const std::string> index_types) {
  if (rules.observe || (row.het_job != 0 && row.left.empty())) return false;
  if (!are_managed(row.partition, rules.partitions)) return false;
  const auto gpus = requested_gpus(words, row);
  if (is_slurms(row.mark) || (gpus && gpus->count == 0)) return false;
  // The types that we write into a request are not its user's.
  Mark mark;
  return parse_mark(row.mark, mark) || !names_index(words, index_types) ||
         !own_indices(row, words, index_types).empty();
}

bool is_managed_node(const NodeRow& node, const QueueRules& rules) {
  return rules.partitions.empty() ||
         std::ranges::any_of(node.partitions, [&](const std::string& partition) {
           return is_of(rules.partitions, partition);
         });
}

std::vector<std::string> managed_partitions(const NodeRow& node, const QueueRules& rules) {
  std::vector<std::string> out = node.partitions;
  std::erase_if(out, [&](const std::string& partition) {
    return !rules.partitions.empty() && !is_of(rules.partitions, partition);
  });
  std::ranges::sort(out);
  return out;
}

bool is_unknown_place(const std::string& place, const NodeTraits& traits,
                      const std::set<std::string>& places) {
  return is_place(place) && (traits.partitions_differ || is_choice(place)) &&
         !places.contains(place);
}

std::string_view why_for_slurm(const JobRow& row, const JobWords& words, const NodeTraits& traits,
                               const QueueRules& rules, const std::set<std::string>& places) {
  const bool names_indices = names_index(words, traits.index_types);
  if (names_indices && own_indices(row, words, traits.index_types).empty()) return "gpu-by-index";
  if (has_other_choice(row, words)) return "own-choice-of-nodes";
  const auto gpus = requested_gpus(words, row);
  if (gpus && gpus->shards > 0) {
    if (rules.indices != Indices::Types) return "shards";
    if (row.num_nodes > 1) return "shards-of-several-nodes";
    if (gpus->shards > traits.shards_per_gpu) return "more-shards-than-a-gpu-has";
  }
  if (!gpus || traits.models.empty()) return {};
  const std::string place = place_of(row, words, traits.index_types);
  if (is_unknown_place(place, traits, places)) {
    return is_choice(place) ? "own-choice-of-nodes" : "many-partition-lists";
  }
  if (gpus->count % std::max(row.num_nodes, 1) != 0) return "unequal-nodes";
  if (names_indices) return {};
  if (gpus->type.find('+') != gpus->type.npos) return "several-gpu-types";
  // The core knows one model a node.
  const bool is_unknown = traits.models.size() > 1 && !traits.models.contains(gpus->type);
  if (!gpus->type.empty() && (is_unknown || traits.mixed)) return "gpu-type-of-mixed-nodes";
  return {};
}

}  // namespace goban::live::engine::slurm
