#include "base/topology/smi_gpus.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string>

#include "base/number.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"

namespace goban::base::topology {

namespace {

constexpr const char* kFile = "smi-gpus.csv";
constexpr size_t kMostDevices = 4096;

/// "00000000:07:00.0" of nvidia-smi as "0000:07:00.0".
std::string short_address(std::string_view address) {
  constexpr size_t kShort = 12, kLong = 16;
  const std::string lower = lowered(trimmed(address));
  return lower.size() == kLong ? lower.substr(kLong - kShort) : lower;
}

/// Both are of one machine.
Status check_gpus(const SmiMatrix& matrix, const std::vector<Device>& named) {
  for (const auto& [pair, path] : matrix) {
    const std::string& name = pair.first;
    if (!name.starts_with("GPU")) continue;
    if (std::ranges::find(named, name, &Device::name) != named.end()) continue;
    return bad_data({kFile, 0, 0, {}},
                    fmt::format("lacks {}, which smi-topo.txt has", printable(name)),
                    "write both on one machine at one time");
  }
  return {};
}

}  // namespace

Status name_gpus(std::string_view csv, const SmiMatrix& matrix, std::vector<Device>& gpus) {
  std::ranges::sort(gpus, {}, &Device::pci);
  for (size_t i = 0; i < gpus.size(); ++i) gpus[i].name = fmt::format("GPU{}", i);
  std::vector<Device> named;
  for (int line = 1; !csv.empty(); ++line) {
    const size_t end = std::min(csv.find('\n'), csv.size());
    const std::string_view row = trimmed(csv.substr(0, end));
    csv.remove_prefix(std::min(end + 1, csv.size()));
    if (row.empty()) continue;
    const size_t first = row.find(','), second = row.find(',', first + 1);
    const auto index = parse_int(trimmed(row.substr(0, std::min(first, row.size()))));
    if (second == std::string_view::npos || !index || *index < 0 || named.size() >= kMostDevices) {
      return bad_data({kFile, line, 0, {}}, "must be index, PCI address and name",
                      "nvidia-smi --query-gpu=index,pci.bus_id,name --format=csv,noheader");
    }
    const std::string address = short_address(row.substr(first + 1, second - first - 1));
    const std::string name = fmt::format("GPU{}", *index);
    if (std::ranges::find(named, name, &Device::name) != named.end() ||
        std::ranges::find(named, address, &Device::pci) != named.end()) {
      return bad_data({kFile, line, 0, {}}, "has the index or the address of a line before it",
                      "each GPU is listed once");
    }
    const auto found = std::ranges::find(gpus, address, &Device::pci);
    Device device = found == gpus.end() ? Device{} : *found;
    device.kind = DeviceKind::Gpu;
    device.pci = address;
    device.name = name;
    device.model = trimmed(row.substr(second + 1));
    named.push_back(std::move(device));
  }
  if (named.empty()) return {};
  // Display adapters that the driver does not list cannot compute.
  gpus = std::move(named);
  return check_gpus(matrix, gpus);
}

}  // namespace goban::base::topology
