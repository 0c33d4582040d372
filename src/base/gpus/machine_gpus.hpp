// The GPUs of a machine, and who reads them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/gpus/nvml.hpp"

namespace goban::base::gpus {

struct MachineGpus {
  std::vector<LocalGpu> gpus{};
  std::shared_ptr<const NvmlLibrary> nvml{};  ///< null: they are virtual
  std::string driver{};                       ///< its version; empty = virtual
};

}  // namespace goban::base::gpus
