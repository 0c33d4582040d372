// goban reserve, goban reservations: whole nodes for some users, from one time to another.
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/date_time.hpp"
#include "base/http/http_client.hpp"
#include "cli/admin/commands.hpp"
#include "cli/jobs/job_row.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/shell/text_table.hpp"
#include "live/job/request_values.hpp"

namespace goban::cli {
namespace {

using base::Result;
using nlohmann::json;

struct ReserveArguments {
  std::string server;
  bool json_out = false;
  std::vector<std::string> nodes;
  int32_t num_nodes = 0;
  std::string kind, from, span, user;
  std::vector<std::string> users, accounts;
};

struct ListArguments {
  std::string server;
  bool json_out = false;
  std::vector<std::string> names;
};

base::Error usage(const char* option, std::string message, std::string remedy) {
  return {.code = base::ErrorCode::Usage,
          .message = std::move(message),
          .place = {.file = {}, .line = 0, .column = 0, .field = option},
          .remedy = std::move(remedy)};
}

/// Whole seconds since 1970 of "+2d", "2026-12-01", "2026-12-01 10:00[:00]" (local time unless a
/// zone follows).
Result<double> parse_start(std::string text) {
  if (text.starts_with('+')) {
    const auto span = live::job::parse_span(text.substr(1));
    if (!span) return base::failure(usage("--from", span.error().message, span.error().remedy));
    return std::ceil(wall_clock_s() + base::to_seconds(*span));
  }
  constexpr size_t kDateLength = 10;
  constexpr size_t kMinuteLength = 16;
  if (text.size() == kDateLength) text += " 00:00";
  if (text.size() == kMinuteLength) text += ":00";
  const auto moment = base::parse_date_time(text);
  if (!moment) {
    return base::failure(usage("--from", fmt::format("'{}' is not a valid date or time", text),
                               "write '2026-12-01 10:00', or +2d from now"));
  }
  const base::TimeNs whole_ns = moment->unix_ns / base::kSecond * base::kSecond;
  return base::to_seconds(moment->has_zone ? whole_ns : base::local_to_unix(whole_ns));
}

Result<json> body_of(const ReserveArguments& arguments) {
  const auto start = parse_start(arguments.from);
  if (!start) return base::failure(start.error());
  const auto span = live::job::parse_span(arguments.span);
  if (!span) return base::failure(usage("--for", span.error().message, span.error().remedy));
  json body = {{"start_s", *start}, {"end_s", *start + base::to_seconds(*span)}};
  if (!arguments.nodes.empty()) body["nodes"] = arguments.nodes;
  if (arguments.num_nodes > 0) body["num_nodes"] = arguments.num_nodes;
  if (!arguments.kind.empty()) body["kind"] = arguments.kind;
  if (!arguments.user.empty()) body["user"] = arguments.user;
  if (!arguments.users.empty()) body["users"] = arguments.users;
  if (!arguments.accounts.empty()) body["accounts"] = arguments.accounts;
  return body;
}

std::string nodes_text(const json& reservation) {
  std::string out;
  for (const json& node : list_of(part_of(reservation, "nodes"), "nodes")) {
    if (node.is_string()) out += (out.empty() ? "" : ",") + node.get<std::string>();
  }
  return out;
}

int reserve(const ReserveArguments& arguments) {
  if (arguments.nodes.empty() == (arguments.num_nodes == 0)) {
    return report_error(usage("--nodes", "exactly one of node names and --nodes is required",
                              "name the nodes, or give their number with --nodes"));
  }
  const auto body = body_of(arguments);
  if (!body) return report_error(body.error());
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  const auto made = post_json(*client, "/v1/reservations", *body);
  if (!made) return report_error(made.error());
  if (arguments.json_out) {
    fmt::print("{}\n", made->dump(2));
    return 0;
  }
  const double now_s = wall_clock_s();
  fmt::print("reservation {}: {} from {} to {}\n", text_of(*made, "reservation"),
             printable(nodes_text(*made)), moment_text(number_of(*made, "start_s"), now_s),
             moment_text(number_of(*made, "end_s"), now_s));
  return 0;
}

int list(const ListArguments& arguments) {
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  const auto answer = get_json(*client, "/v1/reservations");
  if (!answer) return report_error(answer.error());
  const json& reservations = list_of(*answer, "reservations");
  if (arguments.json_out) {
    fmt::print("{}\n", reservations.dump(2));
    return 0;
  }
  TextTable table({{"RESERVATION", false, 12},
                   {"STATE", false, 10},
                   {"USER", false, 20},
                   {"FROM", true, 20},
                   {"TO", true, 20},
                   {"GPUS", true, 8},
                   {"NODES", false, 60}});
  const double now_s = wall_clock_s();
  for (const json& each : reservations) {
    table.add({text_of(each, "reservation"), text_of(each, "state"), text_of(each, "user"),
               moment_text(number_of(each, "start_s"), now_s),
               moment_text(number_of(each, "end_s"), now_s),
               fmt::format("{:.0f}", number_of(each, "num_gpus")), nodes_text(each)});
  }
  fmt::print("{}", table.text(output_style()));
  return 0;
}

int cancel(const ListArguments& arguments) {
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  int code = 0;
  for (const std::string& name : arguments.names) {
    const auto answer = client->remove("/v1/reservations/" + base::http::url_part(name));
    if (answer) {
      fmt::print("cancelled {}\n", name);
      continue;
    }
    base::Error error = answer.error();
    error.message = fmt::format("reservation {}: {}", name, error.message);
    code = report_error(error);
  }
  return code;
}

void add_reserve(Command& app, Action& action) {
  auto arguments = std::make_shared<ReserveArguments>();
  Command* c = app.add_subcommand("reserve", "Reserve whole nodes for your jobs");
  c->add_option("NODE", arguments->nodes, "Node names; or let --nodes choose them");
  c->add_option("-N,--nodes", arguments->num_nodes, "Number of nodes")->positive();
  c->add_option("--kind", arguments->kind,
                "GPU model of the nodes, or a resource type that fits on them")
      ->type_name("NAME");
  c->add_option("--from", arguments->from, "Start time: '2026-12-01 10:00', or +2d from now")
      ->type_name("TIME")
      ->required();
  c->add_option("--for", arguments->span, "Duration, such as 3d")->type_name("TIME")->required();
  c->add_option("--users", arguments->users, "Other users whose jobs may use it")
      ->delimiter(',')
      ->one_word();
  c->add_option("--accounts", arguments->accounts, "Accounts whose jobs may use it")
      ->delimiter(',')
      ->one_word();
  c->add_option("--user", arguments->user, "Reserve for this user (operators only)")
      ->type_name("USER");
  c->add_flag("--json", arguments->json_out, "Print JSON only");
  add_server_option(*c, arguments->server);
  c->footer(
      "Jobs use a reservation with goban submit --reservation R1. The site's configuration limits\n"
      "how far ahead and for how long nodes can be reserved, and whether users who are not\n"
      "operators may reserve.\n\n"
      "Examples:\n"
      "  goban reserve --nodes 2 --from '2026-12-01 10:00' --for 3d --users ben,eve\n"
      "  goban reserve n1 n2 --from +1d --for 7d --accounts vision\n"
      "Exit codes: 0 success, 1 failure, rejected, or no daemon, 2 usage error.");
  c->callback([arguments, &action] { action = [arguments] { return reserve(*arguments); }; });
}

}  // namespace

void add_reservations(Command& app, Action& action) {
  add_reserve(app, action);
  auto arguments = std::make_shared<ListArguments>();
  Command* c = app.add_subcommand("reservations", "List or cancel reservations");
  c->require_subcommand(0, 1);
  c->add_flag("--json", arguments->json_out, "Print JSON only");
  add_server_option(*c, arguments->server);
  c->footer(
      "Examples:\n"
      "  goban reservations\n"
      "  goban reservations cancel R1\n"
      "Exit codes: 0 success, 1 failure or no daemon, 2 usage error.");
  Command* gone = c->add_subcommand("cancel", "Cancel reservations and the jobs in them");
  gone->add_option("RESERVATION", arguments->names, "Names of reservations, such as R1")
      ->required();
  add_server_option(*gone, arguments->server);
  gone->footer(
      "Permitted to the owner and to operators.\n\n"
      "Example:\n"
      "  goban reservations cancel R1\n"
      "Exit codes: 0 success, 1 failure, unknown reservation or permission denied, 2 usage error.");
  gone->callback([arguments, &action] { action = [arguments] { return cancel(*arguments); }; });
  c->callback([c, arguments, &action] {
    if (!c->has_subcommand()) action = [arguments] { return list(*arguments); };
  });
}

}  // namespace goban::cli
