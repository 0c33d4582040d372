#include "core/model/import/json_fields.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace goban::core::model {

using nlohmann::json;

base::Result<json> parse_json(std::string_view text, const std::string& file) {
  try {
    return json::parse(text);
  } catch (const json::exception& problem) {
    const auto* parse = dynamic_cast<const json::parse_error*>(&problem);
    const size_t at = parse == nullptr ? 0 : std::min(parse->byte, text.size());
    const auto lines =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    std::string message = problem.what();
    if (const size_t colon = message.rfind("; "); colon != std::string::npos) {
      message.erase(0, colon + 2);
    }
    return base::bad_data({file, static_cast<int>(lines) + 1, 0, ""}, "not JSON: " + message,
                          "give the output as it is");
  }
}

const json* member(const json& value, std::string_view key) {
  if (!value.is_object()) return nullptr;
  const auto found = value.find(std::string(key));
  return found == value.end() ? nullptr : &*found;
}

std::string text_of(const json& value, std::string_view key) {
  const json* found = member(value, key);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace goban::core::model
