#include "core/policy/compose.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "base/check.hpp"

namespace goban::core::policy {

using base::usage_error;

namespace {

constexpr std::array kParts = {
    Part{"order", "fifo", "by submit time"},
    Part{"order", "las", "least attained service first: wall time held so far"},
    Part{"order", "las-levels", "LAS by GPU time in levels that double: few preemptions"},
    Part{"order", "srtf", "shortest remaining time first; knows true durations: simulation only"},
    Part{"order", "fair-share", "who was served least for its shares first (Fair Tree)"},
    Part{"order", "multifactor", "weighted age, fair-share, qos, partition and size, as Slurm's"},
    Part{"order", "priority", "largest priority first, then by submit time"},
    Part{"select", "prefix", "start in order, stop at the first job that does not fit"},
    Part{"select", "skip", "start whatever fits, in order; large jobs may starve"},
    Part{"select", "easy-backfill", "the first blocked job gets a reservation, others fill gaps"},
    Part{"select", "conservative-backfill", "every waiting job gets a reservation"},
    Part{"preemption", "non-preemptive", "running jobs keep their GPUs until they end"},
    Part{"preemption", "sticky", "running jobs give way only to jobs ahead of them"},
    Part{"preemption", "non-sticky", "everything is placed anew in every decision"},
    Part{"preemption", "by-priority", "running jobs give way to jobs of higher priority only"},
    Part{"placement", "packed", "as few nodes as possible, best fit first"},
    Part{"placement", "consolidated", "never more nodes than needed; waits for them"},
    Part{"placement", "spread", "one GPU at a time from the emptiest node"},
    Part{"placement", "random", "any free GPUs, drawn from the seed"},
    Part{"placement", "any", "lowest free GPU ids, node borders ignored"},
    Part{"placement", "pm-first", "GPUs with the best PM scores for the job's class"},
    Part{"placement", "pal", "best product of PM score and locality penalty, over all levels"},
    Part{"placement", "pal-paper", "PAL with the paper's two levels, within and across nodes"},
    Part{"sharing", "exclusive", "one job a GPU"},
    Part{"sharing", "share-packed", "a blocked job joins one where rates add up most, above 1.5"},
    Part{"sharing", "share-gandiva", "random pairs if demand exceeds the cluster, parted below 1"},
    Part{"sharing", "share-eaco-paper", "EaCO: the most utilised GPUs that keep all deadlines"},
    Part{"sharing", "share-eaco-paper-similar", "the same, loads like the job's first"},
    Part{"sharing", "share-eaco-paper-complementary", "the same, loads unlike the job's first"},
    Part{"sharing", "share-eaco", "EaCO where it saves joules, with margins, undo and memory"},
    Part{"sharing", "share-eaco-similar", "the same, loads like the job's first"},
    Part{"sharing", "share-eaco-complementary", "the same, loads unlike the job's first"},
    Part{"sharing", "share-worth", "EaCO where joules saved are worth the time they cost"},
    Part{"power", "on", "nodes never sleep"},
    Part{"power", "sleep", "nodes sleep after their break-even time, if nobody waits"},
    Part{"migration", "stay", "jobs stay where they start"},
    Part{"migration", "consolidate", "jobs leave little used nodes, so that these can sleep"},
};

Preset artifact(std::string_view name, std::string_view placement, Preemption preemption,
                std::string_view description) {
  Preset preset{description, {}};
  Composition& c = preset.composition;
  c.name = name;
  c.placement = placement;
  c.preemption = preemption;
  c.artifact = true;
  c.settings = {.locality_penalty = 1.7,
                .restart_cost_s = 0,
                .round_s = 360,
                .credit_per_round = true,
                .ideal_speed = false};
  return preset;
}

Preset strict(std::string_view name, std::string_view placement, std::string_view description) {
  Preset preset{description, {}};
  Composition& c = preset.composition;
  c.name = name;
  c.placement = placement;
  c.settings = {.locality_penalty = 1,
                .restart_cost_s = 0,
                .round_s = 0,
                .credit_per_round = false,
                .ideal_speed = true};
  return preset;
}

Preset slurm_multifactor() {
  Preset preset{"what sites run today: Slurm's multifactor priority, backfill on walltime limits",
                {}};
  Composition& c = preset.composition;
  c.name = "slurm-multifactor";
  c.order = "multifactor";
  c.select = "easy-backfill";
  c.placement = "packed";
  return preset;
}

Preset sharing(std::string_view name, std::string_view part, std::string_view description) {
  Preset preset{description, {}};
  preset.composition.name = name;
  preset.composition.sharing = part;
  return preset;
}

Preset eaco(std::string_view name, std::string_view part, std::string_view description,
            Preemption preemption = Preemption::None, std::string_view migration = "stay") {
  Preset preset = sharing(name, part, description);
  preset.composition.preemption = preemption;
  preset.composition.migration = migration;
  preset.composition.order = "priority";
  preset.composition.power = "sleep";
  return preset;
}

/// What the part share-worth starts from; tuned on seeds other than those reported
/// (docs/studies/goban.md).
PolicyOptions worth_options() {
  PolicyOptions options;
  // What sharing is worth is asked directly, so utilisations forbid nothing.
  options.limits.util_max_pct = std::numeric_limits<double>::infinity();
  options.prices.delay_price_w = 600;
  options.prices.crowded_rates = 1.5;
  return options;
}

Preset goban() {
  Preset preset{"our default: GPU variability, locality, sharing, sleep; knows no durations", {}};
  Composition& c = preset.composition;
  c.name = "goban";
  c.order = "las-levels";
  c.select = "skip";
  c.preemption = Preemption::Sticky;
  c.placement = "pal";
  c.sharing = "share-worth";
  c.power = "sleep";
  c.migration = "consolidate";
  c.options = worth_options();
  return preset;
}

const std::array<Preset, 14>& all_presets() {
  static const std::array<Preset, 14> presets = {
      goban(),
      slurm_multifactor(),
      artifact("pal-artifact", "pal-paper", Preemption::NonSticky,
               "PAL exactly as its public artifact runs it (SC24)"),
      artifact("pm-first-artifact", "pm-first", Preemption::NonSticky,
               "PM-First as in PAL's artifact"),
      artifact("packed-sticky-artifact", "packed", Preemption::Sticky,
               "Packed-Sticky as in PAL's artifact: the paper's baseline"),
      artifact("packed-nonsticky-artifact", "packed", Preemption::NonSticky,
               "Packed-Non-Sticky as in PAL's artifact"),
      artifact("random-sticky-artifact", "random", Preemption::Sticky,
               "Random-Sticky: the artifact's control flow, our random numbers"),
      artifact("random-nonsticky-artifact", "random", Preemption::NonSticky,
               "Random-Non-Sticky: the artifact's control flow, our random numbers"),
      strict("fifo-packed-strict", "consolidated",
             "strict FIFO on whole nodes, ideal GPUs: a yardstick with known answers"),
      strict("fifo-fungible-strict", "any",
             "strict FIFO, all GPUs interchangeable and ideal: a yardstick with known answers"),
      sharing("fifo-packed", "share-packed",
              "FIFO with packing, as Gavel has it: a baseline of EaCO"),
      sharing("gandiva", "share-gandiva", "Gandiva's packing, as Gavel has it: a baseline of EaCO"),
      eaco("eaco-paper", "share-eaco-paper", "EaCO as its paper has it (arXiv 2412.08294)"),
      eaco("eaco", "share-eaco", "EaCO with what its paper leaves out (docs/energy.md)",
           Preemption::ByPriority, "consolidate"),
  };
  return presets;
}

Preemption natural_preemption(std::string_view order) {
  return order == "las" || order == "las-levels" || order == "srtf" ? Preemption::Sticky
                                                                    : Preemption::None;
}

std::string names_of(std::string_view kind) {
  std::string out;
  for (const Part& part : kParts) {
    if (part.kind != kind) continue;
    out += out.empty() ? "" : ", ";
    out += part.name;
  }
  return out;
}

const Part* find_part(std::string_view name) {
  const auto found = std::ranges::find(kParts, name, &Part::name);
  return found == kParts.end() ? nullptr : found;
}

std::unique_ptr<Placement> make_placement(const Composition& c) {
  if (c.placement == "packed") return make_packed();
  if (c.placement == "consolidated") return make_consolidated();
  if (c.placement == "spread") return make_spread();
  if (c.placement == "random") return make_random();
  if (c.placement == "any") return make_any();
  if (c.placement == "pm-first") return make_pm_first();
  if (c.placement == "pal-paper") return make_pal({.two_levels = true});
  GOBAN_CHECK(c.placement == "pal");
  return make_pal({});
}

std::unique_ptr<Sharing> make_sharing(const Composition& c) {
  if (c.sharing == "exclusive") return make_exclusive();
  if (c.sharing == "share-packed") return make_fifo_packed(c.options.rules);
  if (c.sharing == "share-gandiva") return make_gandiva(c.options.rules);
  ShareRanking ranking = ShareRanking::Highest;
  if (c.sharing.ends_with("-similar")) ranking = ShareRanking::Similar;
  if (c.sharing.ends_with("-complementary")) ranking = ShareRanking::Complementary;
  if (c.sharing == "share-worth") ranking = ShareRanking::Worth;
  if (c.sharing.starts_with("share-eaco-paper")) return make_eaco_paper(c.options, ranking);
  GOBAN_CHECK(c.sharing.starts_with("share-eaco") || c.sharing == "share-worth");
  return make_eaco(c.options, ranking);
}

std::unique_ptr<Power> make_power(const Composition& c) {
  if (c.power == "on") return make_always_on();
  GOBAN_CHECK(c.power == "sleep");
  return make_sleep();
}

std::unique_ptr<Migration> make_migration(const Composition& c) {
  if (c.migration == "stay") return make_stay();
  GOBAN_CHECK(c.migration == "consolidate");
  return make_consolidate({.interval_s = c.options.migration.move_interval_s,
                           .min_residence_s = c.options.observation.min_residence_s,
                           .move_cost_s = c.options.observation.undo_cost_s,
                           .horizon_s = c.options.migration.move_horizon_s,
                           .delay_price_w = c.options.prices.delay_price_w});
}

std::unique_ptr<Select> make_select(const Composition& c) {
  if (c.select == "prefix") return make_prefix();
  if (c.select == "skip") return make_skip();
  if (c.select == "easy-backfill") return make_easy_backfill();
  GOBAN_CHECK(c.select == "conservative-backfill");
  return make_conservative_backfill(kConservativeDepth);
}

std::unique_ptr<QueueOrder> make_order(const Composition& c, const model::WorkOracle* oracle,
                                       base::TimeNs quantum_ns) {
  if (c.order == "fifo") return make_fifo();
  if (c.order == "priority") return make_priority();
  if (c.order == "fair-share") return make_fair_share(*c.rules);
  if (c.order == "multifactor") return make_multifactor(*c.rules);
  if (c.order == "las") return make_las(quantum_ns);
  if (c.order == "las-levels") return make_attained_levels(base::from_seconds(kFirstLevel_gpu_s));
  GOBAN_CHECK(c.order == "srtf");
  return make_srtf(oracle);
}

}  // namespace

std::span<const Part> parts() { return kParts; }
std::span<const Preset> presets() { return all_presets(); }

PolicySet Composition::make(const RunContext& context) const {
  PolicySet set;
  const base::TimeNs interval = base::from_seconds(kReorderInterval_s);
  set.name = name;
  set.rules = rules;
  set.order = make_order(*this, context.oracle, context.round_s > 0 ? 0 : interval);
  set.select = make_select(*this);
  set.placement = make_placement(*this);
  const bool blind = context.knowledge == nullptr && !needs_knowledge();
  set.sharing = blind ? make_exclusive() : make_sharing(*this);
  set.power = blind ? make_always_on() : make_power(*this);
  set.migration = blind ? make_stay() : make_migration(*this);
  set.preemption = preemption;
  set.interval_ns = context.round_s > 0 ? 0 : interval;
  if (artifact || set.order->drifts()) {
    set.starvation_ns =
        base::from_seconds(order == "las-levels" ? kLevelsStarvation_s : kStarvation_s);
  }
  set.evict_in_vain = artifact;
  set.list_released = artifact && !set.placement->class_first();
  return set;
}

base::Status check_knowledge(const Composition& composition, bool is_known, std::string remedy) {
  if (is_known || !composition.needs_knowledge()) return {};
  return base::usage_error(
      fmt::format("policy '{}' shares GPUs or puts nodes to sleep, and nothing is known of who "
                  "slows whom and what nodes draw",
                  composition.name),
      std::move(remedy));
}

base::Result<Composition> compose(std::string_view name, std::optional<std::string_view> order) {
  Composition c;
  bool preemption_named = false;
  const auto preset =
      std::ranges::find(all_presets(), name, [](const Preset& p) { return p.composition.name; });
  if (preset != all_presets().end()) {
    c = preset->composition;
    preemption_named = true;
  } else {
    c.name = name;
    std::string seen;
    for (size_t begin = 0; begin <= name.size();) {
      const size_t end = std::min(name.find('+', begin), name.size());
      const std::string_view word = name.substr(begin, end - begin);
      begin = end + 1;
      const Part* part = find_part(word);
      if (part == nullptr) {
        return usage_error(fmt::format("unknown policy '{}'", word),
                           "goban policies lists the presets and parts");
      }
      if (seen.find(part->kind) != std::string::npos) {
        return usage_error(fmt::format("policy '{}' names two of {}", name, names_of(part->kind)),
                           fmt::format("give one {}", part->kind));
      }
      seen += part->kind;
      if (part->kind == "order") c.order = word;
      if (part->kind == "select") c.select = word;
      if (part->kind == "placement") c.placement = word;
      if (part->kind == "sharing") c.sharing = word;
      if (word == "share-worth") c.options = worth_options();
      if (part->kind == "power") c.power = word;
      if (part->kind == "migration") c.migration = word;
      if (part->kind == "preemption") {
        preemption_named = true;
        c.preemption = word == "sticky"        ? Preemption::Sticky
                       : word == "non-sticky"  ? Preemption::NonSticky
                       : word == "by-priority" ? Preemption::ByPriority
                                               : Preemption::None;
      }
    }
  }
  if (order) {
    const Part* part = find_part(*order);
    if (part == nullptr || part->kind != "order") {
      return usage_error(fmt::format("unknown order '{}'", *order),
                         fmt::format("known orders: {}", names_of("order")));
    }
    c.order = *order;
  }
  if (!preemption_named) c.preemption = natural_preemption(c.order);
  if (c.select == "conservative-backfill" && c.placement == "consolidated") {
    return usage_error(
        "conservative-backfill reserves by counting GPUs, but consolidated cannot "
        "use every free GPU",
        "take easy-backfill, or placement packed");
  }
  if (c.preemption == Preemption::NonSticky &&
      (c.sharing != "exclusive" || c.migration != "stay")) {
    return usage_error(fmt::format("policy '{}' places all jobs anew in every decision, and jobs "
                                   "that share GPUs or are moved stay where they are else",
                                   name),
                       "take sticky, by-priority or non-preemptive");
  }
  if (c.migration == "consolidate" && c.power == "on") {
    return usage_error(
        fmt::format("policy '{}' empties nodes so that they can sleep, but none may", name),
        "add sleep, or leave out consolidate");
  }
  return c;
}

}  // namespace goban::core::policy
