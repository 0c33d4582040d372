// The columns of traces and results, as Python gets them.
#pragma once

#include <memory>
#include <nanobind/nanobind.h>
#include <optional>

#include "inputs.hpp"
#include "study/lab/action_log.hpp"
#include "study/simulator/simulation.hpp"
#include "views.hpp"

namespace goban::lab {

struct Run {
  Fitting jobs;
  study::simulator::SimulationResult result{};
  std::optional<study::lab::ActionLog> actions{};  ///< if they were asked for
};

/// A row a job.
[[nodiscard]] nb::dict trace_columns(const core::model::JobHistory& history);
[[nodiscard]] nb::dict run_columns(const Run& run);
/// A row for each action; none if they were not asked for.
[[nodiscard]] nb::object action_columns(const Run& run);

}  // namespace goban::lab
