// The devices of a machine and how they are connected: sockets, NUMA nodes, PCIe switches, NVLink,
// network cards and disks. Sources: hwloc 2 (its XML), `nvidia-smi topo -m` and its legend, sysfs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/topology/node_facts.hpp"

namespace goban::base::topology {

/// The way between two devices, as in the legend of `nvidia-smi topo -m`, from near to far.
enum class Way : uint8_t {
  Self,
  NvLink,
  Pix,   ///< at most one PCIe switch
  Pxb,   ///< several PCIe switches, no host bridge
  Phb,   ///< a PCIe host bridge
  Node,  ///< host bridges of one NUMA node
  Sys,   ///< the link between NUMA nodes
  Unknown,
};
[[nodiscard]] const char* way_name(Way way);

struct Path {
  Way way = Way::Unknown;
  int links = 0;  ///< number of NVLinks, if way is NvLink
  friend bool operator==(const Path&, const Path&) = default;
};

enum class DeviceKind : uint8_t { Gpu, Nic, Disk };

/// A port of a network card as sysfs describes it.
struct Port {
  bool rdma = false;  ///< listed in /sys/class/infiniband
  int number = 1;
  std::string link_layer{};  ///< "InfiniBand" or "Ethernet"; empty: unknown
  bool active = false;
  double rate_gbit_s = 0;  ///< 0: unknown
  int roce_v2_index = -1;  ///< of the RoCE v2 GID with an IPv4 address; -1: none
};

struct Device {
  DeviceKind kind = DeviceKind::Nic;
  std::string name{};   ///< "GPU0", "mlx5_0", "eth0", "nvme0n1"
  std::string model{};  ///< "NVIDIA A100-SXM4-40GB", or the PCI ids
  std::string pci{};    ///< "0000:07:00.0"; empty: unknown
  int package = -1, numa = -1;
  double pcie_gb_s = 0;                ///< 0: unknown
  std::vector<std::string> bridges{};  ///< from the host bridge to the device
  Port port{};                         ///< of a network card
};

struct NumaNode {
  int number = 0, package = -1;
  std::string cores{};  ///< such as "0-15,128-143"
  int64_t memory_bytes = 0;
};

/// GPUs of which each pair is connected by NVLink.
struct Island {
  std::vector<size_t> gpus;  ///< numbers in Topology::gpus
  int links = 0;             ///< the least number between two of them
};

struct Topology {
  std::string host{};
  int packages = 0;
  std::vector<NumaNode> numa{};
  std::vector<Device> gpus{}, nics{}, disks{};
  std::vector<std::vector<Path>> between_gpus{};  ///< [GPU][GPU]
  std::vector<std::vector<Path>> gpus_to_nics{};  ///< [GPU][NIC]
  bool driver_table = false;        ///< ways between GPUs are the driver's; else NVLink is unknown
  std::string virtual_machine{};    ///< product name; empty: none
  std::string control_interface{};  ///< of the default route; empty: none
  std::vector<std::string> interfaces{};          ///< names; empty: unknown
  bool peer_memory = false, open_driver = false;  ///< nvidia_peermem; open kernel modules
  bool access_control_read = false;               ///< false: only root can read it
  std::vector<std::string> redirecting{};     ///< bridges whose ACS sends peers' transfers upwards
  bool iommu = false;                         ///< with which Linux switches ACS on
  std::vector<std::string> topology_files{};  ///< for NCCL_TOPO_FILE, found on this machine
  std::string configured_topology{};          ///< NCCL_TOPO_FILE in /etc/nccl.conf
  std::string kernel{};
  std::vector<std::string> absent{};  ///< NodeFacts::absent

  [[nodiscard]] std::vector<Island> islands() const;
  /// Bytes per second in one direction over all NVLinks of a GPU's island; nullopt without NVLink.
  [[nodiscard]] std::optional<double> nvlink_bytes_per_s(const Island& island) const;
};

/// "no smi-topo.txt, sysfs.txt: what the machine would say there is unknown"; empty: none is
/// absent.
[[nodiscard]] std::string absent_text(const Topology& topology);

/// Errors: BadData, with the file that is damaged.
[[nodiscard]] Result<Topology> topology_of(const NodeFacts& facts);

/// The machine as a tree, then NVLink islands and each GPU's nearest network card.
[[nodiscard]] std::string to_text(const Topology& topology);
[[nodiscard]] std::string to_json(const Topology& topology);

/// The network card with the shortest way to a GPU, of those for which `usable` holds; nullopt:
/// none.
[[nodiscard]] std::optional<size_t> nearest_nic(const Topology& topology, size_t gpu,
                                                const std::vector<size_t>& usable);

}  // namespace goban::base::topology
