// goban doctor topology and nccl: how the devices of a machine are connected, the environment that
// NCCL should get, and whether NCCL's log agrees. They read files, sysfs and the driver only.
#include <fmt/format.h>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>

#include "base/text_file.hpp"
#include "base/topology/nccl_advice.hpp"
#include "base/topology/nccl_log.hpp"
#include "cli/jobs/commands.hpp"
#include "cli/shell/command.hpp"
#include "cli/shell/options.hpp"

namespace goban::cli {
namespace {

namespace topology = base::topology;

struct TopologyArguments {
  std::string from, save, log;
  bool json = false, exports = false;
};

base::Result<topology::NodeFacts> facts_for(const TopologyArguments& a) {
  return a.from.empty() ? topology::read_machine() : topology::read_facts(a.from);
}

/// The machine that these facts, read from `a.from`, describe.
base::Result<topology::Topology> machine_of(const TopologyArguments& a,
                                            const topology::NodeFacts& facts) {
  auto machine = topology::topology_of(facts);
  if (machine || a.from.empty()) return machine;
  base::Error error = machine.error();
  error.place.file = a.from + "/" + error.place.file;
  return base::failure(error);
}

int doctor_topology(const TopologyArguments& a) {
  const auto facts = facts_for(a);
  if (!facts) return report_error(facts.error());
  const auto machine = machine_of(a, *facts);
  if (!machine) return report_error(machine.error());
  if (!a.save.empty()) {
    if (const auto saved = topology::save_facts(*facts, a.save); !saved) {
      return report_error(saved.error());
    }
  }
  fmt::print("{}", a.json ? topology::to_json(*machine) : topology::to_text(*machine));
  return 0;
}

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> out;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string entry = *each;
    const size_t equals = entry.find('=');
    if (equals != std::string::npos) out[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  return out;
}

int verify_log(const TopologyArguments& a) {
  const auto text = base::read_text_file(a.log);
  if (!text) return report_error(text.error());
  const auto log = topology::parse_nccl_log(*text, base::input_name(a.log));
  if (!log) return report_error(log.error());
  std::optional<topology::Topology> machine;
  if (!a.from.empty()) {
    const auto facts = topology::read_facts(a.from);
    if (!facts) return report_error(facts.error());
    auto read = machine_of(a, *facts);
    if (!read) return report_error(read.error());
    machine = std::move(*read);
  }
  const auto findings = topology::findings_of(*log, machine);
  if (a.json) {
    fmt::print("{}", topology::to_json(findings));
  } else {
    fmt::print("NCCL {}, {} lines of {} hosts\n{}",
               log->version.empty() ? "of unknown version" : log->version, log->info_lines,
               log->hosts.size(), topology::to_text(findings));
  }
  return topology::misses_something(findings) ? 1 : 0;
}

int doctor_nccl(const TopologyArguments& a) {
  if (!a.log.empty()) return verify_log(a);
  const auto facts = facts_for(a);
  if (!facts) return report_error(facts.error());
  const auto machine = machine_of(a, *facts);
  if (!machine) return report_error(machine.error());
  const auto advice = topology::nccl_advice(*machine, own_environment());
  fmt::print("{}", a.exports ? topology::export_lines(advice)
                   : a.json  ? topology::to_json(advice)
                             : topology::to_text(advice));
  return 0;
}

}  // namespace

void add_doctor_topology(Command& doctor, Action& action) {
  const auto arguments = std::make_shared<TopologyArguments>();
  const auto add = [&](const char* name, const char* help) {
    Command* command = doctor.add_subcommand(name, help);
    command
        ->add_option("--from", arguments->from,
                     "Read the files of another machine, written by --save, from this folder")
        ->type_name("FOLDER");
    command->add_flag("--json", arguments->json, "Print JSON only");
    return command;
  };
  Command* drawn = add("topology",
                       "Draw sockets, NUMA nodes, PCIe switches, GPUs, NVLink, network cards and "
                       "disks of this machine");
  drawn->add_option("--save", arguments->save, "Write the files that were read to this folder")
      ->type_name("FOLDER");
  drawn->footer(
      "Examples:\n  goban doctor topology\n"
      "  ssh node7 goban doctor topology --save /shared/node7\n"
      "  goban doctor topology --from /shared/node7");
  drawn->callback(
      [arguments, &action] { action = [arguments] { return doctor_topology(*arguments); }; });
  Command* nccl = add("nccl", "Derive NCCL's environment with evidence, or check NCCL's log");
  nccl->add_flag("--export", arguments->exports,
                 "Print export lines only, for a shell or Slurm's TaskProlog");
  nccl->add_option("--verify", arguments->log,
                   "NCCL's log (NCCL_DEBUG=INFO), plain or gzip; - for standard input. Exit code 1 "
                   "if NVLink or RDMA is not used")
      ->type_name("FILE");
  nccl->footer(
      "Variables that are already set are kept and checked.\n\nExamples:\n"
      "  eval \"$(goban doctor nccl --export)\"\n  goban doctor nccl --verify nccl.log");
  nccl->callback(
      [arguments, &action] { action = [arguments] { return doctor_nccl(*arguments); }; });
}

}  // namespace goban::cli
