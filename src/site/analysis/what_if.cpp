#include "site/analysis/what_if.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "base/shell_word.hpp"
#include "site/analysis/statistics.hpp"

namespace goban::site::analysis {
namespace {

constexpr std::string_view kWhatIfSection = "what_if";

std::string folder_of(const Context& context) {
  return context.names.folder.empty() ? "OUT" : context.names.folder;
}

std::string colocation_path(const Context& context) {
  return base::shell_word(folder_of(context) + "/what_if/colocation.csv");
}

/// The command that replays a history of this report.
std::string replay(const Context& context, Scenario scenario, std::string_view policy) {
  return fmt::format(
      "goban simulate --cluster {} --jobs {} --policy {}",
      context.names.cluster.empty() ? "CLUSTER" : base::shell_word(context.names.cluster),
      base::shell_word(fmt::format("{}/what_if/{}.csv", folder_of(context), name(scenario))),
      policy);
}

/// Jobs that exceed the cap would have to reserve nodes by the day.
void add_cap(const Context& context) {
  const Population& population = context.population;
  const double cap_h = context.rules.what_if.cap_h;
  const JobClasses classes(population.site);
  struct Part {
    int64_t jobs = 0, longer = 0;
    double hours = 0, longer_hours = 0, reserved_hours = 0;
  };
  std::vector<Part> parts(classes.all().size());
  std::vector<bool> users(population.table->users().size());
  int64_t longer_jobs = 0;
  for (const Job& job : population.jobs) {
    if (!job.selected) continue;
    Part& part = parts[classes.of(job)];
    ++part.jobs;
    part.hours += job.gpu_hours();
    if (job.run_h() <= cap_h) continue;
    ++part.longer;
    ++longer_jobs;
    part.longer_hours += job.gpu_hours();
    part.reserved_hours +=
        std::ceil(job.run_h() / kHoursPerDay) * kHoursPerDay * std::max(job.gpus, 0);
    if (job.user != records::kNoName) users[job.user] = true;
  }
  Table table = make_table(context, "cap", kWhatIfSection);
  table.text = context.labels.with("text.cap_model", cap_h, std::ranges::count(users, true));
  table.columns = columns(context, {"kind", "nodes", "jobs", "longer"});
  table.columns.push_back(column(context, "longer_share", "%"));
  table.columns.push_back(column(context, "longer_gpu_hours", "GPU h"));
  table.columns.push_back(column(context, "share_gpu_hours", "%"));
  table.columns.push_back(column(context, "reserved_gpu_hours", "GPU h"));
  for (size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    if (part.jobs == 0) continue;
    table.rows.push_back({classes.all()[i].kind, classes.all()[i].nodes, part.jobs, part.longer,
                          percent(static_cast<double>(part.longer), static_cast<double>(part.jobs)),
                          part.longer_hours, percent(part.longer_hours, part.hours),
                          part.reserved_hours});
  }
  table.quality = {longer_jobs, population.num_selected(), {}};
  finish(context, std::move(table), replay(context, Scenario::Capped, "easy-backfill+packed"));
}

/// The charges of users at other prices.
void add_charges(const Context& context) {
  const Population& population = context.population;
  const std::vector<ChargeRule>& charges = context.rules.what_if.charges;
  if (charges.empty()) {
    add_absent(context, "charges", kWhatIfSection, {}, "reason.no_charges");
    return;
  }
  std::vector<const ChargeRule*> of_kind(population.site.kinds.size());
  for (size_t i = 0; i < of_kind.size(); ++i) {
    for (const ChargeRule& charge : charges) {
      if (matches(charge.kind, population.site.kinds[i].name)) of_kind[i] = &charge;
    }
  }
  struct Part {
    int64_t jobs = 0;
    double hours = 0, now = 0, then = 0;
  };
  std::vector<Part> kinds(of_kind.size());
  std::vector<Part> users(population.table->users().size());
  Part all;
  for (const Job& job : population.jobs) {
    const ChargeRule* charge = of_kind[job.kind];
    if (charge == nullptr) continue;
    const auto add = [&](Part& part) {
      ++part.jobs;
      part.hours += job.node_hours();
      part.now += job.node_hours() * charge->now;
      part.then += job.node_hours() * charge->then;
    };
    add(kinds[job.kind]);
    add(all);
    if (job.user != records::kNoName) add(users[job.user]);
  }
  Table table = make_table(context, "charges", kWhatIfSection);
  table.columns = columns(context, {"kind", "ran", "instance_hours", "price_now", "price_then",
                                    "charge_now", "charge_then"});
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i].jobs == 0) continue;
    table.rows.push_back({population.site.kinds[i].name, kinds[i].jobs, kinds[i].hours,
                          of_kind[i]->now, of_kind[i]->then, kinds[i].now, kinds[i].then});
  }
  table.rows.push_back(
      {context.labels("word.all"), all.jobs, all.hours, Cell(), Cell(), all.now, all.then});
  constexpr double kNotable = 1.1;
  const auto more = std::ranges::count_if(
      users, [](const Part& user) { return user.then > kNotable * user.now; });
  const auto less = std::ranges::count_if(
      users, [](const Part& user) { return kNotable * user.then < user.now; });
  table.text = context.labels.with("text.charges_model", more, less);
  table.quality = {all.jobs, static_cast<int64_t>(context.population.jobs.size()), {}};
  finish(context, std::move(table), replay(context, Scenario::AsRecorded, "easy-backfill+packed"));
}

