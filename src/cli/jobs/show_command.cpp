// goban show: prints the details of jobs.
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/jobs/commands.hpp"
#include "cli/jobs/job_choice.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/jobs/queue_table.hpp"
#include "cli/shell/text_table.hpp"

namespace goban::cli {
namespace {

using nlohmann::json;

struct ShowArguments {
  std::string server;
  JobChoice choice;
  bool json_out = false;
};

/// Lines "  what      value".
class Facts {
 public:
  void add(const char* what, const std::string& value) {
    if (!value.empty()) text_ += fmt::format("  {:<12}{}\n", what, printable(value));
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) {
    if (!part.empty()) out += (out.empty() ? "" : ", ") + part;
  }
  return out;
}

/// "copying, 1.2 GiB of 4.0 GiB; it changed while it was copied".
std::string staging_text(const json& staging) {
  std::string state = text_of(staging, "state");
  if (state.empty()) return {};
  std::ranges::replace(state, '_', ' ');
  std::string text = fmt::format("{}, {} of {}", state, size_text(number_of(staging, "done_bytes")),
                                 size_text(number_of(staging, "bytes")));
  const std::string problem = text_of(staging, "problem");
  return problem.empty() ? text : text + "; " + printable(problem);
}

std::string progress_text(const json& from) {
  std::vector<std::string> parts;
  const auto add = [&](const char* what, const char* done, const char* of) {
    if (number_of(from, done, -1) < 0) return;
    const double all = number_of(from, of, -1);
    parts.push_back(fmt::format("{} {:.6g}{}", what, number_of(from, done),
                                all >= 0 ? fmt::format(" of {:.6g}", all) : ""));
  };
  add("epoch", "epoch", "epochs");
  add("step", "step", "steps");
  if (const double speed = number_of(from, "samples_per_s", -1); speed >= 0) {
    parts.push_back(fmt::format("{:.4g} samples/s", speed));
  }
  if (const double loss = number_of(from, "loss", -1); loss >= 0) {
    parts.push_back(fmt::format("loss {:.4g}", loss));
  }
  if (const double stall = number_of(from, "input_stall_pct", -1); stall >= 0) {
    parts.push_back(fmt::format("input stall {:.1f} % of the time", stall));
  }
  return joined(parts);
}

std::string usage_text(const json& from) {
  std::vector<std::string> parts;
  if (const double cpu = number_of(from, "cpu_s", -1); cpu >= 0) {
    parts.push_back("CPU time " + clock_text(cpu));
  }
  if (const double bytes = number_of(from, "mem_bytes_max", -1); bytes >= 0) {
    parts.push_back("memory " + size_text(bytes));
  }
  if (const double bytes = number_of(from, "gpu_mem_bytes_max", -1); bytes >= 0) {
    parts.push_back("GPU memory " + size_text(bytes));
  }
  if (const double util = number_of(from, "gpu_util_pct", -1); util >= 0) {
    parts.push_back(fmt::format("GPU utilisation {:.0f} %", util));
  }
  if (const double util = number_of(from, "dram_util_pct", -1); util >= 0) {
    parts.push_back(fmt::format("GPU memory bandwidth {:.0f} %", util));
  }
  if (const double util = number_of(from, "fu_util_pct", -1); util >= 0) {
    parts.push_back(fmt::format("functional units {:.0f} %", util));
  }
  if (const double energy = number_of(from, "energy_j", -1); energy >= 0) {
    parts.push_back(fmt::format("{:.4g} Wh", energy / 3600));
  }
  return joined(parts);
}

/// One line per rank of the current run, or of the last run with a report.
std::vector<std::string> rank_texts(const json& from) {
  constexpr size_t kShown = 16;
  json ranks = list_of(from, "ranks");
  const json past = list_of(from, "past");
  for (auto run = past.rbegin(); run != past.rend() && ranks.empty(); ++run) {
    ranks = list_of(*run, "ranks");
  }
  std::vector<std::string> out;
  for (const json& each : ranks) {
    if (out.size() == kShown) {
      out.push_back(fmt::format("and {} more (see --json)", ranks.size() - kShown));
      break;
    }
    std::string text = fmt::format("{:.0f}: {:.0f} steps, busy {:.4g} s, in collectives {:.4g} s",
                                   number_of(each, "rank"), number_of(each, "steps"),
                                   number_of(each, "busy_s"), number_of(each, "wait_s"));
    if (const double data_s = number_of(each, "data_s", -1); data_s >= 0) {
      text += fmt::format(", waiting for input {:.4g} s", data_s);
    }
    out.push_back(std::move(text));
  }
  return out;
}

/// Measurements of earlier runs of the same application.
std::string profile_text(const json& from) {
  std::vector<std::string> parts;
  const auto value = [&](const char* name) { return number_of(part_of(from, name), "value", -1); };
  if (const double epoch_s = value("epoch_s"); epoch_s > 0) {
    parts.push_back(fmt::format("epoch {:.4g} s", epoch_s));
  }
  if (const double step_s = value("iteration_s"); step_s > 0) {
    parts.push_back(fmt::format("step {:.4g} s", step_s));
  }
  if (const double stall = value("input_stall_pct"); stall >= 0) {
    parts.push_back(fmt::format("input stall {:.1f} %", stall));
  }
  if (const double bytes = value("peak_mem_bytes"); bytes > 0) {
    parts.push_back("GPU memory " + size_text(bytes));
  }
  if (const double util = value("utilisation_pct"); util >= 0) {
    parts.push_back(fmt::format("GPU utilisation {:.0f} %", util));
  }
  if (const double power = value("power_w"); power > 0) {
    parts.push_back(fmt::format("{:.4g} W per GPU", power));
  }
  const std::string source = text_of(from, "source");
  if (!parts.empty() && !source.empty()) parts.push_back("by " + source);
  return joined(parts);
}

std::string end_text(const json& from, const JobRow& row) {
  std::vector<std::string> parts{state_text(row)};
  if (const double code = number_of(from, "exit_code", -1); code >= 0) {
    parts.push_back(fmt::format("exit code {:.0f}", code));
  }
  if (const double signal = number_of(from, "signal"); signal > 0) {
    parts.push_back(fmt::format("signal {:.0f}", signal));
  }
  parts.push_back(text_of(from, "detail"));
  return joined(parts);
}

std::string class_text(const json& spec) {
  const std::string letter = text_of(spec, "app_class");
  const std::string from = text_of(spec, "class_from");
  if (letter.empty()) return {};
  if (from == "measured") return letter + ", from the measured GPU use of its application";
  return from == "model" ? letter + ", from the name of its model" : letter;
}

std::string dependencies_text(const json& spec) {
  std::vector<std::string> parts;
  for (const json& each : list_of(spec, "dependencies")) {
    const double job = number_of(each, "job");
    parts.push_back(text_of(each, "kind") + (job > 0 ? fmt::format(":{:.0f}", job) : ""));
  }
  return joined(parts);
}

std::string names_text(const json& spec, const char* field) {
  std::vector<std::string> names;
  for (const json& each : list_of(spec, field)) {
    if (each.is_string()) names.push_back(each.get<std::string>());
  }
  return joined(names);
}

std::string limits_text(const json& from, const json& spec) {
  std::vector<std::string> parts;
  if (const double limit = number_of(from, "walltime_s"); limit > 0) {
    parts.push_back(clock_text(limit));
  }
  const json& training = part_of(spec, "training");
  if (const double deadline = number_of(training, "deadline_s", -1); deadline >= 0) {
    parts.push_back("deadline " + clock_text(deadline) + " after submission");
  }
  return joined(parts);
}

std::string text_for(const json& from, double now_s) {
  const JobRow row = job_row(from);
  const json& spec = part_of(from, "spec");
  Facts facts;
  facts.add("state", row.is_over() ? end_text(from, row) : state_text(row));
  if (!row.is_over()) facts.add("note", text_of(from, "detail"));
  const bool shares = flag_of(from, "shares");
  facts.add("GPUs", fmt::format("{}{}{}{}", row.num_gpus, row.where.empty() ? "" : " on ",
                                row.where, shares ? ", shared" : ""));
  facts.add("nodes", names_text(spec, "node_list"));
  facts.add("not on", names_text(spec, "exclude_nodes"));
  facts.add("GPU model", text_of(spec, "gpu_model"));
  facts.add("type", text_of(from, "resource_type"));
  facts.add("submitted", moment_text(row.submit_s, now_s));
  if (row.begin_s > 0) facts.add("begins", "not before " + moment_text(row.begin_s, now_s));
  const double first_s = number_of(from, "first_start_s");
  if (first_s > 0) {
    facts.add("started", fmt::format("{}, after {}", moment_text(first_s, now_s),
                                     clock_text(first_s - row.submit_s)));
  }
  if (row.end_s > 0) facts.add("ended", moment_text(row.end_s, now_s));
  const double runs = number_of(from, "runs");
  if (runs > 0) {
    facts.add("ran", fmt::format("{} in {:.0f} run{}, {:.0f} preempted, {:.0f} lost to failures",
                                 clock_text(row.ran_s(now_s)), runs, runs > 1 ? "s" : "",
                                 number_of(from, "preemptions"), number_of(from, "breakages")));
  }
  if (row.suspended_since_s > 0) {
    facts.add("suspended", "since " + moment_text(row.suspended_since_s, now_s));
  }
  facts.add("starts", start_text(part_of(from, "start"), now_s));
  facts.add("predicted", predicted_text(part_of(from, "predicted_run")));
  facts.add("limit", limits_text(from, spec));
  facts.add("priority", fmt::format("{:.0f}", number_of(from, "priority")));
  facts.add("class", class_text(spec));
  facts.add("account", text_of(from, "account"));
  facts.add("partition", text_of(from, "partition"));
  facts.add("reservation", text_of(from, "reservation"));
  facts.add("queue id", text_of(from, "engine_id"));
  facts.add("waits for", dependencies_text(spec));
  facts.add("blocked", text_of(from, "blocked"));
  facts.add("data", staging_text(part_of(from, "staging")));
  facts.add("progress", progress_text(part_of(from, "progress")));
  const char* what = "ranks";
  for (const std::string& each : rank_texts(from)) facts.add(std::exchange(what, ""), each);
  facts.add("used", usage_text(part_of(from, "usage")));
  facts.add("profile", profile_text(part_of(from, "profile")));
  facts.add("folder", text_of(spec, "work_folder"));
  const std::string output = text_of(from, "stdout_file");
  const std::string errors = text_of(from, "stderr_file");
  facts.add("output", output);
  if (errors != output) facts.add("errors", errors);
  return fmt::format("job {}{} of {}\n{}", row.id,
                     row.name.empty() ? "" : " (" + printable(row.name) + ")", printable(row.user),
                     facts.take());
}

int run(const ShowArguments& arguments) {
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  auto chosen = ask_for_jobs(*client, arguments.choice);
  if (!chosen) return report_error(chosen.error());
  if (const auto status = add_past_jobs(*client, arguments.choice, *chosen); !status) {
    return report_error(status.error());
  }
  int code = 0;
  for (const std::string& name : chosen->unknown) code = report_error(unknown_job(name));
  json all = json::array();
  std::string text;
  for (const JobRow& job : chosen->jobs) {
    auto details =
        get_json(*client, "/v1/jobs/" + (job.is_past ? job.id : fmt::format("{}", job.job)));
    if (!details) {
      code = report_error(details.error());
      continue;
    }
    if (!arguments.json_out)
      text += (text.empty() ? "" : "\n") + text_for(*details, wall_clock_s());
    all.push_back(std::move(*details));
  }
  if (arguments.json_out) text = all.dump(2) + "\n";
  fmt::print("{}", text);
  return code;
}

}  // namespace

void add_show(Command& app, Action& action) {
  auto arguments = std::make_shared<ShowArguments>();
  Command* c = app.add_subcommand("show", "Show the details of jobs");
  add_job_choice(*c, arguments->choice, "Show");
  c->add_flag("--json", arguments->json_out, "Print JSON only");
  add_server_option(*c, arguments->server);
  c->footer(
      "Finished jobs that have left the queue's list are read from the daemon's history.\n\n"
      "Examples:\n"
      "  goban show 7\n"
      "  goban show '7_[0-3]' --json\n"
      "Exit codes: 0 success, 1 failure, unknown job, another user's job, or no daemon,\n"
      "2 usage error.");
  c->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace goban::cli
