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

/// How a composition is run where the caller says nothing else. Presets of papers carry theirs.
struct RunSettings {
  double locality_penalty = 1.0;  ///< across nodes
  double restart_cost_s = 30;
  double round_s = 0;  ///< decide at multiples of this only; 0 = at events
  /// Work is credited in whole rounds and jobs end at round ends, as PAL's artifact does.
  bool credit_per_round = false;
  /// Every GPU has score 1 and every span penalty 1, whatever is given.
  bool ideal_speed = false;
};

/// A part of each kind, by PartKind.
using PartSet = std::array<const Part*, kPartKinds.size()>;
[[nodiscard]] PartSet standard_parts();

/// A policy chosen by name, ready to be made for a run.
struct Composition {
  std::string name;
  PartSet parts = standard_parts();
  bool artifact = false;  ///< PAL's artifact: its matrix levels, its logs, its evictions
  RunSettings settings;
  PolicyOptions options{};
  /// Accounts, limits and weights of the site.
  std::shared_ptr<const model::SiteRules> rules = std::make_shared<model::SiteRules>();

  [[nodiscard]] const Part& part(PartKind kind) const { return *parts[static_cast<size_t>(kind)]; }
  [[nodiscard]] bool is_standard(PartKind kind) const {
    return &part(kind) == &standard_part(kind);
  }
  [[nodiscard]] Preemption preemption() const { return part(PartKind::Preemption).preemption; }
  /// Idle nodes may be put to sleep.
  [[nodiscard]] bool rests_nodes() const { return part(PartKind::Power).rests_nodes; }
  /// Needs the true work of jobs: a simulation only.
  [[nodiscard]] bool simulation_only() const;
  /// Cannot run where nobody knows who slows whom and what nodes draw (KnowledgeUse).
  [[nodiscard]] bool needs_knowledge() const;
  [[nodiscard]] PolicySet make(const RunContext& context) const;
};

/// Usage if the composition needs knowledge and there is none; `remedy` says what to do here.
[[nodiscard]] base::Status check_knowledge(const Composition& composition, bool is_known,
                                           std::string remedy);

struct Preset {
  std::string_view name;
  std::string_view parts;  ///< as compose() takes them
  std::string_view description;
  RunSettings settings{};
  bool artifact = false;  ///< Composition::artifact
};
[[nodiscard]] std::span<const Preset> presets();

/// A preset's name, or part names joined by '+', at most one of a kind, in any order: "las+pal",
/// "easy-backfill+packed", "srtf+skip+spread+non-sticky". Kinds that are not named have their
/// standard part, preemption the one that fits the order.
/// `order` replaces the order. Errors: Usage, naming the known parts.
[[nodiscard]] base::Result<Composition> compose(std::string_view name,
                                                std::optional<std::string_view> order = {});

}  // namespace goban::core::policy
