// goban nodes: lists nodes, drains them, returns them to service, and fences dead ones.
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/http/http_client.hpp"
#include "cli/admin/commands.hpp"
#include "cli/jobs/job_row.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/shell/text_table.hpp"
#include "live/job/request_values.hpp"

namespace goban::cli {
namespace {

using nlohmann::json;

struct NodesArguments {
  std::string server;
  bool json_out = false;
  std::vector<std::string> nodes;
  std::string reason;
  std::string after;
  bool now = false;
};

std::string jobs_text(const json& jobs) {
  std::string out;
  for (const json& each : jobs.is_array() ? jobs : json::array()) {
    if (each.is_number()) out += fmt::format("{}{}", out.empty() ? "" : ",", each.get<int64_t>());
  }
  return out;
}

/// Expired and suspect scores of a node's GPUs; otherwise the number of measured ones.
std::string scores_text(const json& scores) {
  if (!scores.is_object()) return "-";
  std::string out;
  for (const char* what : {"expired", "suspect"}) {
    if (const double count = number_of(scores, what); count > 0) {
      out += fmt::format("{}{:.0f} {}", out.empty() ? "" : ", ", count, what);
    }
  }
  return out.empty() ? fmt::format("{:.0f} measured", number_of(scores, "measured")) : out;
}

/// "up", or since when the agent on a node is lost; a clock that is off by more than two seconds.
std::string agent_text(const json& agent, double now_s) {
  constexpr double kSkew_s = 2;
  if (!agent.is_object()) return {};
  if (text_of(agent, "state") == "lost") {
    return "lost " + moment_text(number_of(agent, "report_s"), now_s);
  }
  if (const std::string problem = text_of(agent, "problem"); !problem.empty()) return problem;
  const double skew_s = number_of(agent, "clock_skew_s");
  return std::abs(skew_s) > kSkew_s ? fmt::format("up, clock {:+.0f} s", skew_s) : "up";
}

std::string reservations_text(const json& reservations, double now_s) {
  std::string out;
  for (const json& each : reservations.is_array() ? reservations : json::array()) {
    const bool begun = number_of(each, "start_s") <= now_s;
    out += fmt::format("{}{} {} {}", out.empty() ? "" : ", ", text_of(each, "reservation"),
                       begun ? "until" : "from",
                       moment_text(number_of(each, begun ? "end_s" : "start_s"), now_s));
  }
  return out;
}

int list(const NodesArguments& arguments) {
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  const auto answer = get_json(*client, "/v1/nodes");
  if (!answer) return report_error(answer.error());
  const json& nodes = list_of(*answer, "nodes");
  if (arguments.json_out) {
    fmt::print("{}\n", nodes.dump(2));
    return 0;
  }
  TextTable table({{"NODE", false, 40},
                   {"STATE", false, 12},
                   {"GPUS", true, 8},
                   {"HELD", true, 8},
                   {"MODEL", false, 24},
                   {"CORES", true, 8},
                   {"MEMORY", true, 12},
                   {"JOBS", false, 30},
                   {"SCORES", false, 30},
                   {"AGENT", false, 30},
                   {"RESERVED", false, 40},
                   {"REASON", false, 40}});
  const double now_s = wall_clock_s();
  for (const json& node : nodes) {
    const double cores = number_of(node, "cores");
    const double bytes = number_of(node, "mem_bytes");
    table.add({text_of(node, "node"), text_of(node, "state"),
               fmt::format("{:.0f}", number_of(node, "num_gpus")),
               fmt::format("{:.0f}", number_of(node, "held_gpus")), text_of(node, "gpu_model", "-"),
               cores > 0 ? fmt::format("{:.0f}", cores) : "-", bytes > 0 ? size_text(bytes) : "-",
               jobs_text(part_of(node, "jobs")), scores_text(part_of(node, "scores")),
               agent_text(part_of(node, "agent"), now_s),
               reservations_text(part_of(node, "reservations"), now_s), text_of(node, "reason")});
    const std::string state = text_of(node, "state");
    table.paint(1, state == "up" ? Colour::None : state == "down" ? Colour::Bad : Colour::Notice);
  }
  fmt::print("{}", table.text(output_style()));
  return 0;
}

base::Result<json> drain_body(const NodesArguments& arguments) {
  json body = json::object();
  if (!arguments.reason.empty()) body["reason"] = arguments.reason;
  if (arguments.now) body["now"] = true;
  if (arguments.after.empty()) return body;
  const auto span = live::job::parse_span(arguments.after);
  if (!span) {
    base::Error error = span.error();
    error.code = base::ErrorCode::Usage;
    error.place.field = "--after";
    return base::failure(std::move(error));
  }
  body["from_s"] = wall_clock_s() + base::to_seconds(*span);
  return body;
}

int change(const NodesArguments& arguments, const char* what) {
  const bool draining = std::string_view(what) == "drain";
  const char* done = draining                             ? "draining"
                     : std::string_view(what) == "resume" ? "resumed"
                                                          : "fenced";
  const auto body = draining ? drain_body(arguments) : base::Result<json>(json());
  if (!body) return report_error(body.error());
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  int code = 0;
  json changed = json::array();
  for (const std::string& node : arguments.nodes) {
    const auto answer =
        post_json(*client, fmt::format("/v1/nodes/{}/{}", base::http::url_part(node), what), *body);
    if (answer) {
      if (!arguments.json_out) fmt::print("{} {}\n", done, node);
      changed.push_back(node);
      continue;
    }
    base::Error error = answer.error();
    error.message = fmt::format("node {}: {}", node, error.message);
    code = report_error(error);
  }
  if (arguments.json_out) fmt::print("{}\n", json{{"nodes", std::move(changed)}}.dump());
  return code;
}

void add_change(Command& nodes, const std::shared_ptr<NodesArguments>& arguments, const char* name,
                const char* help, const char* footer, Action& action) {
  Command* c = nodes.add_subcommand(name, help);
  c->add_option("NODE", arguments->nodes, "Node names")->required();
  if (std::string_view(name) == "drain") {
    c->add_option("--reason", arguments->reason, "Reason, shown to users")->type_name("TEXT");
    c->add_option("--after", arguments->after,
                  "Drain after this time, such as 2h; jobs that finish before then still start")
        ->type_name("TIME");
    c->add_flag("--now", arguments->now, "Stop the running jobs and requeue them");
  }
  c->add_flag("--json", arguments->json_out, "Print JSON only");
  add_server_option(*c, arguments->server);
  c->footer(footer);
  c->callback([arguments, name, &action] {
    action = [arguments, name] { return change(*arguments, name); };
  });
}

}  // namespace

void add_nodes(Command& app, Action& action) {
  auto arguments = std::make_shared<NodesArguments>();
  Command* c = app.add_subcommand("nodes", "List, drain, resume or fence nodes");
  c->require_subcommand(0, 1);
  c->add_flag("--json", arguments->json_out, "Print JSON only");
  add_server_option(*c, arguments->server);
  c->footer(
      "Examples:\n"
      "  goban nodes\n"
      "  goban nodes drain n3 --reason 'fan failure' --after 2h\n"
      "  goban nodes resume n3\n"
      "  goban nodes fence n3\n"
      "Exit codes: 0 success, 1 failure, unknown node, permission denied, or no daemon,\n"
      "2 usage error.");
  add_change(*c, arguments, "drain", "Do not start new jobs on these nodes; running jobs continue",
             "Requires the role operator.\n\n"
             "Examples:\n"
             "  goban nodes drain n3 n4 --reason 'new driver'\n"
             "  goban nodes drain n3 --now\n"
             "Exit codes: 0 success, 1 failure, unknown node or permission denied, 2 usage error.",
             action);
  add_change(*c, arguments, "resume", "Return nodes to service",
             "Requires the role operator.\n\n"
             "Example:\n"
             "  goban nodes resume n3\n"
             "Exit codes: 0 success, 1 failure, unknown node or permission denied, 2 usage error.",
             action);
  add_change(
      *c, arguments, "fence", "Give up what dead nodes hold, so that it may start elsewhere",
      "You vouch that nothing runs there any more: power the machine off, or cut its network, "
      "first. For nodes of a\n"
      "Kubernetes cluster that are down or silent (not ready): Goban's pods there are removed by "
      "force, and their gangs\n"
      "wait again. A job that still runs there would run twice. Requires the role operator.\n\n"
      "Example:\n"
      "  goban nodes fence n3\n"
      "Exit codes: 0 success, 1 failure, unknown node, permission denied, or the node is neither "
      "down nor silent, 2 usage error.",
      action);
  c->callback([c, arguments, &action] {
    if (!c->has_subcommand()) action = [arguments] { return list(*arguments); };
  });
}

}  // namespace goban::cli
