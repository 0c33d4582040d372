// Policies by name: presets, and compositions of parts such as "las+pal".
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/model/site_rules.hpp"
#include "core/policy/knowledge.hpp"
#include "core/policy/part.hpp"
#include "core/policy/policy_options.hpp"

namespace goban::core::policy {

/// Default run settings of a composition. Presets that reproduce papers have their own.
struct RunSettings {
  double locality_penalty = 1.0;  ///< across nodes
  double restart_cost_s = 30;
  double round_s = 0;  ///< decide at multiples of this interval; 0 = at events
  /// Work is credited in whole rounds and jobs end at the end of a round, as in PAL's artifact.
  bool credit_per_round = false;
  /// All scores and locality penalties are 1, regardless of the input.
  bool ideal_speed = false;
};

/// One part per kind, by PartKind.
using PartSet = std::array<const Part*, kPartKinds.size()>;
[[nodiscard]] PartSet standard_parts();

/// A policy chosen by name, from which a PolicySet is built for a run.
struct Composition {
  std::string name;
  PartSet parts = standard_parts();
  bool artifact = false;  ///< PAL's artifact: its matrix levels, logs and evictions
  RunSettings settings;
  PolicyOptions options{};
  /// Accounts, limits and weights of the site.
  std::shared_ptr<const model::SiteRules> rules = std::make_shared<model::SiteRules>();
  /// Another policy for the jobs and nodes of a part of the cluster, which is promised to this
  /// reservation without an end; null: one for all.
  std::shared_ptr<const Composition> of_part{};
  model::ReservationId part_id{};

  [[nodiscard]] const Part& part(PartKind kind) const { return *parts[static_cast<size_t>(kind)]; }
  [[nodiscard]] bool is_standard(PartKind kind) const {
    return &part(kind) == &standard_part(kind);
  }
  [[nodiscard]] Preemption preemption() const { return part(PartKind::Preemption).preemption; }
  /// Idle nodes may be put to sleep.
  [[nodiscard]] bool rests_nodes() const { return part(PartKind::Power).rests_nodes; }
  /// Requires the true work of jobs, so it runs in simulations only.
  [[nodiscard]] bool simulation_only() const;
  /// Requires the site's co-location history and power models (KnowledgeUse).
  [[nodiscard]] bool needs_knowledge() const;
  [[nodiscard]] PolicySet make(const RunContext& context) const;
};

/// Errors: Usage, with `remedy`, if the composition requires site knowledge and there is none.
[[nodiscard]] base::Status check_knowledge(const Composition& composition, bool is_known,
                                           std::string remedy);

struct Preset {
  std::string_view name;
  std::string_view parts;  ///< as for compose()
  std::string_view description;
  RunSettings settings{};
  bool artifact = false;  ///< Composition::artifact
};
[[nodiscard]] std::span<const Preset> presets();
/// The name that a preset or part bears today; `name` itself if it was never renamed.
[[nodiscard]] std::string_view current_name(std::string_view name);

/// The name of a preset, or part names joined by '+', at most one per kind, in any order:
/// "las+pal", "easy-backfill+packed", "srtf+skip+spread+non-sticky". Kinds that are not named get
/// their standard part; preemption gets the default of the order. `order` replaces the order.
/// Errors: Usage, with the known parts.
[[nodiscard]] base::Result<Composition> compose(std::string_view name,
                                                std::optional<std::string_view> order = {});

}  // namespace goban::core::policy
