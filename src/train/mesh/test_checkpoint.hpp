// Test support: loads a checkpoint that must exist.
#pragma once

#include <string>

#include "train/mesh/checkpoint.hpp"

namespace goban::train::mesh {

/// Sets the variables. Errors: those of resume_checkpoint; Failed, if there is no file.
[[nodiscard]] inline base::Status load_checkpoint(const std::string& path, Variables& variables) {
  const auto found = resume_checkpoint(path, variables);
  if (!found) return base::failure(found.error());
  if (!*found) return base::failed("there is no checkpoint '" + path + "'");
  return {};
}

}  // namespace goban::train::mesh
