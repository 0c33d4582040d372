#include "base/topology/node_facts.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <hwloc.h>
#include <memory>
#include <sstream>
#include <vector>

#include "base/files.hpp"
#include "base/gpus/smi_process.hpp"
#include "base/output_file.hpp"
#include "base/text.hpp"

namespace goban::base::topology {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHwlocFile = "hwloc.xml";
constexpr const char* kTopoFile = "smi-topo.txt";
constexpr const char* kGpusFile = "smi-gpus.csv";
constexpr const char* kSysfsFile = "sysfs.txt";
constexpr double kSmi_s = 5;
constexpr size_t kOldConfig = 256;  // bytes of configuration space that all users may read

/// Appends `path:line` for each line of a small file; nothing if it cannot be read.
void add_lines(const fs::path& path, std::string& out) {
  const auto text = read_small_file(path.string(), size_t{1} << 20);
  if (!text) return;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    std::erase(line, '\0');
    out += fmt::format("{}:{}\n", path.string(), line);
  }
}

/// The entries of a folder in order of their names; empty if there is none.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    out.push_back(it->path());
  }
  std::ranges::sort(out);
  return out;
}

void add_ports(std::string& out) {
  for (const fs::path& nic : entries_of("/sys/class/infiniband")) {
    for (const fs::path& port : entries_of(nic / "ports")) {
      for (const char* name : {"link_layer", "state", "rate"}) add_lines(port / name, out);
      // Unset entries of the table cannot be read.
      for (const fs::path& type : entries_of(port / "gid_attrs" / "types")) {
        const size_t before = out.size();
        add_lines(type, out);
        if (out.size() > before) add_lines(port / "gids" / type.filename(), out);
      }
    }
  }
}

/// Bridges with access control services, in lines that sysfs does not have:
/// "/sys/bus/pci/acs_control:0000:17:00.0 5d"; and "read" if the registers could be read.
void add_access_control(std::string& out) {
  const std::string path = "/sys/bus/pci/acs_control";
  bool was_read = false;
  for (const fs::path& device : entries_of("/sys/bus/pci/devices")) {
    const auto kind = read_small_file((device / "class").string());
    if (!kind || !kind->starts_with("0x0604")) continue;
    const auto config = read_small_file((device / "config").string());
    if (!config || config->size() <= kOldConfig) continue;
    was_read = true;
    const auto control = acs_control(*config);
    if (control) out += fmt::format("{}:{} {:x}\n", path, device.filename().string(), *control);
  }
  if (was_read) out += path + ":read\n";
  for (const fs::path& unit : entries_of("/sys/class/iommu")) out += unit.string() + ":present\n";
}

/// Descriptions of virtual machines that NCCL reads, or that a provider puts there for it.
void add_topology_files(std::string& out) {
  for (const char* path : {"/var/run/nvidia-topologyd/virtualTopology.xml",
                           "/opt/microsoft/ndv4-topo.xml", "/opt/microsoft/ndv5-topo.xml"}) {
    if (exists(path)) out += fmt::format("{}:present\n", path);
  }
  add_lines("/etc/nccl.conf", out);
}

std::string sysfs_text() {
  std::string out;
  add_ports(out);
  add_access_control(out);
  add_topology_files(out);
  for (const fs::path& interface : entries_of("/sys/class/net")) {
    for (const char* name : {"operstate", "speed"}) add_lines(interface / name, out);
  }
  for (const char* path :
       {"/proc/net/route", "/proc/sys/kernel/osrelease", "/proc/driver/nvidia/version",
        "/sys/module/nvidia_peermem/initstate", "/sys/class/dmi/id/product_name"}) {
    add_lines(path, out);
  }
  const auto processors = read_small_file("/proc/cpuinfo");
  if (processors && processors->find(" hypervisor ") != std::string::npos) {
    out += "/proc/cpuinfo:hypervisor\n";
  }
  return out;
}

}  // namespace

std::optional<int> acs_control(std::string_view config) {
  constexpr uint32_t kAcs = 0x000d, kIdBits = 0xffff, kNextShift = 20;
  constexpr size_t kControl = 6, kMostCapabilities = 480;
  const auto byte_at = [&](size_t at) { return static_cast<uint8_t>(config[at]); };
  size_t at = kOldConfig;
  for (size_t i = 0; i < kMostCapabilities && at >= kOldConfig && at + 8 <= config.size(); ++i) {
    const uint32_t head = byte_at(at) | static_cast<uint32_t>(byte_at(at + 1)) << 8U |
                          static_cast<uint32_t>(byte_at(at + 2)) << 16U |
                          static_cast<uint32_t>(byte_at(at + 3)) << 24U;
    if ((head & kIdBits) == kAcs) return byte_at(at + kControl) | byte_at(at + kControl + 1) << 8;
    at = head >> kNextShift & ~3U;
  }
  return std::nullopt;
}

