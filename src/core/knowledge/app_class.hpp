// Class and iteration time of the six models of PAL, by name (PAL: application classes; simulated
// time. docs/papers.md).
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
/// Class of a model by name; A, the most sensitive, for an unknown model.
[[nodiscard]] model::AppClass class_of_model(std::string_view name);
/// Base seconds of one iteration; nullopt for an unknown model.
[[nodiscard]] std::optional<double> base_seconds_of_model(std::string_view name);
/// The names, for messages: "BERT, DCGAN, ...".
[[nodiscard]] std::string list_known_models();

/// "A" to "Z" as a class, as in a job profile; nullopt for any other text.
[[nodiscard]] std::optional<model::AppClass> parse_app_class(std::string_view letter);

}  // namespace goban::core::knowledge
