#include "live/engine/local/local_kind.hpp"

#include "live/engine/local/local_engine.hpp"
#include "live/engine/local/local_view.hpp"
#include "live/engine/local/supervisor.hpp"

namespace goban::live::engine::local {

base::Result<EngineParts> make_local(const EngineSetup& setup) {
  const base::gpus::MachineGpus& machine = setup.machine;
  EngineParts out;
  out.engine = std::make_unique<LocalEngine>(
      LocalOptions{.state = setup.state, .node = setup.node, .epoch = setup.epoch}, machine.gpus,
      machine.nvml);
  out.view = std::make_unique<LocalView>(setup.state, machine.gpus, machine.nvml);
  return out;
}

base::Result<int> supervise_folder(const std::string& folder) {
  if (!folder.starts_with('/')) return base::usage_error("the path must be absolute");
  return supervise(folder);
}

}  // namespace goban::live::engine::local
