#include "live/engine/slurm/setup.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

#include "base/text.hpp"
#include "core/model/import/slurm_nodes.hpp"
#include "core/model/import/slurm_text.hpp"
#include "live/engine/slurm/task_prolog.hpp"

namespace goban::live::engine::slurm {

namespace {

/// Ends a line that we added, or stands before one that we replaced.
constexpr std::string_view kAdded = "# goban: added";
constexpr std::string_view kReplaced = "# goban: was ";
constexpr std::string_view kPlugins = "JobSubmitPlugins";

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + '\n';
  return out;
}

/// The value of "Key = value" in a line that begins with the key; nullptr-like empty optional if
/// not.
std::optional<std::string> value_of(std::string_view line, std::string_view key) {
  line = base::trimmed(line.substr(0, line.find('#')));
  const size_t equals = line.find('=');
  if (equals == line.npos || !core::model::same_word(base::trimmed(line.substr(0, equals)), key)) {
    return std::nullopt;
  }
  return std::string(base::trimmed(line.substr(equals + 1)));
}

/// The value of a word key=... anywhere in a line.
std::string word_of(std::string_view line, std::string_view key) {
  const std::string low = base::lowered(line);
  const std::string wanted = base::lowered(key) + "=";
  size_t at = low.find(wanted);
  while (at != low.npos && at > 0 && low[at - 1] != ' ' && low[at - 1] != '\t') {
    at = low.find(wanted, at + 1);
  }
  if (at == low.npos) return {};
  const std::string_view rest = line.substr(at + wanted.size());
  return std::string(rest.substr(0, rest.find_first_of(" \t\r")));
}

bool is_our_prolog(std::string_view line) {
  return line.ends_with(kAdded) && value_of(line, "TaskProlog");
}

void add_name(std::vector<std::string>& names, std::string name) {
  if (!name.empty() && std::ranges::find(names, name) == names.end())
    names.push_back(std::move(name));
}

void learn_gres(std::string_view gres, SubmitRules& rules) {
  const auto gpus = core::model::parse_slurm_gres(gres);
  if (!gpus) return;
  rules.gpus_per_node = std::max(rules.gpus_per_node, static_cast<int>(gpus->count));
  std::string_view types = gpus->type;
  int64_t count = 0;
  std::vector<std::string> names;
  while (!types.empty()) {
    const size_t end = std::min(types.find('+'), types.size());
    names.emplace_back(types.substr(0, end));
    types.remove_prefix(std::min(end + 1, types.size()));
    ++count;
  }
  // One type per GPU is one per index.
  auto& into = count > 1 && count == gpus->count ? rules.index_types : rules.gpu_types;
  for (std::string& name : names) add_name(into, std::move(name));
}

}  // namespace

std::string slurm_user(std::string_view conf) {
  std::string user = "root";
  for (const std::string& line : lines_of(conf)) user = value_of(line, "SlurmUser").value_or(user);
  return user;
}

