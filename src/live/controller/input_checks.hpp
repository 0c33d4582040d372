// Checks of inputs before they are written to the journal. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/scheduler/state.hpp"
#include "live/controller/input.hpp"
#include "live/controller/job_book.hpp"
#include "live/controller/site.hpp"

namespace goban::live::controller {

/// The parts of a controller's state that the checks read.
struct CheckFacts {
  const Site& site;
  const JobBook& book;
  const core::scheduler::State& core;
  const std::map<NodeId, std::string>& drained;
  const std::set<NodeId>& drained_there;  ///< of `drained`: by the engine's own cluster
  const std::set<NodeId>& down;
  const std::set<NodeId>& silent;  ///< nodes that do not answer while runs are on them
  const std::map<job::OwnerKey, size_t>& unfinished;  ///< jobs by their owner
  TimeNs now_ns = 0;
};

/// Errors: BadData if the request is invalid; Usage if the user may not have more jobs; Failed if
/// it is not possible at present (never for Submit).
[[nodiscard]] base::Status check_input(const Input& input, const CheckFacts& facts);

/// Whether the site can run the job at all: its size and the nodes it names.
[[nodiscard]] base::Status check_request(const job::JobSpec& spec, const Site& site);

/// Checks the walltime limit of a job against the site's maximum; a resource type that has one of
/// its own goes first.
[[nodiscard]] base::Status check_walltime(const job::JobSpec& spec, const Site& site);

[[nodiscard]] base::Status check_scores(const ScoresMeasured& scores, const Site& site);

// Reservations (reservation_checks.cpp).
/// The nodes that a reservation would get: the named ones, or the first ones that can be reserved.
/// Errors: the reason why it cannot have them.
[[nodiscard]] base::Result<std::vector<NodeId>> choose_nodes(const Reserve& reserve,
                                                             const CheckFacts& facts);
/// Checks that a job may use the reservation it names.
[[nodiscard]] base::Status check_reservation_use(const job::JobSpec& spec, const Site& site,
                                                 const JobBook& book);
[[nodiscard]] base::Status check_cancel(const JobBook& book, const CancelReservation& cancel);

}  // namespace goban::live::controller
