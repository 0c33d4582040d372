#include "live/engine/slurm/het_jobs.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <tuple>
#include <utility>

#include "base/number.hpp"
#include "live/engine/slurm/admin_text.hpp"
#include "live/engine/slurm/partitions.hpp"
#include "live/job/request_values.hpp"

namespace goban::live::engine::slurm {

namespace {

using cluster::Stand;

constexpr std::string_view kUnlike = "unlike-components";
constexpr std::string_view kOther = "heterogeneous-job";
constexpr std::string_view kTooMany = "more-components-than-nodes";

/// Its components in the order of their numbers.
using Components = std::vector<const JobRow*>;

std::map<int64_t, Components> het_jobs_of(std::span<const JobRow> rows) {
  std::map<int64_t, Components> jobs;
  for (const JobRow& row : rows) {
    if (row.het_job != 0) jobs[row.het_job].push_back(&row);
  }
  for (auto& [leader, components] : jobs) {
    std::ranges::sort(components, {}, [](const JobRow* row) { return row->job; });
  }
  return jobs;
}

bool has_ended(const JobRow* row) { return stand_of(*row) == Stand::Ended; }

/// Those that have not ended, where the leader waits; else all.
Components live(const Components& all) {
  const Stand stand = stand_of(*all.front());
  Components out = all;
  if (stand == Stand::Held || stand == Stand::Released) std::erase_if(out, has_ended);
  return out;
}

const JobFacts* facts_of(const JobRow& row, const std::map<std::string, JobFacts>& facts) {
  const auto fact = facts.find(row.id());
  return fact == facts.end() || !fact->second.has_words ? nullptr : &fact->second;
}

/// Any of several conditions is enough: they cannot be joined with those of others.
bool has_choice(const JobRow& row) { return row.dependency.find('?') != std::string::npos; }

bool are_alike(const JobRow& one, const JobWords& words, const JobRow& other,
               const JobWords& other_words) {
  const auto gpus = requested_gpus(words, one);
  const auto other_gpus = requested_gpus(other_words, other);
  // Slurm shows one partition of a job that runs.
  const bool runs = stand_of(one) == Stand::Running || stand_of(other) == Stand::Running;
  return gpus && other_gpus && gpus->count == other_gpus->count && gpus->type == other_gpus->type &&
         gpus->shards == other_gpus->shards && takes_types(words) == takes_types(other_words) &&
         one.cpus == other.cpus && one.mem_bytes == other.mem_bytes &&
         one.limit_ns == other.limit_ns && one.account == other.account && one.qos == other.qos &&
         one.num_nodes == other.num_nodes &&
         (one.dependency == other.dependency || (!has_choice(one) && !has_choice(other))) &&
         (runs || partition_list(one.partition) == partition_list(other.partition));
}

/// Managed nodes of the job's partitions that have so many GPUs.
int64_t nodes_with(int64_t gpus, const JobRow& row, std::span<const NodeRow> nodes,
                   const QueueRules& rules) {
  const auto names = job::split_list(row.partition, ',');
  return std::ranges::count_if(nodes, [&](const NodeRow& node) {
    return is_managed_node(node, rules) && node.node.num_gpus >= gpus &&
           std::ranges::any_of(names, [&](std::string_view name) {
             return std::ranges::find(node.partitions, name) != node.partitions.end();
           });
  });
}

/// Why alike components, of which all words are known, are no job of the core; empty: they are.
std::string_view why_not_placed(const Components& components,
                                const std::map<std::string, JobFacts>& facts,
                                std::span<const NodeRow> nodes, const QueueRules& rules) {
  const std::vector<std::string> types = index_types_of(nodes);
  for (const JobRow* row : components) {
    const JobWords& words = facts.at(row->id()).words;
    const auto gpus = requested_gpus(words, *row);
    if (row->num_nodes != 1 || !gpus || gpus->count == 0 || gpus->shards > 0) return kOther;
    if (!words.nodes.empty() || !words.features.empty() || names_index(words, types)) return kOther;
  }
  const JobRow& leader = *components.front();
  const auto gpus = requested_gpus(facts.at(leader.id()).words, leader);
  const bool fits =
      std::cmp_greater_equal(nodes_with(gpus->count, leader, nodes, rules), components.size());
  return nodes.empty() || fits ? std::string_view{} : kTooMany;
}

/// Why it is no job of the core, empty if that is not known yet; none: it is one.
std::optional<std::string_view> why_apart(const Components& all,
                                          const std::map<std::string, JobFacts>& facts,
                                          std::span<const NodeRow> nodes, const QueueRules& rules) {
  const JobRow& leader = *all.front();
  if (leader.job != leader.het_job || rules.observe) return "";
  // What its components request now may be Goban's choices.
  Mark mark;
  if (parse_mark(leader.mark, mark)) return std::nullopt;
  if (has_ended(&leader)) return "";
  const Components components = live(all);
  const JobFacts* const facts_of_leader = facts_of(leader, facts);
  bool is_known = facts_of_leader != nullptr;
  for (const JobRow* row : components) {
    if (is_slurms(row->mark)) return kUnlike;
    const JobFacts* const own = facts_of(*row, facts);
    is_known = is_known && (own != nullptr || has_ended(row));
    if (is_known && own != nullptr &&
        !are_alike(leader, facts_of_leader->words, *row, own->words)) {
      return kUnlike;
    }
  }
  if (!is_known) return "";
  Components placed = components;
  std::erase_if(placed, has_ended);
  const std::string_view why = why_not_placed(placed, facts, nodes, rules);
  return why.empty() ? std::nullopt : std::optional(why);
}

/// Some component is held for Goban, and none by its user.
bool is_held_for_goban(const Components& components, const QueueRules& rules) {
  return !rules.observe && std::ranges::none_of(components, [](const JobRow* row) {
    return is_held_by_user(*row);
  }) && std::ranges::any_of(components, [&](const JobRow* row) {
    return is_new(*row) && are_managed(row->partition, rules.partitions);
  });
}

/// What runs decides where a job stands, then what is held.
int rank_of(const JobRow& row) {
  switch (stand_of(row)) {
    case Stand::Running:
      return 3;
    case Stand::Held:
      return 2;
    case Stand::Released:
      return 1;
    case Stand::Ended:
    case Stand::Absent:
      break;
  }
  return 0;
}

JobRow joined_row(const Components& all) {
  const Components components = live(all);
  JobRow out = *all.front();
  out.het_job = 0;
  out.components = static_cast<int32_t>(components.size());
  out.lost_components = components.size() < all.size();
  out.num_nodes = out.components;
  out.cpus = 0;
  out.tasks = 0;
  out.nodes.clear();
  const JobRow* decides = all.front();
  for (const JobRow* row : components) {
    out.cpus += row->cpus;
    out.tasks += row->tasks;
    out.eligible_ns = std::max(out.eligible_ns, row->eligible_ns);
    if (row != all.front() && !row->dependency.empty()) {
      out.dependency += (out.dependency.empty() ? "" : ",") + row->dependency;
    }
    if (!row->nodes.empty()) out.nodes += (out.nodes.empty() ? "" : ",") + row->nodes;
    if (rank_of(*row) > rank_of(*decides)) decides = row;
    if (is_held_by_user(*row) && !is_held_by_user(out)) {
      out.comment = row->comment;
      if (out.mark.empty()) out.mark = row->mark;
    }
  }
  out.state = decides->state;
  out.priority = decides->priority;
  out.reason = decides->reason;
  // Slurm names a limit at the component that exceeds it.
  const auto exceeds = std::ranges::find_if(components, [](const JobRow* row) {
    return row->reason.starts_with("Assoc") || row->reason.starts_with("QOS");
  });
  if (exceeds != components.end()) out.reason = (*exceeds)->reason;
  return out;
}

JobFacts joined_facts(const Components& components, const std::map<std::string, JobFacts>& facts) {
  JobFacts out = facts.at(components.front()->id());
  out.parts.clear();
  bool are_known = true;
  for (const JobRow* row : components) {
    const JobFacts* const fact = facts_of(*row, facts);
    const bool has_parts = fact != nullptr && fact->parts_of_ns == row->start_ns;
    if (has_parts) out.parts.insert(out.parts.end(), fact->parts.begin(), fact->parts.end());
    are_known = are_known && (has_parts || has_ended(row));
  }
  if (!are_known || out.parts.empty()) out.parts_of_ns = -1;
  return out;
}

}  // namespace

bool has_het_jobs(std::span<const JobRow> rows) {
  return std::ranges::any_of(rows, [](const JobRow& row) { return row.het_job != 0; });
}

JoinedQueue join_het_jobs(std::span<const JobRow> rows,
                          const std::map<std::string, JobFacts>& facts,
                          std::span<const NodeRow> nodes, const QueueRules& rules) {
  JoinedQueue out{.facts = facts};
  std::map<int64_t, Components> jobs = het_jobs_of(rows);
  std::map<int64_t, std::string_view> left;
  std::erase_if(jobs, [&](const auto& each) {
    const std::optional<std::string_view> why = why_apart(each.second, facts, nodes, rules);
    if (!why) return false;
    if (!why->empty() && is_held_for_goban(each.second, rules)) left[each.first] = *why;
    return true;
  });
  for (const JobRow& row : rows) {
    const auto job = jobs.find(row.het_job);
    if (row.het_job == 0 || job == jobs.end()) {
      out.rows.push_back(row);
      if (row.job == row.het_job && left.contains(row.job)) out.rows.back().left = left[row.job];
    } else if (row.job == row.het_job) {
      out.rows.push_back(joined_row(job->second));
      if (facts_of(row, facts) != nullptr) {
        out.facts[row.id()] = joined_facts(job->second, facts);
      }
    }
  }
  return out;
}

std::vector<std::string> components_of(std::span<const JobRow> rows, const std::string& id) {
  std::map<int64_t, std::string> found;
  // Asked for each order: no row's id is made into text, but for those that are found.
  const auto leader = base::parse_int(id);
  for (const JobRow& row : rows) {
    if (leader && row.het_job == *leader && row.het_job != 0 && !has_ended(&row)) {
      found[row.job] = row.id();
    }
  }
  std::vector<std::string> ids;
  for (auto& [number, each] : found) ids.push_back(std::move(each));
  return ids.empty() ? std::vector{id} : ids;
}

base::Result<std::vector<ComponentPlace>> component_places(std::span<const std::string> ids,
                                                           std::span<const JobWords* const> words,
                                                           std::span<const NodePart> parts,
                                                           std::span<const NodeRow> nodes,
                                                           Indices indices) {
  if (ids.size() != parts.size() || ids.size() != words.size()) {
    return base::failed("its components are not as many as its nodes");
  }
  std::vector<ComponentPlace> places;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (words[i] == nullptr) return base::failed("Slurm has not said what it requests");
    ComponentPlace& place = places.emplace_back();
    place.id = ids[i];
    place.part = parts[i];
    if (indices == Indices::Types && takes_types(*words[i])) place.indices = Indices::Types;
    for (const NodeRow& node : nodes) {
      if (node.node.name == parts[i].node) place.index_types = node.index_types;
    }
  }
  return places;
}

