// A part of a policy: the row that names it, says what it does and makes it. Each part's own file
// exports its row; parts.cpp lists them all.
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
enum class PartKind : uint8_t { Order, Select, Placement, Preemption, Sharing, Power, Migration };
/// The kinds' names for people, in the order of PartKind.
inline constexpr std::array<std::string_view, 7> kPartKinds = {
    "order", "select", "placement", "preemption", "sharing", "power", "migration"};

[[nodiscard]] constexpr std::string_view kind_name(PartKind kind) {
  return kPartKinds[static_cast<size_t>(kind)];
}

/// Whether a part needs to know who slows whom and what nodes draw (SiteKnowledge).
enum class KnowledgeUse : uint8_t {
  None,
  Required,
  /// Where nothing is known, the policy runs with the standard parts in place of this one and of
  /// those that require knowledge.
  Optional,
};

struct Part {
  PartKind kind{};
  std::string_view name;
  std::string_view description;  ///< one line, for people
  /// Makes the part and puts it into its place in the set, whose rules and interval are set.
  void (*install)(PolicySet& set, const RunContext& run, const PolicyOptions& options) = nullptr;

  // What the composition has to know of it.

  /// Needs the true work of jobs, which only a simulation knows.
  bool needs_true_work = false;
  KnowledgeUse knowledge = KnowledgeUse::None;
  /// Of a preemption part, what it is; of an order, what fits it if the policy names none.
  Preemption preemption = Preemption::None;
  /// Of an order: a job that waited so long goes before all others; 0: never.
  double starvation_s = 0;
  /// Of a selection: it reads predicted ends of running jobs.
  bool needs_estimates = false;
  /// Of a placement: it succeeds whenever enough GPUs are free, wherever they are (for requests
  /// that need not lie on one node). Reservations of backfill then only count GPUs.
  bool fungible = true;
  /// Of a power part: idle nodes may sleep.
  bool rests_nodes = false;
  /// Changes the options that the part starts from; null: the defaults.
  void (*set_defaults)(PolicyOptions& options) = nullptr;
  /// Refuses compositions that the part cannot work in; null: it goes with all others.
  base::Status (*check)(const Composition& composition) = nullptr;
};

/// `install` of a part that is made from nothing: `put<&PolicySet::order, Fifo>`.
template <auto kPlace, typename T>
void put(PolicySet& set, const RunContext& /*run*/, const PolicyOptions& /*options*/) {
  set.*kPlace = std::make_unique<T>();
}

/// All parts, kind by kind, in the order in which people see them.
[[nodiscard]] std::span<const Part* const> parts();
/// Null: no part has that name.
[[nodiscard]] const Part* find_part(std::string_view name);
/// The part of a policy that names none of the kind: the first one listed.
[[nodiscard]] const Part& standard_part(PartKind kind);
/// Names of all parts of a kind: "fifo, las, ...".
[[nodiscard]] std::string part_names(PartKind kind);

}  // namespace goban::core::policy
