// goban pilot: two policies in turn on the running daemon, and what that shows.
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "base/http/http_client.hpp"
#include "base/output_file.hpp"
#include "base/text_file.hpp"
#include "base/units.hpp"
#include "cli/admin/commands.hpp"
#include "cli/admin/pilot_plan_options.hpp"
#include "cli/jobs/job_row.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/shell/text_table.hpp"
#include "study/pilot_report.hpp"

namespace goban::cli {
namespace {

using base::Result;
using core::pilot::Arm;
using core::pilot::Plan;
using nlohmann::json;
using site::analysis::Language;

struct PilotArguments {
  std::string server;
  bool json_out = false;
  Plan plan{};
  std::string file, out, html, reason;
  Language language = Language::English;
};

/// The pilot in a response. Errors: Failed if there is none, or it cannot be read.
Result<study::PilotFacts> facts_of(const json& answer) {
  const json* pilot = base::find_member(answer, "pilot");
  if (pilot == nullptr) {
    return base::failed("there is no pilot", "goban pilot plan and goban pilot start begin one");
  }
  study::PilotFacts facts;
  const std::string state = text_of(*pilot, "state");
  facts.runs = state == "running";
  facts.fell_back = state == "fell back";
  facts.is_over = facts.fell_back || state == "ended";
  base::FieldReader in(*pilot, "pilot");
  in.object("plan", [&](base::FieldReader& part) { read_fields(part, facts.plan); });
  in.field("detail", facts.detail);
  facts.decides = text_of(answer, "policy");
  in.seconds("started_s", facts.started_ns);
  in.seconds("until_s", facts.until_ns);
  in.field("period", facts.period, 0, INT32_MAX);
  in.list("periods", [&](base::FieldReader& part) {
    constexpr double kMost = 1e300;
    core::pilot::Outcomes& each = facts.periods.emplace_back();
    part.field("jobs", each.jobs, int64_t{0}, INT64_MAX);
    part.field("missed", each.missed, int64_t{0}, INT64_MAX);
    part.field("failed", each.failed, int64_t{0}, INT64_MAX);
    part.field("gpu_hours", each.gpu_hours, 0, kMost);
    part.field("judged", each.judged, int64_t{0}, INT64_MAX);
    part.field("wait_s_sum", each.wait_s, 0, kMost);
    part.field("slowdown_sum", each.slowdown, 0, kMost);
  });
  base::Status fits = in.status();
  if (fits) fits = core::pilot::check(facts.plan);
  if (fits && facts.periods.size() > static_cast<size_t>(facts.plan.num_periods())) {
    fits = base::failed("the daemon's answer has more periods than the plan");
  }
  if (!fits) return base::failure(fits.error());
  return facts;
}

Result<json> ask_for_pilot(const PilotArguments& arguments) {
  auto client = connect(arguments.server);
  if (!client) return base::failure(client.error());
  return get_json(*client, "/v1/pilot");
}

int make_plan(PilotArguments arguments) {
  const bool knows_a = !arguments.plan.policy_a.empty();
  if (arguments.plan.policy_a.empty()) {
    const auto answer = ask_for_pilot(arguments);
    if (!answer) {
      return report_error(
          base::usage_error(fmt::format("--policy-a is missing, and no daemon says what runs "
                                        "today: {}",
                                        answer.error().message),
                            "name the policy that the site runs today with --policy-a")
              .value());
    }
    arguments.plan.policy_a = text_of(*answer, "policy");
  }
  if (auto status = core::pilot::check(arguments.plan); !status) {
    return report_error(status.error());
  }
  if (auto status = check_policies(arguments.plan, knows_a); !status) {
    return report_error(status.error());
  }
  const Plan& plan = arguments.plan;
  const std::string text = core::pilot::to_json(plan).dump(2) + "\n";
  if (!arguments.out.empty()) {
    if (auto status = base::write_file(arguments.out, text); !status) {
      return report_error(status.error());
    }
  }
  if (arguments.json_out) {
    fmt::print("{}", text);
    return 0;
  }
  fmt::print("A {}, B {}: {} pairs of periods of {}, {} in all\n", plan.policy_a, plan.policy_b,
             plan.pairs, base::duration_text(plan.period_ns),
             base::human_seconds(base::to_seconds(plan.length_ns())));
  std::string order;
  for (int32_t i = 0; i < plan.num_periods(); ++i) {
    if (i > 0 && i % 2 == 0) order += ' ';
    order += plan.arm(i) == Arm::B ? 'B' : 'A';
  }
  fmt::print("{}\n", order);
  if (plan.is_limited()) fmt::print("{}\n", study::pilot_limits_text(plan));
  if (static_cast<size_t>(plan.pairs) < 6) {
    fmt::print(stderr, "goban: warning: fewer than 6 pairs cannot show a gain\n");
  }
  if (!arguments.out.empty()) fmt::print("goban pilot start {}\n", arguments.out);
  return 0;
}

void print_status(const json& answer, bool as_json) {
  if (as_json) {
    fmt::print("{}\n", answer.dump(2));
    return;
  }
  const json* pilot = base::find_member(answer, "pilot");
  fmt::print("{} decides\n", printable(text_of(answer, "policy")));
  if (pilot != nullptr && text_of(*pilot, "state") == "running") {
    Plan plan;
    base::FieldReader in(*pilot, "pilot");
    in.object("plan", [&](base::FieldReader& part) { read_fields(part, plan); });
    if (plan.is_limited()) {
      fmt::print("{} {}\n", printable(text_of(*pilot, "policy")),
                 printable(study::pilot_limits_text(plan)));
    }
  }
  if (pilot == nullptr) {
    fmt::print("no pilot\n");
    return;
  }
  const double now_s = wall_clock_s();
  const json& periods = list_of(*pilot, "periods");
  const std::string state = text_of(*pilot, "state");
  fmt::print("pilot {}: period {:.0f} of {}, from {} to {}\n", state,
             number_of(*pilot, "period") + 1, periods.size(),
             moment_text(number_of(*pilot, "started_s"), now_s),
             moment_text(number_of(*pilot, "until_s"), now_s));
  if (const std::string detail = text_of(*pilot, "detail"); !detail.empty()) {
    fmt::print("{}\n", printable(detail));
  }
  if (state == "running") {
    fmt::print("next period at {}\n", moment_text(number_of(*pilot, "period_until_s"), now_s));
  }
  TextTable table({{"PERIOD", true, 8},
                   {"POLICY", false, 40},
                   {"JOBS", true, 10},
                   {"JUDGED", true, 10},
                   {"AVG WAIT", true, 12},
                   {"LATE", true, 8},
                   {"FAILED", true, 8}});
  const auto begun = static_cast<size_t>(number_of(*pilot, "period")) + 1;
  for (size_t i = 0; i < std::min(begun, periods.size()); ++i) {
    const double judged = number_of(periods[i], "judged");
    table.add({std::to_string(i + 1), text_of(periods[i], "policy"),
               fmt::format("{:.0f}", number_of(periods[i], "jobs")), fmt::format("{:.0f}", judged),
               judged > 0 ? base::human_seconds(number_of(periods[i], "wait_s_sum") / judged) : "-",
               fmt::format("{:.0f}", number_of(periods[i], "missed")),
               fmt::format("{:.0f}", number_of(periods[i], "failed"))});
  }
  fmt::print("{}", table.text(output_style()));
}

int start(const PilotArguments& arguments) {
  const auto text = base::read_text_file(arguments.file);
  if (!text) return report_error(text.error());
  const auto plan = core::pilot::parse_plan(*text, arguments.file);
  if (!plan) return report_error(plan.error());
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  const auto answer = post_json(*client, "/v1/pilot", core::pilot::to_json(*plan));
  if (!answer) return report_error(answer.error());
  print_status(*answer, arguments.json_out);
  return 0;
}

int show(const PilotArguments& arguments) {
  const auto answer = ask_for_pilot(arguments);
  if (!answer) return report_error(answer.error());
  print_status(*answer, arguments.json_out);
  return 0;
}

int stop(const PilotArguments& arguments) {
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  const std::string query =
      arguments.reason.empty() ? "" : "?reason=" + base::http::url_part(arguments.reason);
  const auto stopped = client->remove("/v1/pilot" + query);
  if (!stopped) return report_error(stopped.error());
  return show(arguments);
}

json interval_json(const core::pilot::Ratio& of) {
  return {{"value", of.value}, {"low", of.low}, {"high", of.high}};
}

int report(const PilotArguments& arguments) {
  const auto answer = ask_for_pilot(arguments);
  if (!answer) return report_error(answer.error());
  const auto facts = facts_of(*answer);
  if (!facts) return report_error(facts.error());
  if (!arguments.html.empty()) {
    const auto written =
        base::write_file(arguments.html, study::pilot_html(*facts, arguments.language));
    if (!written) return report_error(written.error());
  }
  if (!arguments.json_out) {
    fmt::print("{}", study::pilot_text(*facts, arguments.language));
    return 0;
  }
  const core::pilot::Comparison shown = facts->comparison();
  json out = {{"verdict", core::pilot::verdict_name(shown.verdict)}, {"pairs", shown.pairs}};
  if (shown.wait) out["wait"] = interval_json(*shown.wait);
  if (shown.overall_wait) out["overall_wait"] = *shown.overall_wait;
  if (shown.contradicts) out["contradicts"] = true;
  if (shown.slowdown) out["slowdown"] = interval_json(*shown.slowdown);
  fmt::print("{}\n", out.dump(2));
  return 0;
}

/// A subcommand with --server and --json.
Command* add_part(Command& pilot, const char* name, const char* help,
                  const std::shared_ptr<PilotArguments>& arguments, Action& action,
                  int (*run)(const PilotArguments&)) {
  Command* c = pilot.add_subcommand(name, help);
  c->add_flag("--json", arguments->json_out, "Print JSON only");
  add_server_option(*c, arguments->server);
  c->callback([arguments, &action, run] { action = [arguments, run] { return run(*arguments); }; });
  return c;
}

constexpr const char* kExitCodes =
    "Exit codes: 0 success, 1 failure, refused, or no daemon, 2 usage error, 3 invalid plan.";

}  // namespace

void add_pilot(Command& app, Action& action) {
  Command* c = app.add_subcommand("pilot", "Compare two policies on the running site");
  c->require_subcommand(1);
  c->footer(
      "The daemon runs the site's policy (A) and another one (B) in turn, in periods whose order "
      "a\n"
      "seed draws, and falls back to A as soon as a stop rule is broken. docs/pilot.md says what\n"
      "the result means.\n"
      "Examples:\n"
      "  goban pilot plan --policy-b goban --out plan.json\n"
      "  goban pilot start plan.json\n"
      "  goban pilot report --lang ja --html pilot.html");
  auto arguments = std::make_shared<PilotArguments>();

  Command* plan = c->add_subcommand("plan", "Write the plan of a pilot");
  add_plan_options(*plan, arguments->plan);
  plan->add_option("--policy-a", arguments->plan.policy_a,
                   "Policy A: what the site runs today (default: that of the daemon)")
      ->type_name("POLICY");
  plan->add_option("--policy-b", arguments->plan.policy_b, "Policy B: the one to try")
      ->type_name("POLICY")
      ->required();
  plan->add_option("--nodes", arguments->plan.nodes,
                   "Limit the pilot to these nodes, and to --users or --accounts")
      ->delimiter(',')
      ->one_word();
  plan->add_option("--users", arguments->plan.users,
                   "Users whose jobs run on --nodes only, during the pilot")
      ->delimiter(',')
      ->one_word();
  plan->add_option("--accounts", arguments->plan.accounts,
                   "Accounts whose jobs run on --nodes only")
      ->delimiter(',')
      ->one_word();
  plan->add_option("--out", arguments->out, "Write the plan to this file")->type_name("FILE");
  plan->add_flag("--json", arguments->json_out, "Print JSON only");
  add_server_option(*plan, arguments->server);
  plan->footer(std::string("The pilot is not started.\n"
                           "Examples:\n"
                           "  goban pilot plan --policy-a slurm-multifactor --policy-b goban --out "
                           "plan.json\n"
                           "  goban pilot plan --policy-a fifo --policy-b goban --period 8h "
                           "--settle 1h --pairs 20\n"
                           "  goban pilot plan --policy-a fifo --policy-b goban --nodes n1,n2 "
                           "--users ann,bob\n") +
               kExitCodes);
  plan->callback([arguments, &action] { action = [arguments] { return make_plan(*arguments); }; });

  Command* begin = add_part(*c, "start", "Start a pilot (operators)", arguments, action, start);
  begin->add_option("PLAN", arguments->file, "File of goban pilot plan --out")->required();
  begin->footer(std::string("The first period begins at once.\n"
                            "Example:\n"
                            "  goban pilot start plan.json\n") +
                kExitCodes);
  Command* status =
      add_part(*c, "status", "Show the policy, the pilot and its periods", arguments, action, show);
  status->footer(std::string("Example:\n  goban pilot status\n") + kExitCodes);
  Command* end = add_part(*c, "stop", "Stop the pilot (operators)", arguments, action, stop);
  end->add_option("--reason", arguments->reason, "Why, for the report")->type_name("TEXT");
  end->footer(std::string("The configured policy decides at once. A pilot that is stopped by hand\n"
                          "shows nothing.\n"
                          "Example:\n"
                          "  goban pilot stop --reason 'maintenance'\n") +
              kExitCodes);
  Command* page = add_part(*c, "report", "Report the result of a pilot", arguments, action, report);
  page->add_choice("--lang", arguments->language,
                   {{"en", Language::English}, {"ja", Language::Japanese}}, "Language");
  page->add_option("--html", arguments->html, "Also write it as one HTML page to this file")
      ->type_name("FILE");
  page->footer(std::string("Examples:\n"
                           "  goban pilot report\n"
                           "  goban pilot report --lang ja --html pilot.html\n") +
               kExitCodes);
  add_pilot_simulate(*c, action);
}

}  // namespace goban::cli
