#include "live/engine/slurm/slurm_kind.hpp"

#include <algorithm>
#include <array>
#include <fmt/ranges.h>
#include <initializer_list>

#include "base/text.hpp"
#include "base/time.hpp"

namespace goban::live::engine::slurm {

namespace {

constexpr std::array<std::string_view, 1> kTried = {"22.05"};
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
  options.poll_s = base::to_seconds(table.duration("poll", base::from_seconds(options.poll_s)));
  if (options.poll_s <= 0 || options.poll_s > kPollMost_s) {
    table.refuse("poll", "must be more than 0 and at most a minute", "poll = \"1s\"");
  }
  out.any_version = table.has("version") && one_of(table, "version", {"any"}) == "any";
  return out;
}

base::Status check_version(std::string_view said, bool any) {
  const size_t blank = said.rfind(' ');
  const std::string_view version = base::trimmed(blank == said.npos ? said : said.substr(blank));
  for (const std::string_view tried : kTried) {
    if (any || version.starts_with(fmt::format("{}.", tried))) return {};
  }
  return base::failed(fmt::format("Slurm {} was not tried with Goban", version.substr(0, 40)),
                      "tried: 22.05; version = \"any\" uses it all the same (docs/slurm.md)");
}

base::Result<EngineParts> make_slurm(const EngineSetup& setup) {
  base::ConfigProblems problems(setup.choice.file);
  base::TableReader table(setup.choice.table, setup.choice.name, problems);
  SlurmChoice choice = read_slurm(table);
  if (auto status = problems.status(); !status) return base::failure(status.error());
  SlurmOptions& options = choice.options;
  options.epoch = setup.epoch;
  const Client client(options.conf, options.timeout_s);
  const ClientOutput said = client.run({"scontrol", "--version"});
  if (!said.problem.empty()) {
    return base::failed(said.problem, "install Slurm's client commands on this machine");
  }
  if (auto status = check_version(said.out, choice.any_version); !status) {
    return base::failure(status.error());
  }
  EngineParts parts;
  const ClientOutput ping = client.run({"scontrol", "ping"});
  if (!ping.problem.empty()) parts.notes.push_back("Slurm does not answer yet: " + ping.problem);
  parts.notes.emplace_back(options.rules.observe
                               ? "Slurm: only observed; nothing is written"
                               : "Slurm: batch jobs of managed partitions wait for this daemon");
  parts.engine = std::make_unique<SlurmEngine>(std::move(options));
  parts.view = std::make_unique<EngineView>();
  return parts;
}

}  // namespace goban::live::engine::slurm
