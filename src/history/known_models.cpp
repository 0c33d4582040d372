#include "history/known_models.hpp"

#include <array>

namespace goban::history {
namespace {

struct KnownModel {
  std::string_view name;
  char app_class;
  double base_s;
};

constexpr std::array<KnownModel, 6> kModels = {{{"BERT", 'B', .179},
                                                {"DCGAN", 'B', .0469266931},
                                                {"GPT2", 'B', 3.5714},
                                                {"PointNet", 'D', .28125},
                                                {"resnet50", 'A', .17540429367763434},
                                                {"vgg19", 'C', .300610341}}};

}  // namespace

model::AppClass class_of_model(std::string_view name) {
  for (const KnownModel& known : kModels) {
    if (known.name == name) return {static_cast<uint8_t>(known.app_class - 'A')};
  }
  return {};
}

std::optional<double> base_seconds_of_model(std::string_view name) {
  for (const KnownModel& known : kModels) {
    if (known.name == name) return known.base_s;
  }
  return std::nullopt;
}

std::string list_known_models() {
  std::string names;
  for (const KnownModel& known : kModels) {
    if (!names.empty()) names += ", ";
    names += known.name;
  }
  return names;
}

}  // namespace goban::history
