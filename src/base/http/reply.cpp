#include "base/http/reply.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace goban::base::http {

namespace {
std::string text_of(const nlohmann::json& document) {
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}
}  // namespace

Response reply(const nlohmann::json& document) { return {.body = text_of(document)}; }

Response refusal(int status, const base::Error& error) {
  return refusal(status, error.message, error.remedy, error.place.field);
}

Response refusal(int status, std::string message, std::string remedy, std::string field) {
  nlohmann::json error = {{"message", std::move(message)}};
  if (!field.empty()) error["field"] = std::move(field);
  if (!remedy.empty()) error["remedy"] = std::move(remedy);
  return {.status = status, .body = text_of({{"error", std::move(error)}})};
}

}  // namespace goban::base::http
