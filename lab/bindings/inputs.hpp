// What functions of the module take, and how they fail.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/model/job_history.hpp"

namespace goban::lab {

/// An error that the user can act on; becomes goban_lab.LabError.
struct LabError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <typename T>
T value_of(base::Result<T> result) {
  if (!result) throw LabError(result.error().text());
  return std::move(*result);
}

struct Trace {
  std::shared_ptr<const core::model::JobHistory> history;
  std::vector<std::string> notes{};  ///< what the reader left out
};

}  // namespace goban::lab