base::Result<SetupPlan> plan_setup(const SlurmFiles& files,
                                   const std::vector<std::string>& partitions, uint32_t slurm_uid) {
  SetupPlan plan;
  plan.rules.partitions = partitions;
  plan.rules.slurm_uid = slurm_uid;
  if (files.lua && !files.lua->starts_with(kSubmitHead)) {
    return base::failed("there is a job_submit.lua of this site already",
                        "call its functions from ours, or ours from it: goban engine slurm setup "
                        "--print-lua prints ours");
  }
  std::vector<std::string> lines = lines_of(undo_setup(files).conf);
  std::vector<std::string> known;
  std::optional<size_t> plugins;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    const base::Place place{"slurm.conf", static_cast<int>(i) + 1, 0, ""};
    if (base::lowered(base::trimmed(line)).starts_with("include ")) {
      return base::bad_data(place, "the configuration is in several files",
                            "edit it by hand: JobSubmitPlugins=lua, and job_submit.lua from goban "
                            "engine slurm setup --print-lua");
    }
    if (base::trimmed(line).starts_with('#')) continue;
    if (value_of(line, kPlugins)) plugins = i;
    add_name(known, word_of(line, "PartitionName"));
    if (!word_of(line, "NodeName").empty()) learn_gres(word_of(line, "Gres"), plan.rules);
    if (const auto age = value_of(line, "MinJobAge"); age && (age->size() < 2)) {
      plan.warnings.push_back(
          fmt::format("MinJobAge={}: Slurm forgets ended jobs before Goban has seen how they "
                      "ended; use 60 or more",
                      *age));
    }
  }
  for (const std::string& name : partitions) {
    if (std::ranges::find(known, name) != known.end()) continue;
    std::string all;
    for (const std::string& each : known) all += (all.empty() ? "" : ", ") + each;
    return base::bad_data({"slurm.conf", 0, 0, ""}, fmt::format("has no partition {}", name),
                          "it has: " + all);
  }
  const std::string added = fmt::format("{}=lua  {}", kPlugins, kAdded);
  if (!plugins) {
    lines.push_back(added);
    plan.reasons.emplace_back(
        "slurm.conf: JobSubmitPlugins=lua, so that slurmctld asks job_submit.lua");
  } else {
    const std::string value = *value_of(lines[*plugins], kPlugins);
    if ((',' + value + ',').find(",lua,") == std::string::npos) {
      lines.insert(lines.begin() + static_cast<int64_t>(*plugins),
                   fmt::format("{}{}", kReplaced, lines[*plugins]));
      lines[*plugins + 1] = fmt::format("{}={},lua  {}", kPlugins, value, kAdded);
      plan.reasons.emplace_back(
          "slurm.conf: lua is added to JobSubmitPlugins, after those of the site");
    }
  }
  // What agents need was set up by an earlier call, and stays.
  for (const std::string& line : lines_of(files.conf)) {
    if (is_our_prolog(line)) lines.push_back(line);
  }
  plan.files.prolog = files.prolog;
  plan.files.conf = text_of(lines);
  plan.files.lua = job_submit_lua(plan.rules);
  std::string which;
  for (const std::string& name : partitions) which += (which.empty() ? "" : ", ") + name;
  plan.reasons.push_back(
      fmt::format("job_submit.lua: jobs of {} wait until Goban has decided; a GPU type or "
                  "number that no node "
                  "has is refused at submission, as Slurm does for jobs that are not held",
                  partitions.empty() ? "all partitions" : which));
  if (plan.rules.index_types.empty()) {
    plan.reasons.emplace_back(
        "GRES: nothing is changed. Goban names nodes; which GPUs of a node a job gets is Slurm's "
        "choice");
  } else {
    plan.reasons.emplace_back(
        "GRES: nothing is changed. The nodes have a type per GPU index: Goban chooses GPUs "
        "exactly");
  }
  return plan;
}

base::Status plan_agents(SetupPlan& plan, const std::string& conf_folder,
                         const std::string& socket_folder) {
  auto script = task_prolog(socket_folder);
  if (!script) return base::failure(script.error());
  std::vector<std::string> lines = lines_of(plan.files.conf);
  std::erase_if(lines, is_our_prolog);
  for (const std::string& line : lines) {
    const auto value = value_of(line, "TaskProlog");
    if (!value) continue;
    return base::failed(
        fmt::format("the site has a TaskProlog already: {}", *value),
        fmt::format("call {} from it: goban engine slurm setup --print-task-prolog prints it",
                    kPrologFile));
  }
  plan.files.conf = text_of(lines);
  plan.files.conf += fmt::format("TaskProlog={}/{}  {}\n", conf_folder, kPrologFile, kAdded);
  plan.files.prolog = std::move(*script);
  plan.reasons.push_back(fmt::format(
      "slurm.conf: TaskProlog={}, which must be there on all nodes: jobs learn where the agent of "
      "their node takes progress reports",
      kPrologFile));
  return {};
}

std::optional<std::vector<std::string>> managed_partitions(std::string_view lua) {
  constexpr std::string_view kAll = "local ALL_PARTITIONS = true";
  constexpr std::string_view kThese = "local PARTITIONS = {";
  if (!lua.starts_with(kSubmitHead)) return std::nullopt;
  std::vector<std::string> names;
  for (const std::string& line : lines_of(lua)) {
    if (line == kAll) return names;
    if (!line.starts_with(kThese)) continue;
    std::string_view rest = line;
    for (size_t at = rest.find("[\""); at != rest.npos; at = rest.find("[\"")) {
      rest.remove_prefix(at + 2);
      names.emplace_back(rest.substr(0, rest.find('"')));
    }
    break;
  }
  return names.empty() ? std::nullopt : std::optional(names);
}

SlurmFiles undo_setup(const SlurmFiles& files) {
  SlurmFiles out = files;
  if (out.lua && out.lua->starts_with(kSubmitHead)) out.lua.reset();
  if (out.prolog && out.prolog->starts_with(kPrologHead)) out.prolog.reset();
  std::vector<std::string> kept;
  for (const std::string& line : lines_of(files.conf)) {
    if (line.starts_with(kReplaced)) {
      kept.push_back(line.substr(kReplaced.size()));
    } else if (!line.ends_with(kAdded)) {
      kept.push_back(line);
    }
  }
  out.conf = text_of(kept);
  return out;
}

}  // namespace goban::live::engine::slurm
