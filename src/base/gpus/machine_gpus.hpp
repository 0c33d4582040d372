// The GPUs of a machine, and the library that reads them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/gpus/nvml.hpp"

namespace goban::base::gpus {

struct MachineGpus {
  std::vector<LocalGpu> gpus{};
  std::shared_ptr<const NvmlLibrary> nvml{};  ///< null: virtual GPUs
  std::string driver{};                       ///< its version; empty: virtual GPUs
};

}  // namespace goban::base::gpus
