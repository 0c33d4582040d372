// What a machine says about its own hardware, as text: read from the machine, or from files that
// were saved on another one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::base::topology {

struct NodeFacts {
  std::string hwloc_xml{};  ///< hwloc.xml: `lstopo --of xml`, format 2
  std::string smi_topo{};   ///< smi-topo.txt: `nvidia-smi topo -m`; empty: no NVIDIA driver
  std::string smi_gpus{};   ///< smi-gpus.csv: index, PCI address, name; no heading
  std::string sysfs{};      ///< sysfs.txt: lines `path:value`, as grep -r prints them
  /// Of facts that were read from a folder: the files that it lacks.
  std::vector<std::string> absent{};
};

/// The control register of access control services (ACS) in a device's PCI configuration space;
/// nullopt if it has none, or if the space is cut at 256 bytes, as for users other than root.
[[nodiscard]] std::optional<int> acs_control(std::string_view config);

enum class Driver : uint8_t { Ask, Skip };

/// Reads this machine; what is absent or not permitted is empty. Unless
/// `driver` is Skip, runs nvidia-smi, if it is installed, for at most 10 s. Errors: Failed, if
/// hwloc cannot read the machine.
[[nodiscard]] Result<NodeFacts> read_machine(Driver driver = Driver::Ask);

/// Errors: Failed, if the folder has no hwloc.xml; BadData for an empty sysfs.txt, and for an empty
/// smi-topo.txt where there is a driver.
[[nodiscard]] Result<NodeFacts> read_facts(const std::string& folder);
/// Writes the files, so that read_facts gives the same; what is empty has no file. Errors: Failed.
[[nodiscard]] Status save_facts(const NodeFacts& facts, const std::string& folder);

/// Errors: BadData with the line, for a text that is not lines `path:value`, each with its end.
[[nodiscard]] Status check_sysfs(std::string_view sysfs, const std::string& file);

/// The lines of NodeFacts::sysfs by path; of several lines of a file, the first.
[[nodiscard]] std::map<std::string, std::string> values_of(std::string_view sysfs);

}  // namespace goban::base::topology
