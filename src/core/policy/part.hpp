// A part of a policy: a row with its name, description and factory. The file of each part exports
// its row; parts.cpp lists them all.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/policy/policy_set.hpp"
#include "core/policy/preemption/preemption.hpp"

namespace goban::core::policy {

struct Composition;
struct PolicyOptions;
struct RunContext;

/// What a part decides. A policy has one part of each kind.
enum class PartKind : uint8_t {
  Order,
  Select,
  Placement,
  Preemption,
  Sharing,
  Power,
  Migration,
  Size,
};
/// Display names of the kinds, in the order of PartKind.
inline constexpr std::array<std::string_view, 8> kPartKinds = {
    "order", "select", "placement", "preemption", "sharing", "power", "migration", "size"};

[[nodiscard]] constexpr std::string_view kind_name(PartKind kind) {
  return kPartKinds[static_cast<size_t>(kind)];
}

/// Whether a part uses the co-location history and power models of the site (SiteKnowledge).
enum class KnowledgeUse : uint8_t {
  None,
  Required,
  /// Without knowledge, the policy runs with the standard parts instead of this one and of those
  /// that require knowledge.
  Optional,
};

struct Part {
  PartKind kind{};
  std::string_view name;
  std::string_view description;  ///< one line, for display
  /// Builds the part and stores it in the set, whose rules and interval are already set.
  void (*install)(PolicySet& set, const RunContext& run, const PolicyOptions& options) = nullptr;

  // Constraints on the composition.

  /// Requires the true work of jobs, which only simulations have.
  bool needs_true_work = false;
  KnowledgeUse knowledge = KnowledgeUse::None;
  /// For a preemption part, its mode; for an order, the default if the policy names none.
  Preemption preemption = Preemption::None;
  /// For an order: waiting time after which a job precedes all others; 0 = never.
  double starvation_s = 0;
  /// For a selection: it reads predicted ends of running jobs.
  bool needs_estimates = false;
  /// It reads the predicted run times of jobs.
  bool uses_forecasts = false;
  /// For a placement: it succeeds whenever enough GPUs are free, regardless of position (for
  /// requests that may span nodes). Backfill reservations then only count GPUs.
  bool fungible = true;
  /// For a power part: idle nodes may sleep.
  bool rests_nodes = false;
  /// Sets the part's own default options; null: the general defaults.
  void (*set_defaults)(PolicyOptions& options) = nullptr;
  /// Rejects compositions in which the part cannot work; null: it works in all.
  base::Status (*check)(const Composition& composition) = nullptr;
};

/// `install` of a part without arguments: `put<&PolicySet::order, Fifo>`.
template <auto kPlace, typename T>
void put(PolicySet& set, const RunContext& /*run*/, const PolicyOptions& /*options*/) {
  set.*kPlace = std::make_unique<T>();
}

/// All parts, by kind, in display order.
[[nodiscard]] std::span<const Part* const> parts();
/// The part of this name, or null.
[[nodiscard]] const Part* find_part(std::string_view name);
/// The default part of a kind: the first one listed.
[[nodiscard]] const Part& standard_part(PartKind kind);
/// Names of all parts of a kind: "fifo, las, ...".
[[nodiscard]] std::string part_names(PartKind kind);

}  // namespace goban::core::policy
