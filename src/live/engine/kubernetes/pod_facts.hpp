// What the engine asks about one pod, whatever gang it belongs to.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "live/engine/cluster/mark.hpp"
#include "live/engine/kubernetes/gangs.hpp"
#include "live/engine/kubernetes/objects.hpp"

namespace goban::live::engine::kubernetes {

inline constexpr std::string_view kJob = "Job";  ///< the owner's kind of a Job's pods

/// Whether a pod or Job waits for this scheduler, in a namespace that it manages.
[[nodiscard]] bool is_ours(const Meta& meta, const std::string& scheduler, const Rules& rules);

/// NAMESPACE/NAME/UID.
[[nodiscard]] std::string id_of(const Meta& meta);

/// Whether a Job, or an object of groups.hpp, made the pod.
[[nodiscard]] bool is_of_object(const Pod& pod);

/// The id of its gang, if no object or pod group says otherwise: of its Job, also if that is gone
/// already or not known yet, of its label, or its own.
[[nodiscard]] std::string plain_id_of(const Pod& pod);

/// The mark of a pod, unless a daemon with another state folder wrote it.
[[nodiscard]] std::optional<cluster::Mark> mark_of(const Pod& pod, uint64_t first_epoch);

/// Whether this daemon gave the pod its node for this run.
[[nodiscard]] bool is_of_run(const Pod& pod, const Gang& gang, const RunId& run);

/// What the kubelet refused never ran: it misses resources (OutOf...), would not be in line with
/// the node as it is now, is under pressure or shutting down, a device plug-in failed, or a
/// critical pod needed the room. A kubelet also gives some of these reasons to pods that it ends:
/// those that ran are not meant. "Terminated", by a node that shuts down, and "NodeLost" are said
/// of no others.
[[nodiscard]] bool was_refused(const Pod& pod);

/// The older of two pods was there first.
[[nodiscard]] std::tuple<TimeNs, TimeNs, std::string> age_of(const Pod* pod);

}  // namespace goban::live::engine::kubernetes
