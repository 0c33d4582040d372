// Keeps the processes of a cgroup from opening devices: by a program that the kernel runs at each
// open (version 2), or by the `devices` controller (version 1). Sources: the kernel's
// Documentation/bpf/prog_cgroup_dev and Documentation/admin-guide/cgroup-v1/devices.rst.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/gpus/gpu.hpp"
#include "base/result.hpp"
#include "live/machine/cgroup.hpp"

namespace goban::live::machine {

using base::gpus::DeviceNumber;

/// The processes of the cgroup, of either version, can neither open nor create these character
/// devices from now on; all others as before. Errors: Failed.
[[nodiscard]] base::Status deny_devices(const Cgroup& cgroup,
                                        const std::vector<DeviceNumber>& denied);

/// The same for a run whose cgroup of version 2, if any, is `cgroup`. Returns a further cgroup that
/// its processes have to join, `name`; nothing if `cgroup` does it. Errors: Failed.
[[nodiscard]] base::Result<std::optional<Cgroup>> fence_devices(
    const std::optional<Cgroup>& cgroup, const std::string& name,
    const std::vector<DeviceNumber>& denied);

/// Tries it with a cgroup of its own under `root`, as for Cgroup::make(). Errors: Failed with the
/// reason for which devices cannot be denied here.
[[nodiscard]] base::Status can_fence_devices(const std::string& root);

}  // namespace goban::live::machine
