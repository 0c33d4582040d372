// goban token: the link that signs a browser in at this user's own daemon, or the token in it.
#include <fmt/format.h>
#include <memory>

#include "cli/command.hpp"
#include "engine/local/files.hpp"
#include "service/api_client.hpp"
#include "service/machine_daemon.hpp"

namespace goban::cli {
namespace {

struct TokenArguments {
  std::string state;
  bool bare = false;
};

int run(const TokenArguments& arguments) {
  const std::string folder =
      arguments.state.empty() ? service::default_state_folder() : arguments.state;
  const auto link = engine::local::read_small_file(service::dashboard_link_file(folder));
  if (!link) {
    return report_error(
        {.code = base::ErrorCode::Failed,
         .message = fmt::format("{}: no daemon here has a token of its own", folder),
         .place = {},
         .remedy = "start goban serve --listen 127.0.0.1:8080, without `tokens` in "
                   "its configuration; --state names its state folder"});
  }
  const size_t mark = link->rfind('=');
  fmt::print("{}", arguments.bare && mark != std::string::npos ? link->substr(mark + 1) : *link);
  return 0;
}

}  // namespace

void add_token(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<TokenArguments>();
  CLI::App* c = app.add_subcommand("token", "Print the link to the dashboard of your own daemon");
  c->add_option("--state", arguments->state, "The daemon's state folder")->type_name("FOLDER");
  c->add_flag("--bare", arguments->bare, "Print the token alone");
  c->footer(
      "Examples:\n"
      "  xdg-open \"$(goban token)\"\n"
      "  curl -H \"Authorization: Bearer $(goban token --bare)\" http://127.0.0.1:8080/v1/jobs\n"
      "A daemon that listens on loopback without configured tokens makes one for its own user, "
      "who\n"
      "alone may read it. Whoever has it may do what that user may.\n"
      "Exit codes: 0 fine, 1 there is none, 2 wrong usage.");
  c->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace goban::cli
