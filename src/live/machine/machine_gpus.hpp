// The GPUs of a machine, and who reads them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/gpus/nvml.hpp"

namespace goban::live::machine {

struct MachineGpus {
  std::vector<base::gpus::LocalGpu> gpus{};
  std::shared_ptr<const base::gpus::NvmlLibrary> nvml{};  ///< null: they are virtual
  std::string driver{};                                   ///< its version; empty = virtual
};

}  // namespace goban::live::machine
