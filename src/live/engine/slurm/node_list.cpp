#include "live/engine/slurm/node_list.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "base/number.hpp"
#include "core/model/import/slurm_nodes.hpp"
#include "core/model/import/slurm_text.hpp"
#include "live/job/request_values.hpp"

namespace goban::live::engine::slurm {

namespace {

constexpr std::string_view kFile = "scontrol show node";

/// The types of "gpu:g0:1,gpu:g1:1,shard:g0:4" if there is one per GPU, else none.
std::vector<std::string> types_in(std::string_view gres, int32_t num_gpus, int32_t& shards) {
  std::vector<std::string> types;
  while (!gres.empty()) {
    const size_t end = std::min(gres.find(','), gres.size());
    std::string_view entry = gres.substr(0, end);
    gres.remove_prefix(std::min(end + 1, gres.size()));
    entry = entry.substr(0, entry.find('('));
    const size_t last = entry.rfind(':');
    if (last == entry.npos) continue;
    if (entry.starts_with("shard:")) {
      const auto count = base::parse_int(entry.substr(last + 1));
      shards += static_cast<int32_t>(std::clamp<int64_t>(count.value_or(0), 0, 1'000'000));
    } else if (entry.starts_with("gpu:") && last > 4 && entry.substr(last + 1) == "1") {
      types.emplace_back(entry.substr(4, last - 4));
    }
  }
  if (static_cast<int32_t>(types.size()) != num_gpus) types.clear();
  return types;
}

/// Where a node has one GPU, its type is an index only if it is one elsewhere; else it is a model.
void settle_single_gpus(std::vector<NodeRow>& rows) {
  std::set<std::string> indices;
  for (const NodeRow& row : rows) {
    if (row.index_types.size() > 1) indices.insert(row.index_types.begin(), row.index_types.end());
  }
  for (NodeRow& row : rows) {
    if (row.index_types.size() != 1 || indices.contains(row.index_types.front())) continue;
    row.node.gpu_model = std::move(row.index_types.front());
    row.index_types.clear();
  }
}

std::vector<std::string> names_of(std::string_view list) {
  if (list == "(null)") return {};
  const std::vector<std::string_view> names = job::split_list(list);
  return {names.begin(), names.end()};
}

bool is_silent(std::string_view state) {
  return state.find('*') != state.npos || state.find("NOT_RESPONDING") != state.npos;
}

}  // namespace

std::vector<std::string> index_types_of(std::span<const NodeRow> nodes) {
  const auto most = std::ranges::max_element(
      nodes, {}, [](const NodeRow& node) { return node.index_types.size(); });
  return most == nodes.end() ? std::vector<std::string>{} : most->index_types;
}

SeenNodeState node_state(std::string_view state) {
  const auto has = [state](std::string_view word) { return state.find(word) != state.npos; };
  if (state.starts_with("DOWN")) return SeenNodeState::Down;  // also one that did not wake up
  if (core::model::slurm_state_usable(state)) {
    // A node whose slurmd does not answer is not given new jobs, unless it is to wake up for them.
    return is_silent(state) && !has("+POWER") ? SeenNodeState::Drained : SeenNodeState::Up;
  }
  const bool asleep = has("POWERED_DOWN") || has("POWERING_DOWN") || has("POWER_DOWN");
  if (!asleep && (has("DOWN") || has("ERROR") || has("INVAL"))) return SeenNodeState::Down;
  return SeenNodeState::Drained;
}

base::Result<std::vector<NodeRow>> parse_node_list(std::string_view text) {
  const auto records = core::model::parse_slurm_records(text, std::string(kFile), {"NodeName"});
  if (!records) return base::failure(records.error());
  std::vector<NodeRow> rows;
  for (const core::model::SlurmRecord& record : *records) {
    const std::string_view state = record.value("State");
    if (state.find("FUTURE") != state.npos) continue;
    const auto gres = core::model::parse_slurm_gres(record.value("Gres"));
    const auto cores = record.whole("CPUTot");
    const auto mem_mib = record.whole("RealMemory");
    for (const auto* number : {&cores, &mem_mib}) {
      if (!*number) return base::failure(number->error());
    }
    if (!gres || record.value("NodeName").empty() || *cores > INT32_MAX) {
      return base::bad_data(record.place, "Gres, NodeName or CPUTot is not valid",
                            "pass what scontrol prints, unmodified");
    }
    NodeRow& row = rows.emplace_back();
    row.node.name = record.value("NodeName");
    row.node.num_gpus = static_cast<int32_t>(gres->count);
    row.index_types = types_in(record.value("Gres"), row.node.num_gpus, row.shards);
    if (row.index_types.empty()) row.node.gpu_model = gres->type;
    row.node.cores = static_cast<int32_t>(*cores);
    row.node.mem_bytes = *mem_mib << 20;
    row.node.state = node_state(state);
    row.sleeps = state.find("+POWER") != state.npos;  // ED_DOWN, ING_DOWN, _DOWN, ING_UP, _UP
    if (row.node.state != SeenNodeState::Up) row.node.reason = record.value("Reason");
    row.silent = is_silent(state) && row.node.state != SeenNodeState::Down && !row.sleeps;
    if (row.silent && row.node.reason.empty()) {
      row.node.reason = "its slurmd does not answer";
    }
    row.partitions = names_of(record.value("Partitions"));
    row.features = names_of(record.value("ActiveFeatures"));
  }
  settle_single_gpus(rows);
  std::ranges::sort(rows, {}, [](const NodeRow& row) { return row.node.name; });
  return rows;
}

}  // namespace goban::live::engine::slurm
