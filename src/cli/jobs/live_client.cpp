#include "cli/jobs/live_client.hpp"

#include <chrono>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <thread>
#include <unistd.h>

#include "cli/jobs/field_words.hpp"
#include "cli/shell/command.hpp"

namespace goban::cli {

using base::Result;
using nlohmann::json;

namespace {

const json kNothing;
const json kEmptyList = json::array();

Result<json> parsed(const serve::api::ApiClient& client, Result<std::string> answer) {
  if (!answer) {
    answer.error().place.field = option_of_field(answer.error().place.field);
    return base::failure(std::move(answer.error()));
  }
  if (answer->empty()) return json::object();
  json document = json::parse(*answer, nullptr, false);
  if (document.is_discarded()) {
    return base::failed(
        fmt::format("{}: the response is not a valid JSON document", client.server_name()),
        "check that a goban daemon listens at this address");
  }
  return document;
}

}  // namespace

void add_server_option(Command& command, std::string& server) {
  command
      .add_option("--server", server,
                  "Address of the daemon: socket path, URL or ssh://HOST (default: $GOBAN_SERVER, "
                  "$GOBAN_SOCKET, then the standard sockets)")
      ->type_name("ADDRESS");
}

Result<serve::api::ApiClient> connect(const std::string& server) {
  auto address = serve::api::find_server(server);
  if (!address) return base::failure(std::move(address.error()));
  return serve::api::ApiClient(std::move(*address));
}

Result<json> get_json(serve::api::ApiClient& client, const std::string& path) {
  return parsed(client, client.get(path));
}

Result<json> post_json(serve::api::ApiClient& client, const std::string& path, const json& body) {
  std::string text;
  try {
    if (!body.is_null()) text = body.dump();
  } catch (const json::type_error&) {
    return base::usage_error("a value is not valid UTF-8", "encode it in UTF-8");
  }
  return parsed(client, client.post(path, text));
}

const json& part_of(const json& from, const char* name) {
  if (!from.is_object()) return kNothing;
  const auto found = from.find(name);
  return found == from.end() ? kNothing : *found;
}

const json& list_of(const json& from, const char* name) {
  if (from.is_array()) return from;
  const json& part = part_of(from, name);
  return part.is_array() ? part : kEmptyList;
}

std::string text_of(const json& from, const char* name, const char* fallback) {
  const json& part = part_of(from, name);
  return part.is_string() ? part.get<std::string>() : std::string(fallback);
}

double number_of(const json& from, const char* name, double fallback) {
  const json& part = part_of(from, name);
  return part.is_number() ? part.get<double>() : fallback;
}

bool flag_of(const json& from, const char* name, bool fallback) {
  const json& part = part_of(from, name);
  return part.is_boolean() ? part.get<bool>() : fallback;
}

base::Status redraw_on_change(const std::string& server, double period_s,
                              const std::function<Result<bool>(serve::api::ApiClient&)>& draw) {
  using Clock = std::chrono::steady_clock;
  auto address = serve::api::find_server(server);  // one way there for both
  if (!address) return base::failure(address.error());
  serve::api::ApiClient client(*address);
  serve::api::ApiClient events(std::move(*address));
  catch_interrupts();
  base::Status problem;
  bool more = true;
  bool changed = false;
  Clock::time_point drawn{};
  const auto draw_now = [&] {
    drawn = Clock::now();
    changed = false;
    auto drew = draw(client);
    if (!drew) problem = base::failure(std::move(drew.error()));
    more = drew && *drew;
  };
  draw_now();
  while (more && !interrupted()) {
    // Bursts of changes are drawn once; `take` is called about once a second in any case.
    const auto streamed = events.stream("/v1/events", [&](std::string_view part) {
      const double since_s = std::chrono::duration<double>(Clock::now() - drawn).count();
      constexpr double kShortest_s = 0.2;
      changed = changed || !part.empty();
      if (since_s >= period_s || (changed && since_s >= kShortest_s)) draw_now();
      return more && !interrupted();
    });
    if (!streamed && more && !interrupted()) return streamed;
    // A stream that ends immediately must not cause a busy loop.
    if (more && !interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  return problem;
}

void show_screen(const std::string& text) {
  if (isatty(STDOUT_FILENO) != 0) {
    fmt::print("\x1b[H\x1b[2J{}", text);
  } else {
    fmt::print("{}", text);
  }
  std::fflush(stdout);
}

}  // namespace goban::cli
