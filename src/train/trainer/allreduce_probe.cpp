#include "train/trainer/allreduce_probe.hpp"

#include <ATen/ops/ones.h>
#include <algorithm>
#include <array>
#include <c10/core/DeviceGuard.h>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "base/clock.hpp"
#include "base/topology/topology.hpp"
#include "train/mesh/collective_tensor.hpp"
#include "train/mesh/device.hpp"

namespace goban::train::trainer {
namespace {

constexpr double kBillion = 1e9;
constexpr int64_t kGrowth = 4;

/// Bytes per second at which one thread copies memory beyond the caches.
double copy_rate() {
  constexpr size_t kBytes = size_t{64} << 20;
  constexpr int kRepeats = 5;
  const std::vector<char> from(kBytes, 1);
  std::vector<char> to(kBytes, 0);
  double best_s = std::numeric_limits<double>::max();
  for (int i = 0; i < kRepeats; ++i) {
    const double start_s = base::steady_s();
    std::memcpy(to.data(), from.data(), kBytes);
    best_s = std::min(best_s, base::steady_s() - start_s);
  }
  return static_cast<double>(kBytes) / best_s;
}

}  // namespace

base::Result<std::vector<ProbeRow>> probe_all_reduce(comm::Communicator& end, c10::Device device,
                                                     const ProbeOptions& options) {
  if (end.size() < 2) {
    return base::usage_error("an all-reduce needs at least 2 ranks",
                             "add --threads 2, or start it with mpirun -n 2");
  }
  const comm::Group all = comm::whole_world(end.size());
  const auto members = static_cast<double>(end.size());
  const c10::OptionalDeviceGuard guard(device);
  std::vector<ProbeRow> rows;
  const int64_t most = std::max(options.least_bytes, options.most_bytes);
  for (int64_t bytes = options.least_bytes;; bytes = std::min(bytes * kGrowth, most)) {
    at::Tensor data = at::ones({bytes / int64_t{sizeof(float)}},
                               at::TensorOptions().dtype(at::kFloat).device(device));
    double best_s = std::numeric_limits<double>::max();
    for (int i = 0; i <= options.repeats; ++i) {
      if (auto s = end.barrier(all, "probe"); !s) return base::failure(s.error());
      const double start_s = base::steady_s();
      // The maximum of ones stays one, however often it is formed.
      auto out = mesh::all_reduced(data, all, comm::Reduction::Max, end, "probe");
      if (!out) return base::failure(out.error());
      data = std::move(*out);
      mesh::finish_work(device);
      if (i > 0) best_s = std::min(best_s, base::steady_s() - start_s);  // the first one warms up
    }
    std::array<double, 1> slowest = {best_s};
    if (auto s = end.all_reduce(all, std::as_writable_bytes(std::span(slowest)), comm::Element::F64,
                                comm::Reduction::Max, "probe");
        !s) {
      return base::failure(s.error());
    }
    const double rate = static_cast<double>(bytes) / slowest[0];
    rows.push_back({bytes, slowest[0], rate, rate * 2 * (members - 1) / members});
    if (bytes >= most) break;
  }
  return rows;
}

Link link_of(c10::Device device, double given_bytes_per_s) {
  if (given_bytes_per_s > 0) return {"the given link", given_bytes_per_s};
  if (device.is_cpu()) return {"copying in this machine's memory", copy_rate()};
  const auto facts = base::topology::read_machine();
  if (!facts) return {"unknown link", 0};
  const auto machine = base::topology::topology_of(*facts);
  if (!machine || machine->gpus.empty()) return {"unknown link", 0};
  const auto islands = machine->islands();
  if (!islands.empty()) {
    return {"NVLink", machine->nvlink_bytes_per_s(islands.front()).value_or(0)};
  }
  return {"PCIe", machine->gpus.front().pcie_gb_s * kBillion};
}

std::string probe_text(const std::vector<ProbeRow>& rows, const Link& link, int ranks) {
  std::string out = fmt::format("all-reduce of {} ranks\n{:>12}{:>12}{:>12}{:>12}{:>10}\n", ranks,
                                "bytes", "us", "alg GB/s", "bus GB/s", "of link");
  for (const ProbeRow& row : rows) {
    const std::string share =
        link.bytes_per_s > 0 ? fmt::format("{:.1f} %", 100 * row.bus_bytes_per_s / link.bytes_per_s)
                             : "?";
    out += fmt::format("{:>12}{:>12.1f}{:>12.3f}{:>12.3f}{:>10}\n", row.bytes, 1e6 * row.seconds,
                       row.algorithm_bytes_per_s / kBillion, row.bus_bytes_per_s / kBillion, share);
  }
  if (rows.empty()) return out;
  const double reached = rows.back().bus_bytes_per_s;
  if (link.bytes_per_s <= 0) return out + "the link's rate is unknown: give --link-gb-s\n";
  return out + fmt::format("{}: {:.1f} GB/s; the largest message reaches {:.1f} GB/s, {:.0f} %\n",
                           link.name, link.bytes_per_s / kBillion, reached / kBillion,
                           100 * reached / link.bytes_per_s);
}

std::string probe_json(const std::vector<ProbeRow>& rows, const Link& link, int ranks) {
  nlohmann::json list = nlohmann::json::array();
  for (const ProbeRow& row : rows) {
    list.push_back({{"bytes", row.bytes},
                    {"seconds", row.seconds},
                    {"algorithm_bytes_per_s", row.algorithm_bytes_per_s},
                    {"bus_bytes_per_s", row.bus_bytes_per_s}});
  }
  const nlohmann::json out = {{"version", 1},
                              {"ranks", ranks},
                              {"link", {{"name", link.name}, {"bytes_per_s", link.bytes_per_s}}},
                              {"rows", std::move(list)}};
  return out.dump(2) + "\n";
}

}  // namespace goban::train::trainer
