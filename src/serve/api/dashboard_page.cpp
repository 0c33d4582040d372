#include "serve/api/dashboard_page.hpp"

#include <string_view>

#include "base/check.hpp"
#include "core/policy/compose.hpp"
#include "site/page/json_text.hpp"
#include "site/page/report_page.hpp"

namespace goban::serve::api {

namespace {

// Reports are files that load nothing (web/content_security.ts); this page connects to its server.
constexpr std::string_view kNothing = "content=\"default-src 'none'; ";
constexpr std::string_view kOwnServer = "connect-src 'self'; ";
constexpr std::string_view kDataElement = "<script type=\"application/json\" id=\"goban-report\">";

constexpr std::string_view kWithout =
    "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Goban</title></head>"
    "<body><p>This program was built without the dashboard. Install npm and Node.js 18 or later "
    "(Debian: nodejs, npm) and build with -DGOBAN_WEB=ON. In a terminal, goban queue, goban nodes "
    "and goban top show the same.</p></body></html>";

/// JSON whose strings cannot close the HTML element that contains it.
std::string document_of(const DashboardFacts& facts) {
  std::string out = R"({"schema":"goban-live/1","goban":)" + site::page::json_quoted(facts.version);
  out += ",\"policy\":" + site::page::json_quoted(facts.policy);
  out += facts.what_if ? ",\"what_if\":true" : ",\"what_if\":false";
  out += ",\"policies\":[";
  const char* separator = "";
  for (const core::policy::Preset& preset : core::policy::presets()) {
    out += separator;
    out += "{\"name\":" + site::page::json_quoted(preset.name);
    out += ",\"description\":" + site::page::json_quoted(preset.description) + "}";
    separator = ",";
  }
  return out + "]}";
}

size_t after(std::string_view page, std::string_view text) {
  const size_t found = page.find(text);
  GOBAN_CHECK(found != std::string_view::npos, "the page has no place for the dashboard's facts");
  return found + text.size();
}

}  // namespace

std::string dashboard_page(const DashboardFacts& facts) {
  const std::string_view page = site::page::report_page();
  if (page.empty()) return std::string(kWithout);
  const size_t policy = after(page, kNothing);
  const size_t data = after(page, kDataElement);
  GOBAN_CHECK(policy < data, "the policy of the page's contents comes after its data");
  std::string out;
  out += page.substr(0, policy);
  out += kOwnServer;
  out += page.substr(policy, data - policy);
  out += document_of(facts);
  out += page.substr(data);
  return out;
}

}  // namespace goban::serve::api
