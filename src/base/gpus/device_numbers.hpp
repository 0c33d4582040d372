// Device files of NVIDIA's GPUs, by number. Sources: the kernel's
// Documentation/admin-guide/devices.txt (major 195), and NVIDIA's MIG user guide, "Device Nodes and
// Capabilities".
#pragma once

#include <string>
#include <vector>

#include "base/gpus/gpu.hpp"

namespace goban::base::gpus {

/// /dev/nvidia<minor>, and the DRM nodes of the PCI address (such as 00000000:08:00.0), by which
/// programs compute on the GPU, too. `root`: folder of /sys.
[[nodiscard]] std::vector<DeviceNumber> nvidia_devices(uint32_t minor, const std::string& pci,
                                                       const std::string& root = "");

/// The capabilities of a MIG instance of the GPU, under /dev/nvidia-caps; empty: unknown. `root`:
/// folder of /proc.
[[nodiscard]] std::vector<DeviceNumber> mig_devices(uint32_t minor, uint32_t gpu_instance,
                                                    uint32_t compute_instance,
                                                    const std::string& root = "");

}  // namespace goban::base::gpus
