// The models of PAL's artifact (spec 2 and 8): class and base seconds per iteration.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/ids.hpp"

namespace goban::history {

/// Class of a model; A if the model is not known.
[[nodiscard]] model::AppClass class_of_model(std::string_view name);
/// Seconds of one iteration at PM score 1; nothing if the model is not known.
[[nodiscard]] std::optional<double> base_seconds_of_model(std::string_view name);
/// "BERT, DCGAN, ...": the models that have base seconds.
[[nodiscard]] std::string list_known_models();

}  // namespace goban::history
