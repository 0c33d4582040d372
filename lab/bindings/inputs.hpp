// What functions of the module take, and how they fail.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/model/cluster.hpp"
#include "core/model/job_history.hpp"
#include "study/lab/fitted.hpp"

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
  std::vector<std::string> notes{};                  ///< what the reader left out
  std::shared_ptr<const study::lab::Rates> rates{};  ///< null: its jobs run on what they request
};

/// The jobs of a trace on a cluster.
struct Fitting {
  Fitting(const Trace& trace, const core::model::Cluster& cluster) : history(trace.history) {
    if (trace.rates == nullptr) return;
    fitted = std::make_shared<const study::lab::Fitted>(
        value_of(study::lab::fit(*trace.history, cluster, *trace.rates)));
    history = {fitted, &fitted->history};
  }
  std::shared_ptr<const core::model::JobHistory> history;
  std::shared_ptr<const study::lab::Fitted> fitted;  ///< null: all jobs are rigid
};

}  // namespace goban::lab
