#include "core/model/import/slurm_json.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_fields.hpp"
#include "core/model/import/host_list.hpp"

namespace goban::core::model {
namespace {

using base::Result;
using nlohmann::json;

/// An integer: 5, "5", or {"set": true, "infinite": false, "number": 5} as in later versions; 0 if
/// absent.
Result<int64_t> whole(const json& value, const char* key, const base::Place& place) {
  const json* found = base::find_member(value, key);
  if (found != nullptr && found->is_object()) {
    const json* set = base::find_member(*found, "set");
    if (set != nullptr && set->is_boolean() && !set->get<bool>()) return 0;
    found = base::find_member(*found, "number");
  }
  if (found == nullptr || found->is_null()) return 0;
  constexpr double kMost = 1e12;
  if (!found->is_number() || !(found->get<double>() >= 0) || !(found->get<double>() <= kMost)) {
    base::Place at = place;
    at.field += fmt::format(".{}", key);
    return base::bad_data(std::move(at), "must be a number from 0 to 1e12",
                          "pass the output of Slurm unmodified");
  }
  return static_cast<int64_t>(found->get<double>());
}

/// "idle", or ["IDLE", "DRAIN"]; 22.05 has "state_flags" in addition.
void append_state(std::string& out, const json* state) {
  const auto add = [&out](std::string text) {
    std::ranges::transform(text, text.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    if (!text.empty()) out += out.empty() ? text : "+" + text;
  };
  if (state == nullptr) return;
  if (state->is_string()) add(state->get<std::string>());
  if (!state->is_array()) return;
  for (const json& flag : *state) {
    if (flag.is_string()) add(flag.get<std::string>());
  }
}

base::Status located(const base::Status& status, const base::Place& place) {
  base::Error error = status.error();
  error.place = {place.file, 0, 0, fmt::format("{}.{}", place.field, error.place.field)};
  return base::failure(std::move(error));
}

base::Status add_node(const json& entry, const base::Place& place, SiteNodes& site) {
  SiteNode node;
  node.place = place;
  node.name = base::text_of(entry, "name");
  SlurmNodeFacts facts;
  facts.gres = base::text_of(entry, "gres");
  facts.tres = base::text_of(entry, "tres");
  append_state(facts.state, base::find_member(entry, "state"));
  append_state(facts.state, base::find_member(entry, "state_flags"));
  for (const auto& [key, value] : {std::pair{"cpus", &facts.cpus},
                                   {"real_memory", &facts.mem_mib},
                                   {"temporary_disk", &facts.disk_mib}}) {
    const auto number = whole(entry, key, place);
    if (!number) return base::failure(number.error());
    *value = *number;
  }
  if (const json* partitions = base::find_member(entry, "partitions");
      partitions != nullptr && partitions->is_array()) {
    for (const json& name : *partitions) {
      if (name.is_string()) node.partitions.push_back(name.get<std::string>());
    }
  }
  if (auto status = set_slurm_facts(facts, node); !status) return located(status, place);
  site.nodes.push_back(std::move(node));
  return {};
}

/// The smaller of {"minimum", "maximum"}, with a note if they differ.
Result<int64_t> least(const json& entry, const char* key, const base::Place& place,
                      SiteNodes& site) {
  const json* range = base::find_member(entry, key);
  if (range == nullptr) return 0;
  base::Place at = place;
  at.field += fmt::format(".{}", key);
  auto low = whole(*range, "minimum", at);
  if (!low) return low;
  auto high = whole(*range, "maximum", at);
  if (!high) return high;
  if (*low != *high) {
    site.notes.push_back(
        fmt::format("{} ranges from {} to {} there: the minimum is used; scontrol "
                    "show node gives it per node",
                    at.field, *low, *high));
  }
  return *low;
}

/// An entry of `sinfo --json` from 23.02 on: identical nodes of a partition.
base::Status add_sinfo(const json& entry, const base::Place& place, SiteNodes& site) {
  SlurmNodeFacts facts;
  if (const json* gres = base::find_member(entry, "gres"))
    facts.gres = base::text_of(*gres, "total");
  if (const json* state = base::find_member(entry, "node"))
    append_state(facts.state, base::find_member(*state, "state"));
  for (const auto& [key, value] :
       {std::pair{"cpus", &facts.cpus}, {"memory", &facts.mem_mib}, {"disk", &facts.disk_mib}}) {
    const auto number = least(entry, key, place, site);
    if (!number) return base::failure(number.error());
    *value = *number;
  }
  SiteNode node;
  node.place = place;
  if (const json* partition = base::find_member(entry, "partition")) {
    if (const std::string name = base::text_of(*partition, "name"); !name.empty()) {
      node.partitions.push_back(name);
    }
  }
  if (auto status = set_slurm_facts(facts, node); !status) return located(status, place);
  const json* nodes = base::find_member(entry, "nodes");
  const json* names = nodes == nullptr ? nullptr : base::find_member(*nodes, "nodes");
  if (names == nullptr || !names->is_array()) return {};
  for (const json& name : *names) {
    if (!name.is_string()) continue;
    const auto expanded = expand_host_list(name.get<std::string>());
    if (!expanded) return located(base::failure(expanded.error()), place);
    for (const std::string& each : *expanded) {
      node.name = each;
      site.nodes.push_back(node);
    }
  }
  return {};
}

}  // namespace

Result<SiteNodes> parse_slurm_json(std::string_view text, const std::string& file) {
  const auto document = base::parse_json(text, file, "pass the command's output unmodified");
  if (!document) return base::failure(document.error());
  SiteNodes site;
  bool known = false;
  const auto read = [&](const char* key, auto add) -> base::Status {
    const json* entries = base::find_member(*document, key);
    if (entries == nullptr || !entries->is_array()) return {};
    known = true;
    for (size_t i = 0; i < entries->size(); ++i) {
      const base::Place place{file, 0, 0, fmt::format("{}[{}]", key, i)};
      if (auto status = add((*entries)[i], place, site); !status) return status;
    }
    return {};
  };
  if (auto status = read("nodes", add_node); !status) return base::failure(status.error());
  if (auto status = read("sinfo", add_sinfo); !status) return base::failure(status.error());
  if (!known) {
    return base::bad_data({file, 0, 0, ""}, "contains neither a list nodes nor a list sinfo",
                          "pass the output of scontrol show node --json or sinfo --json");
  }
  return site;
}

}  // namespace goban::core::model
