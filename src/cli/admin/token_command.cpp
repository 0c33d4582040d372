// goban token: prints the link that signs a browser in to the user's own daemon, or its token.
#include <fmt/format.h>
#include <memory>

#include "base/files.hpp"
#include "cli/admin/commands.hpp"
#include "serve/api/api_client.hpp"
#include "serve/daemon/machine_daemon.hpp"

namespace goban::cli {
namespace {

struct TokenArguments {
  std::string state;
  bool bare = false;
  bool header = false;
  bool page = false;
};

/// Writes a page that redirects to the link and that only its owner can read, for programs that
/// open a browser: other users can read command lines.
int print_page(const std::string& folder, std::string link) {
  while (link.ends_with('\n')) link.pop_back();
  constexpr const char* kName = "dashboard.html";
  const std::string html = fmt::format(
      "<!doctype html><meta charset=utf-8><title>Goban</title><meta http-equiv=refresh "
      "content=\"0; url={0}\"><a href=\"{0}\">The dashboard</a>\n",
      link);
  const auto written = base::replace_file(folder, kName, html, base::Durable::No);
  if (!written) return report_error(written.error());
  fmt::print("{}/{}\n", folder, kName);
  return 0;
}

int run(const TokenArguments& arguments) {
  const std::string folder =
      arguments.state.empty() ? serve::api::default_state_folder() : arguments.state;
  const auto link = base::read_small_file(serve::daemon::dashboard_link_file(folder));
  if (!link) {
    return report_error({.code = base::ErrorCode::Failed,
                         .message = fmt::format("{}: no daemon has created a token here", folder),
                         .place = {},
                         .remedy = "start goban serve --listen 127.0.0.1:8080 without `tokens` in "
                                   "its configuration, or name its state folder with --state"});
  }
  if (arguments.page) return print_page(folder, *link);
  const size_t mark = link->rfind('=');
  const bool alone = (arguments.bare || arguments.header) && mark != std::string::npos;
  fmt::print("{}{}", arguments.header ? "Authorization: Bearer " : "",
             alone ? link->substr(mark + 1) : *link);
  return 0;
}

}  // namespace

void add_token(Command& app, Action& action) {
  auto arguments = std::make_shared<TokenArguments>();
  Command* c = app.add_subcommand("token", "Print the link to your daemon's dashboard");
  c->add_option("--state", arguments->state, "State folder of the daemon")->type_name("FOLDER");
  Command* forms = c->add_group_of_one("Output");
  forms->add_flag("--bare", arguments->bare, "Print the token only");
  forms->add_flag("--header", arguments->header, "Print the token as an HTTP header");
  forms->add_flag("--page", arguments->page,
                  "Write a page that opens the link and that only you can read; print its path");
  c->footer(
      "Examples:\n"
      "  xdg-open \"$(goban token --page)\"\n"
      "  goban token --header | curl -H @- http://127.0.0.1:8080/v1/jobs\n"
      "Do not put the token on a command line: every user of the machine can read it there.\n"
      "A daemon that listens on loopback without configured tokens creates one for the user it\n"
      "runs as. Only that user can read it. It grants all rights of that user.\n"
      "Exit codes: 0 success, 1 no token, 2 usage error.");
  c->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace goban::cli
