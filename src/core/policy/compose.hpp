// Policies by name: the registry of parts, the presets, and compositions such as "las+pal".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/policy/knowledge.hpp"
#include "core/policy/policy_set.hpp"

namespace goban::core::policy {

/// One registered part of a policy.
struct Part {
  /// "order", "select", "preemption", "placement", "sharing", "power" or "migration"
  std::string_view kind;
  std::string_view name;
  std::string_view description;
};
[[nodiscard]] std::span<const Part> parts();

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

/// A policy chosen by name, ready to be made for a run.
struct Composition {
  std::string name;
  std::string order = "fifo";
  std::string select = "prefix";
  std::string placement = "packed";
  std::string sharing = "exclusive";
  std::string power = "on";
  std::string migration = "stay";
  Preemption preemption = Preemption::None;
  bool artifact = false;  ///< PAL's artifact: its matrix levels, its logs, its evictions
  RunSettings settings;
  /// Of the parts share-eaco, share-eaco-paper and share-worth; its rules are those of all sharing.
  PolicyOptions options{};
  /// Accounts, limits and weights of the site.
  std::shared_ptr<const model::SiteRules> rules = std::make_shared<model::SiteRules>();

  /// Needs the true work of jobs: a simulation only.
  [[nodiscard]] bool simulation_only() const { return order == "srtf"; }
  /// Cannot run where nobody knows who slows whom and what nodes draw. share-worth can: it then
  /// shares nothing, and all nodes stay awake.
  [[nodiscard]] bool needs_knowledge() const {
    return sharing != "share-worth" &&
           (sharing != "exclusive" || power != "on" || migration != "stay");
  }
  [[nodiscard]] PolicySet make(const RunContext& context) const;
};

/// Usage if the composition needs knowledge and there is none; `remedy` says what to do here.
[[nodiscard]] base::Status check_knowledge(const Composition& composition, bool is_known,
                                           std::string remedy);

struct Preset {
  std::string_view description;
  Composition composition;
};
[[nodiscard]] std::span<const Preset> presets();

/// A preset's name, or part names joined by '+', at most one of a kind, in any order: "las+pal",
/// "easy-backfill+packed", "srtf+skip+spread+non-sticky". What is not named: fifo, prefix, packed,
/// and the preemption that fits the order (las, srtf: sticky; fifo, priority: none).
/// `order` replaces the order. Errors: Usage, naming the known parts.
[[nodiscard]] base::Result<Composition> compose(std::string_view name,
                                                std::optional<std::string_view> order = {});

/// How often las and srtf are looked at again between events.
inline constexpr double kReorderInterval_s = 360;
/// GPU time in which a job is in the first level of las-levels.
inline constexpr double kFirstLevel_gpu_s = 3600;
/// PAL's artifact promotes a job that waited so long (spec 7).
inline constexpr double kStarvation_s = 1000.0 * 3600;
/// las-levels promotes a job that waited so long: skip would let large ones starve.
inline constexpr double kLevelsStarvation_s = 24.0 * 3600;
/// How many waiting jobs conservative backfill gives reservations to.
inline constexpr int32_t kConservativeDepth = 1000;

}  // namespace goban::core::policy
