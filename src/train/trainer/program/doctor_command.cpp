// goban-train doctor allreduce.
#include <fmt/format.h>
#include <memory>

#include "train/comm/launcher.hpp"
#include "train/mesh/device.hpp"
#include "train/trainer/allreduce_probe.hpp"
#include "train/trainer/program/commands.hpp"

namespace goban::train::trainer {
namespace {

using base::command_line::Command;

struct ProbeSettings : RunSettings {
  ProbeOptions probe;
  double most_mb = 64, link_gb_s = 0;
  bool json = false;
};

int run_probe(ProbeSettings& s) {
  constexpr double kMegabyte = 1e6, kBillion = 1e9;
  if (const int code = prepare(s); code != 0) return code;
  s.probe.most_bytes = std::max(s.probe.least_bytes, static_cast<int64_t>(s.most_mb * kMegabyte));
  return on_ranks(s, [&](comm::Communicator& end) -> base::Status {
    const auto device = mesh::resolve_device(s.train.device, end.local_rank());
    if (!device) return base::failure(device.error());
    const auto rows = probe_all_reduce(end, *device, s.probe);
    if (!rows) return base::failure(rows.error());
    if (end.rank() != 0) return {};
    const Link link = link_of(*device, s.link_gb_s * kBillion);
    fmt::print("{}",
               s.json ? probe_json(*rows, link, end.size()) : probe_text(*rows, link, end.size()));
    return {};
  });
}

}  // namespace

void add_train_doctor(Command& program, Action& action) {
  const auto settings = std::make_shared<ProbeSettings>();
  Command* doctor = program.add_subcommand("doctor", "Measure what limits runs on this machine");
  doctor->require_subcommand(1);
  Command* probe = doctor->add_subcommand(
      "allreduce", "Measure the bus bandwidth of all-reduces between ranks, beside their link");
  add_rank_options(*probe, *settings);
  probe->add_option("--most-mb", settings->most_mb, "Largest message in MB (10^6 bytes)")
      ->range(0.01, 4000.0);
  probe
      ->add_option("--repeats", settings->probe.repeats,
                   "All-reduces of each size; the fastest counts")
      ->range(1, 10000);
  from_zero(probe->add_option("--link-gb-s", settings->link_gb_s,
                              "Rate of the link in GB/s per direction; 0: NVLink or PCIe of this "
                              "machine's GPUs, or copies in memory, measured"));
  probe->add_flag("--json", settings->json, "Print JSON only");
  probe->footer(
      "Examples:\n  goban-train doctor allreduce --threads 2\n"
      "  mpirun -n 8 goban-train doctor allreduce --device cuda\n"
      "Between nodes, give the network card's rate: 200 Gbit/s are --link-gb-s 25.");
  probe->callback([=, &action] { action = [=] { return run_probe(*settings); }; });
}

}  // namespace goban::train::trainer
