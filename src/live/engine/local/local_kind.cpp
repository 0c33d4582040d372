#include "live/engine/local/local_kind.hpp"

#include "live/engine/local/local_engine.hpp"
#include "live/engine/local/local_view.hpp"
#include "live/engine/local/supervisor.hpp"
#include "live/machine/device_fence.hpp"

namespace goban::live::engine::local {

namespace {

/// Errors: Failed with the reason for which jobs can open each other's GPUs.
base::Status can_isolate(const std::vector<base::gpus::LocalGpu>& gpus, const std::string& root) {
  for (const base::gpus::LocalGpu& gpu : gpus) {
    if (!gpu.devices.empty()) continue;
    return base::failed(gpu.is_virtual ? "virtual GPUs are cores, and have no device files"
                                       : "the driver does not name their device files");
  }
  return machine::can_fence_devices(root);
}

}  // namespace

base::Result<EngineParts> make_local(const EngineSetup& setup) {
  const base::gpus::MachineGpus& machine = setup.machine;
  LocalOptions options{.state = setup.state, .node = setup.node, .epoch = setup.epoch};
  options.cgroup_root = machine::find_cgroup_root();
  if (options.cgroup_root.empty()) options.cgroup_root = "-";
  const auto isolated = can_isolate(machine.gpus, options.cgroup_root);
  options.isolates = isolated.has_value();
  EngineParts out;
  out.notes.push_back(isolated ? "jobs can open their own GPUs only"
                               : "jobs can open the GPUs of other jobs: " +
                                     isolated.error().message + " (docs/security.md)");
  out.engine = std::make_unique<LocalEngine>(std::move(options), machine.gpus, machine.nvml);
  out.view = std::make_unique<LocalView>(setup.state, machine.gpus, machine.nvml);
  return out;
}

base::Result<int> supervise_folder(const std::string& folder) {
  if (!folder.starts_with('/')) return base::usage_error("the path must be absolute");
  return supervise(folder);
}

}  // namespace goban::live::engine::local
