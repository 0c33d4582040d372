// Shared by the commands that use the daemon: the option --server, requests, JSON responses.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/shell/options.hpp"
#include "serve/api/api_client.hpp"

namespace goban::cli {

/// Adds --server to a command.
void add_server_option(Command& command, std::string& server);

/// A client of the daemon that `server` names (empty: the default). Errors: those of find_server().
[[nodiscard]] base::Result<serve::api::ApiClient> connect(const std::string& server);

/// The response as JSON. Errors: those of the client; Failed if it is not valid JSON.
[[nodiscard]] base::Result<nlohmann::json> get_json(serve::api::ApiClient& client,
                                                    const std::string& path);
/// Errors: also Usage if a string in `body` is not valid UTF-8.
[[nodiscard]] base::Result<nlohmann::json> post_json(serve::api::ApiClient& client,
                                                     const std::string& path,
                                                     const nlohmann::json& body);

/// Members of responses; the fallback if they are absent or of another type.
[[nodiscard]] std::string text_of(const nlohmann::json& from, const char* name,
                                  const char* fallback = "");
[[nodiscard]] double number_of(const nlohmann::json& from, const char* name, double fallback = 0);
[[nodiscard]] bool flag_of(const nlohmann::json& from, const char* name, bool fallback = false);
/// The member; null if it is absent.
[[nodiscard]] const nlohmann::json& part_of(const nlohmann::json& from, const char* name);
/// The array called `name`, or the response itself if it is an array; otherwise an empty array.
[[nodiscard]] const nlohmann::json& list_of(const nlohmann::json& from, const char* name);
const nlohmann::json& list_of(nlohmann::json&& from, const char* name) = delete;

/// Calls `draw` whenever the daemon reports a change, and at least every `period_s` seconds, until
/// Ctrl-C or until `draw` returns false. Errors: those of `draw` and of the client.
[[nodiscard]] base::Status redraw_on_change(
    const std::string& server, double period_s,
    const std::function<base::Result<bool>(serve::api::ApiClient&)>& draw);
/// Clears the terminal and writes `text`; only writes it if stdout is not a terminal.
void show_screen(const std::string& text);

}  // namespace goban::cli