base::Result<std::string> place_het_lines(std::span<const ComponentPlace> places, const Mark& mark,
                                          std::span<const NodeRow> nodes,
                                          std::string_view gres_prefix, std::string_view partitions,
                                          bool ran) {
  std::string script;
  for (const ComponentPlace& place : places) {
    const bool leads = script.empty();
    std::string excluded;
    if (leads) {
      std::vector<std::string> others;
      for (const NodeRow& node : nodes) {
        if (node.node.name != place.part.node) others.push_back(node.node.name);
      }
      excluded = node_ranges(others);
    } else {
      script += fmt::format("update jobid={} ExcNodeList=\n", place.id);
    }
    auto lines = place_lines(place.id, std::span(&place.part, 1), mark, place.indices,
                             place.index_types, gres_prefix, partitions, {}, ran);
    if (!lines) return lines;
    const std::string own = fmt::format(" ReqNodeList={} ", place.part.node);
    if (const size_t at = lines->find(own); leads && at != lines->npos) {
      lines->replace(at, own.size(), fmt::format(" ExcNodeList={} ", excluded));
    }
    script += *lines;
  }
  return script;
}

base::TimeNs backfill_cycle_ns(std::string_view config) {
  constexpr int64_t kUsual_s = 30;  // Slurm's default
  constexpr int64_t kMost_s = 600;
  constexpr std::string_view kInterval = "bf_interval=";
  int64_t seconds = kUsual_s;
  for (const std::string_view word :
       job::split_list(setting_of(config, "SchedulerParameters"), ',')) {
    if (word.starts_with(kInterval)) {
      seconds = base::parse_int(word.substr(kInterval.size())).value_or(kUsual_s);
    }
  }
  return std::clamp<int64_t>(seconds, 1, kMost_s) * base::kSecond;
}

