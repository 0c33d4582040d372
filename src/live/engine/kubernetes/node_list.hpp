// The nodes that the core is told of, and the partitions by which it knows where a job may run.
// Pure.
#pragma once

#include <map>
#include <string>

#include "live/engine/kubernetes/closed_nodes.hpp"
#include "live/engine/kubernetes/gangs.hpp"

namespace goban::live::engine::kubernetes {

/// Adds the managed nodes, with what pods without GPUs, which are no jobs here, leave of cores and
/// memory. A node on which pods of ours run stays, and is drained, when its label is removed; and
/// one that is not ready is drained, not down, until they are gone: what is on a node that is down
/// counts as lost. So are one that offers fewer GPUs than are held there, and one whose object is
/// gone: they have those that are held, and the receiver remembers the rest.
/// `held`: as of gpus_held().
void add_nodes(const Objects& objects, const Rules& rules, const cluster::Picture& told,
               const std::map<std::string, int32_t>& held, View& view);

/// Jobs that may not run on all nodes belong to a partition of those where they may, besides their
/// namespace: the core knows partitions. Each makes the core's tables longer, so their number is
/// bounded: those of jobs that wait come first, by priority and age, and what is too much is held.
void set_partitions(const std::map<std::string, Gang>& gangs, ClosedNodes& closed, View& view);

}  // namespace goban::live::engine::kubernetes
