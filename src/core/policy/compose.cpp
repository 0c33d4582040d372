#include "core/policy/compose.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

#include "core/policy/order/queue_order.hpp"
#include "core/policy/placement/placement.hpp"

namespace goban::core::policy {

using base::usage_error;

namespace {

/// Interval at which orders that drift are evaluated between events.
constexpr double kReorderInterval_s = 360;

const Part*& slot(PartSet& parts, PartKind kind) { return parts[static_cast<size_t>(kind)]; }

/// The parts listed in `names`; null for kinds that are not listed.
base::Result<PartSet> named_parts(std::string_view names) {
  PartSet out{};
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find('+', begin), names.size());
    const std::string_view name = names.substr(begin, end - begin);
    begin = end + 1;
    const Part* part = find_part(current_name(name));
    if (part == nullptr) {
      return usage_error(fmt::format("unknown policy '{}'", name),
                         "goban policies lists the presets and parts");
    }
    if (slot(out, part->kind) != nullptr) {
      return usage_error(
          fmt::format("policy '{}' names several of {}", names, part_names(part->kind)),
          fmt::format("name one {} part", kind_name(part->kind)));
    }
    slot(out, part->kind) = part;
  }
  return out;
}

const Part& preemption_that_fits(const Part& order) {
  const auto fits = [&](const Part* part) {
    return part->kind == PartKind::Preemption && part->preemption == order.preemption;
  };
  return **std::ranges::find_if(parts(), fits);
}

/// Fills the kinds that are not named.
void complete(PartSet& parts) {
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] != nullptr) continue;
    const auto kind = static_cast<PartKind>(i);
    parts[i] = kind == PartKind::Preemption ? &preemption_that_fits(*slot(parts, PartKind::Order))
                                            : &standard_part(kind);
  }
}

base::Status replace_order(PartSet& parts, std::string_view order) {
  const Part* part = find_part(order);
  if (part == nullptr || part->kind != PartKind::Order) {
    return usage_error(fmt::format("unknown order '{}'", order),
                       fmt::format("known orders: {}", part_names(PartKind::Order)));
  }
  slot(parts, PartKind::Order) = part;
  return {};
}

/// Parts that assume exclusive GPUs, and those that stand in for them in a policy that shares GPUs:
/// there, predicted run times alone and fewer preemptions cost deadlines (docs/simulate.md).
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kBesideSharing = {
    {{"expansion", "las-levels"}, {"promise-backfill", "skip"}, {"priced", "sticky"}}};

PartSet beside_sharing(PartSet parts) {
  for (const Part*& part : parts) {
    const auto* found =
        std::ranges::find(kBesideSharing, part->name, [](const auto& each) { return each.first; });
    if (found != kBesideSharing.end()) part = find_part(found->second);
  }
  return parts;
}

/// Jobs that are preempted by the passing of time alone must work between two restarts, or no job
/// would ever end.
base::TimeNs hold_of(const PolicySet& set, const RunContext& context) {
  const bool drifts = set.preemption == Preemption::NonSticky ||
                      (set.preemption == Preemption::Sticky && set.order->drifts());
  const double quantum_s = context.round_s > 0 ? context.round_s : kReorderInterval_s;
  if (!drifts || context.restart_cost_s < quantum_s) return 0;
  return base::from_seconds(context.restart_cost_s + quantum_s);
}

}  // namespace

PartSet standard_parts() {
  PartSet parts{};
  complete(parts);
  return parts;
}

bool Composition::simulation_only() const {
  return std::ranges::any_of(parts, &Part::needs_true_work);
}

bool Composition::needs_knowledge() const {
  const auto uses = [this](KnowledgeUse use) {
    return std::ranges::find(parts, use, &Part::knowledge) != parts.end();
  };
  return uses(KnowledgeUse::Required) && !uses(KnowledgeUse::Optional);
}

PolicySet Composition::make(const RunContext& context) const {
  PolicySet set;
  set.name = name;
  set.rules = rules;
  set.interval_ns = context.round_s > 0 ? 0 : base::from_seconds(kReorderInterval_s);
  const bool blind = context.knowledge == nullptr && !needs_knowledge();
  const bool shares = !blind && !is_standard(PartKind::Sharing);
  const PartSet used = shares ? beside_sharing(parts) : parts;
  const auto used_part = [&used](PartKind kind) -> const Part& {
    return *used[static_cast<size_t>(kind)];
  };
  for (const Part* part : used) {
    const bool left_out = blind && part->knowledge != KnowledgeUse::None;
    (left_out ? standard_part(part->kind) : *part).install(set, context, options);
    set.uses_forecasts |= part->uses_forecasts;
  }
  set.price.restart_ns = base::from_seconds(context.restart_cost_s);
  set.price.checkpoint_ns = base::from_seconds(context.checkpoint_s);
  set.round_ns = base::from_seconds(context.round_s);
  set.hold_ns = hold_of(set, context);
  const double starvation_s = used_part(PartKind::Order).starvation_s;
  set.starvation_ns =
      base::from_seconds(starvation_s == 0 && artifact ? kStarvation_s : starvation_s);
  set.needs_estimates = used_part(PartKind::Select).needs_estimates;
  set.fungible = part(PartKind::Placement).fungible;
  set.evict_in_vain = artifact;
  set.list_released = artifact && !set.placement->class_first();
  if (of_part) {
    set.of_part = std::make_unique<PolicySet>(of_part->make(context));
    set.part = part_id;
  }
  return set;
}

base::Status check_knowledge(const Composition& composition, bool is_known, std::string remedy) {
  if (is_known || !composition.needs_knowledge()) return {};
  return usage_error(
      fmt::format("policy '{}' shares GPUs or puts nodes to sleep, which requires a co-location "
                  "history or a power model",
                  composition.name),
      std::move(remedy));
}

base::Result<Composition> compose(std::string_view name, std::optional<std::string_view> order) {
  const auto preset = std::ranges::find(presets(), current_name(name), &Preset::name);
  const bool is_preset = preset != presets().end();
  Composition c;
  c.name = name;
  auto parts = named_parts(is_preset ? preset->parts : name);
  if (!parts) return base::failure(parts.error());
  c.parts = *parts;
  if (is_preset) {
    c.settings = preset->settings;
    c.artifact = preset->artifact;
    complete(c.parts);  // replacing the order keeps the preset's preemption
  }
  if (order) {
    if (auto status = replace_order(c.parts, *order); !status) {
      return base::failure(status.error());
    }
  }
  complete(c.parts);
  for (const Part* part : c.parts) {
    if (part->set_defaults != nullptr) part->set_defaults(c.options);
  }
  for (const Part* part : c.parts) {
    if (part->check == nullptr) continue;
    if (auto status = part->check(c); !status) return base::failure(status.error());
  }
  return c;
}

}  // namespace goban::core::policy