void set_cycles(QueueView& view, std::span<const JobRow> rows, base::TimeNs cycle_ns) {
  for (const JobRow& row : rows) {
    const auto stand = view.stands.find(row.id());
    if (row.components > 0 && stand != view.stands.end()) stand->second.cycle_ns = cycle_ns;
  }
}

std::string node_ranges(std::span<const std::string> names) {
  struct Name {
    std::string prefix{};
    size_t digits = 0;
    int64_t number = -1;
  };
  std::vector<Name> all;
  constexpr size_t kDigitsMost = 9;
  for (const std::string& name : names) {
    const size_t letters = name.find_last_not_of("0123456789") + 1;
    const size_t digits = name.size() - letters;
    const bool is_numbered = digits > 0 && digits <= kDigitsMost;
    all.push_back(is_numbered ? Name{name.substr(0, letters), digits,
                                     base::parse_int(name.substr(letters)).value_or(-1)}
                              : Name{.prefix = name});
  }
  std::ranges::sort(
      all, {}, [](const Name& name) { return std::tie(name.prefix, name.digits, name.number); });
  std::string out;
  for (size_t i = 0; i < all.size();) {
    const Name& first = all[i];
    size_t end = i + 1;
    while (end < all.size() && first.number >= 0 && all[end].prefix == first.prefix &&
           all[end].digits == first.digits &&
           all[end].number == first.number + static_cast<int64_t>(end - i))
      ++end;
    out += (out.empty() ? "" : ",") + first.prefix;
    if (end > i + 1) {
      out += fmt::format("[{:0{}}-{:0{}}]", first.number, first.digits, all[end - 1].number,
                         first.digits);
    } else if (first.number >= 0) {
      out += fmt::format("{:0{}}", first.number, first.digits);
    }
    i = end;
  }
  return out;
}

}  // namespace goban::live::engine::slurm