/// GPU-hours that two jobs could share: GPUs with at most half their memory and time in use.
void add_sharing(const Context& context) {
  if (context.use == nullptr) {
    add_absent(context, "sharing", kWhatIfSection, {}, "reason.needs_series");
    return;
  }
  const GpuUse& use = *context.use;
  float most = 0;
  for (const GpuValue& value : use.values)
    most = std::max({most, value.mem_total_gib, value.mem_gib});
  struct Limit {
    double memory, utilization;
  };
  constexpr std::array<Limit, 4> kLimits = {{{0.5, 50}, {0.5, 25}, {0.25, 50}, {0.25, 25}}};
  std::array<double, kLimits.size()> hours{};
  double known = 0;
  int64_t gpus = 0;
  for (size_t i = 0; i < context.population.jobs.size(); ++i) {
    const Job& job = context.population.jobs[i];
    const double run_h = job.gpu_part * job.run_h();
    for (const GpuValue& value : use.of(i)) {
      if (value.mem_gib < 0 || value.mean_pct < 0) continue;
      known += run_h;
      ++gpus;
      const double total = value.mem_total_gib > 0 ? value.mem_total_gib : most;
      for (size_t limit = 0; limit < kLimits.size(); ++limit) {
        if (value.mem_gib <= kLimits[limit].memory * total &&
            value.mean_pct <= kLimits[limit].utilization) {
          hours[limit] += run_h;
        }
      }
    }
  }
  if (gpus == 0) {
    add_absent(context, "sharing", kWhatIfSection, {}, "reason.no_gpu_memory");
    return;
  }
  Table table = make_table(context, "sharing", kWhatIfSection);
  table.columns = {column(context, "memory_up_to", "%"), column(context, "utilization_up_to", "%"),
                   column(context, "gpu_hours", "GPU h"), column(context, "of_known", "%"),
                   column(context, "saved_gpu_hours", "GPU h")};
  for (size_t i = 0; i < kLimits.size(); ++i) {
    table.rows.push_back({100 * kLimits[i].memory, kLimits[i].utilization, hours[i],
                          percent(hours[i], known), hours[i] / 2});
  }
  table.quality = {gpus, static_cast<int64_t>(use.values.size()), {}};
  finish(context, std::move(table),
         replay(context, Scenario::AsRecorded,
                fmt::format("random-pair,best-pair --colocation {}", colocation_path(context))));
}

