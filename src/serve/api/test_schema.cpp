#include "serve/api/test_schema.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/http/http_uri.hpp"
#include "serve/api/openapi.hpp"

namespace goban::serve::api {

using nlohmann::json;

const json& openapi() {
  static const json document = json::parse(openapi_document());
  return document;
}

const json& resolved(const json& schema) {
  const auto found = schema.find("$ref");
  if (found == schema.end()) return schema;
  return openapi().at(json::json_pointer(found->get<std::string>().substr(1)));
}

namespace {
bool has_type(const std::string& type, const json& value) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  return type == "boolean" && value.is_boolean();
}

std::string object_problem(const json& schema, const json& value, const std::string& where) {
  const json none = json::object();
  const json& properties = schema.contains("properties") ? schema["properties"] : none;
  for (const json& name : schema.value("required", json::array())) {
    if (!value.contains(name)) return where + "." + name.get<std::string>() + " is missing";
  }
  for (const auto& [name, each] : value.items()) {
    const std::string place = where + "." + name;
    if (properties.contains(name)) {
      if (std::string problem = schema_problem(properties[name], each, place); !problem.empty()) {
        return problem;
      }
      continue;
    }
    const json& others = schema.at("additionalProperties");
    if (others == false) return place + " is in no description";
    if (!others.is_object()) continue;
    if (std::string problem = schema_problem(others, each, place); !problem.empty()) {
      return problem;
    }
  }
  return {};
}

/// The matching path of the description, such as /v1/jobs/{job}; empty: none.
std::string described_path(const std::string& path) {
  const auto given = base::http::path_segments(path);
  if (!given) return {};
  for (const auto& [name, methods] : openapi().at("paths").items()) {
    const auto wanted = base::http::path_segments(name);
    const bool fits = std::equal(wanted->begin(), wanted->end(), given->begin(), given->end(),
                                 [](const std::string& want, const std::string& have) {
                                   return want.starts_with('{') ? !have.empty() : want == have;
                                 });
    if (fits) return name;
  }
  return {};
}
}  // namespace

std::string schema_problem(const json& reference, const json& value, const std::string& where) {
  const json& schema = resolved(reference);
  const auto type = schema.value("type", std::string());
  if (!has_type(type, value)) return where + " is no " + type + ": " + value.dump();
  if (schema.contains("enum")) {
    const json& names = schema["enum"];
    if (std::find(names.begin(), names.end(), value) == names.end()) {
      return where + " has no such value: " + value.dump();
    }
  }
  if (value.is_number()) {
    if (schema.contains("minimum") && value < schema["minimum"]) return where + " is too small";
    if (schema.contains("maximum") && value > schema["maximum"]) return where + " is too large";
  }
  if (value.is_array()) {
    for (const json& each : value) {
      if (std::string problem = schema_problem(schema.at("items"), each, where + "[]");
          !problem.empty()) {
        return problem;
      }
    }
  }
  return value.is_object() ? object_problem(schema, value, where) : std::string{};
}

std::string answer_problem(const base::http::Request& request,
                           const base::http::Response& response) {
  const std::string path = described_path(request.path);
  const std::string status = std::to_string(response.status);
  const std::string about = request.method + " " + request.path + ": " + status + ": ";
  std::string method = request.method;
  std::transform(method.begin(), method.end(), method.begin(),
                 [](char c) { return static_cast<char>(c | 0x20); });
  if (path.empty() || !openapi()["paths"][path].contains(method)) {
    const bool fine =
        path.empty() ? response.status == 404 || response.status == 400 : response.status == 405;
    if (!fine) return about + "for something that is in no description";
    return schema_problem(openapi()["components"]["schemas"]["Error"], json::parse(response.body));
  }
  const json& responses = openapi()["paths"][path][method]["responses"];
  if (!responses.contains(status)) return about + "no such status in the description";
  const json& content = responses[status]["content"];
  const std::string type = response.content_type.substr(0, response.content_type.find(';'));
  if (!content.contains(type)) return about + "no such content type: " + response.content_type;
  if (type != "application/json") return {};
  const json body = json::parse(response.body, nullptr, false);
  if (body.is_discarded()) return about + "no JSON: " + response.body;
  const std::string problem = schema_problem(content[type]["schema"], body);
  return problem.empty() ? problem : about + problem;
}

}  // namespace goban::serve::api
