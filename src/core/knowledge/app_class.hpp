// What is known of models by name: the class and the iteration time of PAL's six (spec 2 and 8).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/ids.hpp"

namespace goban::core::knowledge {

/// A model of PAL's evaluation.
struct KnownModel {
  std::string_view name;
  model::AppClass app_class;
  double iteration_s = 0;  ///< base seconds per iteration, at score 1 and locality penalty 1
};

inline constexpr std::array kKnownModels = {
    KnownModel{"BERT", {1}, 0.179},
    KnownModel{"DCGAN", {1}, 0.0469266931},
    KnownModel{"GPT2", {1}, 3.5714},
    KnownModel{"PointNet", {3}, 0.28125},
    KnownModel{"resnet50", {0}, 0.17540429367763434},
    KnownModel{"vgg19", {2}, 0.300610341},
};

/// Finds a model by its exact name.
[[nodiscard]] std::optional<KnownModel> find_known_model(std::string_view name);
/// Class of a model by name; A, the most sensitive one, if it is not known.
[[nodiscard]] model::AppClass class_of_model(std::string_view name);
/// Base seconds of one iteration; nothing if the model is not known.
[[nodiscard]] std::optional<double> base_seconds_of_model(std::string_view name);
/// The names, for messages: "BERT, DCGAN, ...".
[[nodiscard]] std::string list_known_models();

/// "A" to "Z" as a class, such as in a job profile; nothing for any other text.
[[nodiscard]] std::optional<model::AppClass> parse_app_class(std::string_view letter);

}  // namespace goban::core::knowledge