/// Jobs that requested more GPUs than they used, and the GPUs that resource types of the right size
/// would free.
void add_redesign(const Context& context) {
  if (context.use == nullptr) {
    add_absent(context, "redesign", kWhatIfSection, {}, "reason.needs_series");
    return;
  }
  const Population& population = context.population;
  struct Part {
    int64_t jobs = 0, smaller = 0;
    double hours = 0, freed = 0;
  };
  const JobClasses classes(population.site);
  std::vector<Part> parts(classes.all().size());
  int64_t known = 0;
  for (size_t i = 0; i < population.jobs.size(); ++i) {
    const Job& job = population.jobs[i];
    if (!job.selected || job.gpus <= 0 || !context.use->all_known(i)) continue;
    ++known;
    Part& part = parts[classes.of(job)];
    const int32_t asked = gpus_asked(population, context.use, i, Scenario::UsedGpus);
    ++part.jobs;
    part.hours += job.gpu_hours();
    part.smaller += asked < job.gpus ? 1 : 0;
    part.freed += (job.gpus - asked) * job.gpu_part * job.run_h();
  }
  Table table = make_table(context, "redesign", kWhatIfSection);
  table.columns = columns(context, {"kind", "nodes", "jobs", "smaller"});
  table.columns.push_back(column(context, "gpu_hours", "GPU h"));
  table.columns.push_back(column(context, "freed_gpu_hours", "GPU h"));
  table.columns.push_back(column(context, "freed_share", "%"));
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].jobs == 0) continue;
    table.rows.push_back({classes.all()[i].kind, classes.all()[i].nodes, parts[i].jobs,
                          parts[i].smaller, parts[i].hours, parts[i].freed,
                          percent(parts[i].freed, parts[i].hours)});
  }
  table.quality = {known, population.num_selected(), {}};
  finish(context, std::move(table), replay(context, Scenario::UsedGpus, "easy-backfill+packed"));
}

void add_rack_local(const Context& context) {
  const Population& population = context.population;
  int64_t multi = 0, fits = 0;
  double multi_hours = 0, fits_hours = 0;
  for (const Job& job : population.jobs) {
    if (!job.selected || job.nodes <= 1) continue;
    ++multi;
    multi_hours += job.node_hours();
    if (job.nodes > population.site.rack_nodes) continue;
    ++fits;
    fits_hours += job.node_hours();
  }
  if (multi == 0) {
    add_absent(context, "rack_local", kWhatIfSection, {}, "reason.no_multi_node");
    return;
  }
  Table table = make_table(context, "rack_local", kWhatIfSection);
  table.columns = columns(context, {"part", "jobs"});
  table.columns.push_back(column(context, "share", "%"));
  table.columns.push_back(column(context, "node_hours", "node h"));
  table.columns.push_back(column(context, "share_node_hours", "%"));
  table.rows.push_back({context.labels.with("word.fits_rack", population.site.rack_nodes), fits,
                        percent(static_cast<double>(fits), static_cast<double>(multi)), fits_hours,
                        percent(fits_hours, multi_hours)});
  table.quality = {multi, population.num_selected(), {}};
  finish(context, std::move(table),
         replay_uplinks(context, context.rules.what_if.uplink_ratio_now));
}

}  // namespace

void finish(const Context& context, Table table, const std::string& command) {
  if (!table.text.starts_with(table.counts)) {
    table.text = fmt::format("{}. {}", table.counts, table.text);
  }
  table.text += table.text.empty() ? "" : " ";
  table.text += command.empty() ? context.labels("text.no_rack_replay")
                                : context.labels.with("word.replay", command);
  context.report.tables.push_back(std::move(table));
}

std::string replay_uplinks(const Context& context, double over_subscription) {
  const SiteShape& site = context.population.site;
  if (site.num_nodes > 0 && site.rack_of_node.empty()) return {};
  // --uplink-ratio is the reciprocal of the over-subscription.
  return replay(context, Scenario::AsRecorded,
                fmt::format("easy-backfill+packed --contention {} --uplink-ratio {:.6g}",
                            context.rules.what_if.communication_share, 1 / over_subscription));
}

void add_what_ifs(const Context& context) {
  if (context.population.num_selected() == 0) {
    add_absent(context, "cap", kWhatIfSection, {}, "reason.no_jobs");
    return;
  }
  add_cap(context);
  add_charges(context);
  add_sharing(context);
  add_rack_local(context);
  add_redesign(context);
}

}  // namespace goban::site::analysis
