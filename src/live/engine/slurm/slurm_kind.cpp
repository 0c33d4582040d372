#include "live/engine/slurm/slurm_kind.hpp"

#include <algorithm>
#include <fmt/ranges.h>
#include <initializer_list>

#include "base/text.hpp"
#include "base/time.hpp"
#include "live/engine/slurm/admin_text.hpp"
#include "live/engine/slurm/version.hpp"

namespace goban::live::engine::slurm {

namespace {

using base::Status;

constexpr double kPollMost_s = 60;

/// One of `known`, of which the first stands for an absent key.
std::string one_of(base::TableReader& table, std::string_view key,
                   std::initializer_list<std::string_view> known) {
  std::string said = table.text(key, std::string(*known.begin()));
  if (std::ranges::find(known, said) == known.end()) {
    table.refuse(key, fmt::format("unknown {} {}", key, said),
                 fmt::format("known: {}", fmt::join(known, ", ")));
  }
  return said;
}

}  // namespace

SlurmChoice read_slurm(base::TableReader& table) {
  SlurmChoice out;
  SlurmOptions& options = out.options;
  table.require("mode", "mode = \"observe\" writes nothing; also known: partitions, all");
  const std::string mode = one_of(table, "mode", {"observe", "partitions", "all"});
  options.rules.observe = mode == "observe";
  options.rules.partitions = table.texts("partitions");
  if (options.rules.partitions.empty() == (mode == "partitions")) {
    table.refuse("partitions", fmt::format("does not fit mode {}", mode),
                 "name the managed ones with mode = \"partitions\", and only then");
  }
  options.conf = table.text("conf");
  options.rules.indices =
      one_of(table, "indices", {"nodes", "types"}) == "types" ? Indices::Types : Indices::Nodes;
  Rhythm& rhythm = options.rhythm;
  rhythm.poll_s = base::to_seconds(table.duration("poll", base::from_seconds(rhythm.poll_s)));
  if (rhythm.poll_s <= 0 || rhythm.poll_s > kPollMost_s) {
    table.refuse("poll", "must be more than 0 and at most a minute", "poll = \"1s\"");
  }
  constexpr double kLooksMissed = 5;
  rhythm.rest_s = std::min(kLooksMissed * rhythm.poll_s, kPollMost_s);
  rhythm.rest_s = base::to_seconds(table.duration("rest", base::from_seconds(rhythm.rest_s)));
  if (rhythm.rest_s < rhythm.poll_s || rhythm.rest_s > kPollMost_s) {
    table.refuse("rest", "must be between poll and a minute", "rest = \"5s\"");
  }
  options.sleep = one_of(table, "sleep", {"no", "yes"}) == "yes";
  if (options.sleep && options.rules.observe) {
    table.refuse("sleep", "does not fit mode observe, which writes nothing", "remove it");
  }
  out.any_version = table.has("version") && one_of(table, "version", {"any"}) == "any";
  return out;
}

base::Status check_version(std::string_view said, bool any) {
  const auto version = parse_version(said);
  if (any || (version && std::ranges::find(kTried, *version) != kTried.end())) return {};
  std::string tried;
  for (const Version& each : kTried) {
    tried += fmt::format("{}{}.{:02}", tried.empty() ? "" : ", ", each.year, each.month);
  }
  const std::string_view name = base::trimmed(said);
  return base::failed(fmt::format("{} was not tried with Goban", name.substr(0, 60)),
                      fmt::format("tried: {}; version = \"any\" uses it all the same "
                                  "(docs/slurm.md)",
                                  tried));
}

bool may_sleep(const EngineChoice& choice) {
  base::ConfigProblems problems(choice.file);
  base::TableReader table(choice.table, choice.name, problems);
  return read_slurm(table).options.sleep;
}

base::Status check_power_programs(std::string_view config) {
  for (const std::string_view program : {"SuspendProgram", "ResumeProgram"}) {
    if (setting_of(config, program).starts_with('/')) continue;
    return base::failed(fmt::format("sleep = \"yes\", and slurm.conf has no {}", program),
                        "set SuspendProgram, ResumeProgram and a long SuspendTime (docs/slurm.md)");
  }
  // With a negative SuspendTime slurmctld runs neither of them.
  const std::string_view time = setting_of(config, "SuspendTime");
  if (time != "NONE" && time != "INFINITE" && !time.starts_with('-')) return {};
  return base::failed("sleep = \"yes\", and slurm.conf has no SuspendTime",
                      "set a long one, such as SuspendTime=31536000 (docs/slurm.md)");
}

base::Result<EngineParts> make_slurm(const EngineSetup& setup) {
  base::ConfigProblems problems(setup.choice.file);
  base::TableReader table(setup.choice.table, setup.choice.name, problems);
  SlurmChoice choice = read_slurm(table);
  if (auto status = problems.status(); !status) return base::failure(status.error());
  SlurmOptions& options = choice.options;
  options.epoch = setup.epoch;
  options.by_priority = setup.by_priority;
  const Client client(options.conf, options.timeout_s);
  const ClientOutput said = client.run({"scontrol", "--version"});
  if (!said.problem.empty()) {
    return base::failed(said.problem, "install Slurm's client commands on this machine");
  }
  if (auto status = check_version(said.out, choice.any_version); !status) {
    return base::failure(status.error());
  }
  options.gres_prefix = gres_prefix(parse_version(said.out).value_or(kTried.back()));
  if (options.sleep) {
    const ClientOutput config = client.run({"scontrol", "show", "config"});
    const Status status = config.problem.empty() ? check_power_programs(config.out) : Status{};
    if (!status) return base::failure(status.error());
  }
  EngineParts parts;
  const ClientOutput ping = client.run({"scontrol", "ping"});
  if (!ping.problem.empty()) parts.notes.push_back("Slurm does not answer yet: " + ping.problem);
  parts.notes.emplace_back(options.rules.observe
                               ? "Slurm: only observed; nothing is written"
                               : "Slurm: jobs of managed partitions wait for this daemon");
  parts.engine = std::make_unique<SlurmEngine>(std::move(options));
  parts.view = std::make_unique<EngineView>();
  return parts;
}

}  // namespace goban::live::engine::slurm
