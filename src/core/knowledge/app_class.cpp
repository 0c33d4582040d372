#include "core/knowledge/app_class.hpp"

namespace goban::core::knowledge {
std::optional<KnownModel> find_known_model(std::string_view name) {
  for (const KnownModel& known : kKnownModels) {
    if (known.name == name) return known;
  }
  return std::nullopt;
}

model::AppClass class_of_model(std::string_view name) {
  const auto known = find_known_model(name);
  return known ? known->app_class : model::AppClass{0};
}

std::optional<double> base_seconds_of_model(std::string_view name) {
  const auto known = find_known_model(name);
  if (!known) return std::nullopt;
  return known->iteration_s;
}

std::string list_known_models() {
  std::string names;
  for (const KnownModel& known : kKnownModels) {
    if (!names.empty()) names += ", ";
    names += known.name;
  }
  return names;
}

std::optional<model::AppClass> parse_app_class(std::string_view letter) {
  if (letter.size() != 1 || letter[0] < 'A' || letter[0] > 'Z') return std::nullopt;
  return model::AppClass{static_cast<uint8_t>(letter[0] - 'A')};
}

}  // namespace goban::core::knowledge