Result<NodeFacts> read_machine(Driver driver) {
  NodeFacts out;
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return failed("hwloc cannot be started");
  const std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> owner(
      topology, hwloc_topology_destroy);
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if (hwloc_topology_load(topology) != 0) {
    return system_error("hwloc cannot read the machine", "/sys");
  }
  char* text = nullptr;
  int bytes = 0;
  if (hwloc_topology_export_xmlbuffer(topology, &text, &bytes, 0) != 0) {
    return failed("hwloc cannot write its XML");
  }
  out.hwloc_xml = text;
  hwloc_free_xmlbuffer(topology, text);
  out.sysfs = sysfs_text();
  if (driver == Driver::Skip) return out;
  gpus::SmiProcess smi("nvidia-smi");
  auto gpus = smi.run({"--query-gpu=index,pci.bus_id,name", "--format=csv,noheader"}, kSmi_s);
  if (!gpus.problem.empty()) return out;
  out.smi_gpus = std::move(gpus.out);
  auto topo = smi.run({"topo", "-m"}, kSmi_s);
  if (topo.problem.empty()) out.smi_topo = std::move(topo.out);
  return out;
}

Result<NodeFacts> read_facts(const std::string& folder) {
  NodeFacts out;
  auto xml = read_small_file(folder + "/" + kHwlocFile);
  if (!xml) {
    Error error = xml.error();
    error.remedy = "save it on the node: goban doctor topology --save DIR, or lstopo --of xml";
    return failure(error);
  }
  out.hwloc_xml = std::move(*xml);
  for (const auto& [name, text] :
       {std::pair(kTopoFile, &out.smi_topo), std::pair(kGpusFile, &out.smi_gpus),
        std::pair(kSysfsFile, &out.sysfs)}) {
    const std::string path = folder + "/" + name;
    if (!exists(path)) {
      out.absent.emplace_back(name);
      continue;
    }
    auto read = read_small_file(path);
    if (!read) return failure(read.error());
    *text = std::move(*read);
  }
  const auto empty = [&](const char* name, const std::string& text) {
    return exists(folder + "/" + name) && trimmed(text).empty();
  };
  // Earlier releases wrote two empty files for a machine without a driver.
  for (const char* name :
       {empty(kSysfsFile, out.sysfs) ? kSysfsFile : nullptr,
        empty(kTopoFile, out.smi_topo) && !out.smi_gpus.empty() ? kTopoFile : nullptr}) {
    if (name == nullptr) continue;
    return bad_data({folder + "/" + name, 0, 0, {}}, "is empty",
                    "save it on the node again: goban doctor topology --save DIR; without the file "
                    "what it would say is unknown");
  }
  return out;
}

Status save_facts(const NodeFacts& facts, const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return failed(fmt::format("cannot create '{}': {}", folder, error.message()));
  for (const auto& [name, text] :
       {std::pair(kHwlocFile, &facts.hwloc_xml), std::pair(kTopoFile, &facts.smi_topo),
        std::pair(kGpusFile, &facts.smi_gpus), std::pair(kSysfsFile, &facts.sysfs)}) {
    const std::string path = folder + "/" + name;
    if (text->empty()) {
      fs::remove(path, error);
    } else if (auto s = write_file(path, *text); !s) {
      return s;
    }
  }
  return {};
}

Status check_sysfs(std::string_view sysfs, const std::string& file) {
  const auto bad = [&](int line, const char* why) {
    return bad_data({file, line, 0, {}}, why,
                    "save it on the node again: goban doctor topology --save DIR");
  };
  for (int number = 1; !sysfs.empty(); ++number) {
    const size_t end = sysfs.find('\n');
    const std::string_view line = sysfs.substr(0, end);
    if (!line.starts_with('/') || line.find(':') == std::string_view::npos ||
        line.find('\0') != std::string_view::npos) {
      return bad(number, "is not a line 'path:value'");
    }
    if (end == std::string_view::npos) return bad(number, "has no end: the file is truncated");
    sysfs.remove_prefix(end + 1);
  }
  return {};
}

std::map<std::string, std::string> values_of(std::string_view sysfs) {
  std::map<std::string, std::string> out;
  while (!sysfs.empty()) {
    const size_t end = std::min(sysfs.find('\n'), sysfs.size());
    const std::string_view line = sysfs.substr(0, end);
    sysfs.remove_prefix(std::min(end + 1, sysfs.size()));
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    out.emplace(line.substr(0, colon), trimmed(line.substr(colon + 1)));
  }
  return out;
}

}  // namespace goban::base::topology
