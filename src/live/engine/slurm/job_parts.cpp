#include "live/engine/slurm/job_parts.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/number.hpp"
#include "core/model/import/host_list.hpp"

namespace goban::live::engine::slurm {

namespace {

using base::Result;

constexpr size_t kGpusMax = 4096;  ///< of one node

tl::unexpected<base::Error> bad(std::string message) {
  return base::bad_data({"scontrol show job", 0, 0, ""}, std::move(message),
                        "pass the record of one job, unmodified");
}

/// The value of the next word `key`=..., which ends at a blank; `text` goes on behind it.
std::string_view next_value(std::string_view& text, std::string_view key) {
  const std::string wanted = fmt::format(" {}=", key);
  const size_t found = text.find(wanted);
  if (found == text.npos) return {};
  text.remove_prefix(found + wanted.size());
  const std::string_view value = text.substr(0, text.find(' '));
  text.remove_prefix(value.size());
  return value;
}

/// The positions of "0/4,2/4" that are not 0: shards that the job holds of each GPU, and all of
/// them, as releases since 23.11 print them. False if it is not of this form.
bool held_shards(std::string_view list, std::vector<int32_t>& indices) {
  for (int32_t index = 0; !list.empty(); ++index) {
    const std::string_view each = list.substr(0, list.find(','));
    list.remove_prefix(std::min(each.size() + 1, list.size()));
    const size_t slash = each.find('/');
    if (slash == each.npos || std::cmp_greater_equal(index, kGpusMax)) return false;
    const auto held = base::parse_int(each.substr(0, slash));
    const auto all = base::parse_int(each.substr(slash + 1));
    if (!held || !all || *held < 0 || *held > *all) return false;
    if (*held > 0) indices.push_back(index);
  }
  return true;
}

}  // namespace

Result<std::vector<int32_t>> gpu_indices(std::string_view gres) {
  std::vector<int32_t> indices;
  while (!gres.empty()) {
    // An entry ends at a comma outside of parentheses.
    size_t end = 0;
    for (int depth = 0; end < gres.size() && (gres[end] != ',' || depth > 0); ++end) {
      depth += gres[end] == '(' ? 1 : gres[end] == ')' ? -1 : 0;
    }
    const std::string_view entry = gres.substr(0, end);
    gres.remove_prefix(std::min(end + 1, gres.size()));
    if (!entry.starts_with("gpu:") && !entry.starts_with("shard:")) continue;
    const size_t bracket = entry.find('(');
    if (entry.starts_with("shard:") && bracket != entry.npos && entry.ends_with(')') &&
        held_shards(entry.substr(bracket + 1, entry.size() - bracket - 2), indices)) {
      continue;
    }
    const size_t open = entry.find("(IDX:");
    if (open == entry.npos || !entry.ends_with(')')) {
      return bad(fmt::format("\"{}\" names no indices", entry.substr(0, 80)));
    }
    const std::string_view list = entry.substr(open + 5, entry.size() - open - 6);
    if (list.empty() || list == "N/A") continue;  // a type of which it has none
    const auto names = core::model::expand_host_list(fmt::format("[{}]", list));
    if (!names || names->size() > kGpusMax) {
      return bad(fmt::format("\"{}\" is not a list of indices", list.substr(0, 80)));
    }
    for (const std::string& name : *names) {
      const auto index = base::parse_int(name);
      if (!index || *index < 0 || *index > INT32_MAX) {
        return bad(fmt::format("\"{}\" is not an index", name.substr(0, 80)));
      }
      indices.push_back(static_cast<int32_t>(*index));
    }
  }
  std::ranges::sort(indices);
  const auto twice = std::ranges::unique(indices);
  indices.erase(twice.begin(), twice.end());
  return indices;
}

Result<std::vector<NodePart>> parse_job_parts(std::string_view record, std::string_view name) {
  constexpr std::string_view kName = " JobName=";
  const size_t found = record.find(kName);
  if (!record.starts_with("JobId=") || found == record.npos)
    return bad("is not the record of a job");
  record.remove_prefix(found + kName.size());
  const bool has_name = record.starts_with(name);
  record.remove_prefix(has_name ? name.size() : 0);
  // A component of a heterogeneous job names the numbers of all.
  constexpr std::string_view kSet = " HetJobIdSet=";
  if (record.starts_with(kSet)) {
    record.remove_prefix(
        std::min(record.find_first_not_of("0123456789-,[]", kSet.size()), record.size()));
  }
  if (!has_name || !record.starts_with(" UserId=")) {
    return bad("is the record of a job with another name");
  }
  // Nothing that users write stands between UserId and the parts; behind them, Network, Command and
  // more do.
  record = record.substr(0, record.find(" MinCPUsNode="));
  std::vector<NodePart> parts;
  while (true) {
    const std::string_view nodes = next_value(record, "Nodes");
    if (nodes.empty()) return parts;
    const std::string_view of_node = record.substr(0, record.find(" Nodes="));
    std::string_view rest = of_node;
    const auto mem_mib = base::parse_int(next_value(rest, "Mem"));
    rest = of_node;
    const auto gpus = gpu_indices(next_value(rest, "GRES"));
    if (!gpus) return base::failure(gpus.error());
    const auto names = core::model::expand_host_list(nodes);
    if (!names) return base::failure(names.error());
    for (const std::string& node : *names) {
      constexpr int64_t kMost_mib = int64_t{1} << 40;
      const int64_t mib = std::clamp(mem_mib.value_or(0), int64_t{0}, kMost_mib);
      parts.push_back({.node = node, .gpus = *gpus, .mem_bytes = mib << 20});
    }
    if (parts.size() > kGpusMax * 64) return bad("has too many nodes");
  }
}

}  // namespace goban::live::engine::slurm
