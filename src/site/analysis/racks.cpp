// Jobs that do not fit into a rack, jobs that crossed racks although they fit, and the run time
// that the links between racks cost them.
#include <algorithm>

#include "site/analysis/statistics.hpp"
#include "site/analysis/what_if.hpp"

namespace goban::site::analysis {
namespace {

constexpr std::string_view kRacksSection = "racks";

struct Part {
  int64_t jobs = 0;
  double node_hours = 0;
  void add(const Job& job) {
    ++jobs;
    node_hours += job.node_hours();
  }
};

/// The rack of each node name of the records; -1 = not a node of the cluster.
std::vector<int64_t> racks_of_nodes(const Context& context) {
  const records::InternedColumn& names = context.population.table->node_names();
  std::vector<int64_t> racks(names.size(), -1);
  for (uint32_t i = 0; i < names.size(); ++i) {
    const auto found = context.population.site.rack_of_node.find(names[i]);
    if (found != context.population.site.rack_of_node.end()) racks[i] = found->second;
  }
  return racks;
}

/// Number of racks that a job ran on; 0 = unknown.
size_t racks_used(const Population& population, const Job& job, const std::vector<int64_t>& racks,
                  std::vector<int64_t>& scratch) {
  scratch.clear();
  for (const uint32_t node : population.table->nodes_of(population.row(job))) {
    if (racks[node] < 0) return 0;
    scratch.push_back(racks[node]);
  }
  std::ranges::sort(scratch);
  return static_cast<size_t>(std::ranges::unique(scratch).begin() - scratch.begin());
}

struct Found {
  Part all, multi, beyond, placed, crossed, could_fit;
};

Found look(const Context& context) {
  const Population& population = context.population;
  const std::vector<int64_t> racks = racks_of_nodes(context);
  Found found;
  std::vector<int64_t> scratch;
  for (const Job& job : population.jobs) {
    if (!job.selected) continue;
    found.all.add(job);
    if (job.nodes <= 1) continue;
    found.multi.add(job);
    if (job.nodes > population.site.rack_nodes) found.beyond.add(job);
    const size_t used = racks_used(population, job, racks, scratch);
    if (used == 0) continue;
    found.placed.add(job);
    if (used > 1) found.crossed.add(job);
    if (used > 1 && job.nodes <= population.site.rack_nodes) found.could_fit.add(job);
  }
  return found;
}

/// Node-hours of rack-crossing jobs with other uplinks: the share of their run time that is
/// communication between racks grows with the over-subscription.
void add_uplinks(const Context& context, const Part& crossing, const Part& all) {
  const double node_hours = crossing.node_hours;
  const WhatIfRules& rules = context.rules.what_if;
  Table table = make_table(context, "uplinks", kRacksSection);
  table.columns = columns(context, {"uplink_ratio", "slowdown"});
  table.columns.push_back(column(context, "node_hours", "node h"));
  table.columns.push_back(column(context, "node_hours_more", "node h"));
  table.columns.push_back(column(context, "of_all_node_hours", "%"));
  for (const double ratio : rules.uplink_ratios) {
    const double slowdown = 1 + rules.communication_share * (ratio / rules.uplink_ratio_now - 1);
    const double more = node_hours * (slowdown - 1);
    table.rows.push_back(
        {ratio, slowdown, node_hours * slowdown, more, percent(more, all.node_hours)});
  }
  table.text = context.labels.with("text.uplinks_model", rules.uplink_ratio_now,
                                   100 * rules.communication_share);
  table.quality = {crossing.jobs, all.jobs, context.labels("word.assumption")};
  finish(context, std::move(table), replay_uplinks(context, rules.uplink_ratio_now));
}

}  // namespace

void add_racks(const Context& context) {
  const Found found = look(context);
  const int32_t rack = context.population.site.rack_nodes;
  Table table = make_table(context, "racks", kRacksSection, "Section 4.1");
  table.columns = columns(context, {"part", "jobs"});
  table.columns.push_back(column(context, "share", "%"));
  table.columns.push_back(column(context, "node_hours", "node h"));
  table.columns.push_back(column(context, "share_node_hours", "%"));
  const auto add_row = [&](const std::string& name, const Part& part) {
    table.rows.push_back(
        {name, part.jobs,
         percent(static_cast<double>(part.jobs), static_cast<double>(found.all.jobs)),
         part.node_hours, percent(part.node_hours, found.all.node_hours)});
  };
  add_row(context.labels("word.multi_node"), found.multi);
  add_row(context.labels.with("word.beyond_rack", rack), found.beyond);
  if (found.placed.jobs > 0) {
    add_row(context.labels("word.placed"), found.placed);
    add_row(context.labels("word.crossed"), found.crossed);
    add_row(context.labels("word.could_fit"), found.could_fit);
  } else {
    add_absent(context, "rack_crossing", kRacksSection, {}, "reason.no_racks");
  }
  table.quality = {found.all.jobs, found.all.jobs, {}};
  if (!context.population.site.rack_known) {
    table.quality.note = context.labels.with("word.rack_assumed", rack);
  }
  const Quality quality = table.quality;
  context.report.tables.push_back(std::move(table));
  add_scalar(context, "beyond_rack_jobs", kRacksSection, quality, found.beyond.jobs, {}, "578");
  add_scalar(context, "beyond_rack_share", kRacksSection, quality,
             percent(static_cast<double>(found.beyond.jobs), static_cast<double>(found.all.jobs)),
             "%", "0.12 %");
  add_scalar(context, "beyond_rack_node_hours", kRacksSection, quality, found.beyond.node_hours,
             "node h");
  const Part& crossing = found.placed.jobs > 0 ? found.crossed : found.beyond;
  if (crossing.node_hours > 0) add_uplinks(context, crossing, found.all);
}

}  // namespace goban::site::analysis
