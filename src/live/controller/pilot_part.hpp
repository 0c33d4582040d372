// The part of the cluster that a pilot is limited to: its nodes, and the jobs of its users.
#pragma once

#include <vector>

#include "live/controller/decision_core.hpp"
#include "live/controller/input.hpp"
#include "live/controller/job_book.hpp"

namespace goban::live::controller {

/// The nodes of a limited pilot. Errors: BadData naming the field of the plan: a node that is
/// unknown, or reserved now or later; no node is left to others.
[[nodiscard]] base::Result<std::vector<NodeId>> nodes_of_pilot(
    const core::pilot::Plan& plan, const core::model::Cluster& cluster,
    const core::scheduler::PromisedNodes& promised);

/// The part to which a job belongs that enters the queue now: of a running pilot that is limited to
/// users or accounts of which it is, and whose nodes are large enough for it. Invalid: none.
[[nodiscard]] ReservationId pilot_part(const JobBook& book, const DecisionCore& core,
                                       const LiveJob& job, TimeNs at);

/// Sets the nodes aside, and moves the jobs of the pilot there: those that wait, and those that run
/// on these nodes alone. Errors: as nodes_of_pilot().
[[nodiscard]] base::Status occupy_part(JobBook& book, DecisionCore& core, TimeNs at);
/// Returns nodes and jobs to all; jobs keep their GPUs.
void leave_part(JobBook& book, DecisionCore& core, TimeNs at);

}  // namespace goban::live::controller
