// Machines as they describe themselves (tests/topology): what is read, and what NCCL is told.
#include "base/topology/topology.hpp"

#include <cstdlib>
#include <gmock/gmock.h>

#include "base/test_folder.hpp"
#include "base/topology/nccl_advice.hpp"
#include "base/topology/smi_matrix.hpp"

namespace goban::base::topology {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

NodeFacts facts_of(const std::string& machine) {
  const auto facts = read_facts(GOBAN_SOURCE_DIR "/tests/topology/" + machine);
  EXPECT_TRUE(facts) << facts.error().text();
  return facts.value_or(NodeFacts{});
}

Topology read(const NodeFacts& facts) {
  auto topology = topology_of(facts);
  EXPECT_TRUE(topology) << topology.error().text();
  return topology.value_or(Topology{});
}

std::string value_of(const NcclAdvice& advice, const std::string& name) {
  for (const NcclSetting& each : advice.set) {
    if (each.name == name) return each.value;
  }
  return "";
}

std::string all_problems(const NcclAdvice& advice) {
  std::string out;
  for (const NcclSetting& each : advice.problems) out += each.name + " " + each.evidence + "\n";
  return out;
}

TEST(Topology, ADgxA100HasOneIslandAndTwoCardsNextToEachPairOfGpus) {
  const Topology dgx = read(facts_of("dgx_a100"));
  EXPECT_EQ(dgx.packages, 2);
  EXPECT_THAT(dgx.numa, SizeIs(8));
  ASSERT_THAT(dgx.gpus, SizeIs(8));
  EXPECT_EQ(dgx.gpus[0].pci, "0000:07:00.0");
  EXPECT_EQ(dgx.gpus[0].numa, 3);
  EXPECT_EQ(dgx.gpus[4].model, "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(dgx.gpus[4].package, 1);
  ASSERT_THAT(dgx.islands(), SizeIs(1));
  EXPECT_THAT(dgx.islands()[0].gpus, SizeIs(8));
  EXPECT_DOUBLE_EQ(dgx.nvlink_bytes_per_s(dgx.islands()[0]).value_or(0), 300e9);
  const std::string text = to_text(dgx);
  EXPECT_THAT(text,
              HasSubstr("dgx-a100: 2 sockets, 8 NUMA nodes, 8 GPUs, 13 network cards, 1 disks"));
  EXPECT_THAT(text, HasSubstr("NVLink island: GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 GPU6 GPU7 (12 links"));
  EXPECT_THAT(text, HasSubstr("GPU0: nearest network card mlx5_0 (PXB)"));
  EXPECT_THAT(text, HasSubstr("mlx5_0     0000:0c:00.0  InfiniBand 200 Gbit/s"));
}

TEST(Topology, TheTreeOfHwlocAgreesWithTheTableOfTheDriver) {
  for (const char* machine : {"dgx_a100", "hgx_h100", "pcie_box"}) {
    NodeFacts facts = facts_of(machine);
    const Topology whole = read(facts);
    facts.smi_topo.clear();
    const Topology tree = read(facts);
    ASSERT_EQ(tree.gpus.size(), whole.gpus.size());
    for (size_t gpu = 0; gpu < whole.gpus.size(); ++gpu) {
      for (size_t nic = 0; nic < whole.nics.size(); ++nic) {
        if (!whole.nics[nic].port.rdma) continue;
        EXPECT_EQ(way_name(tree.gpus_to_nics[gpu][nic].way),
                  std::string(way_name(whole.gpus_to_nics[gpu][nic].way)))
            << machine << " GPU" << gpu << " " << whole.nics[nic].name;
      }
    }
  }
}

TEST(Topology, NcclGetsTheComputeCardsOfADgx) {
  const NcclAdvice advice = nccl_advice(read(facts_of("dgx_a100")), {});
  EXPECT_EQ(value_of(advice, "NCCL_IB_HCA"),
            "=mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_6:1,mlx5_7:1,mlx5_8:1,mlx5_9:1");
  EXPECT_EQ(value_of(advice, "NCCL_SOCKET_IFNAME"), "=enp226s0");
  EXPECT_THAT(advice.set, SizeIs(2));
  EXPECT_THAT(advice.problems, IsEmpty());
  EXPECT_THAT(to_text(advice), HasSubstr("mlx5_4: no GPU shares a PCIe switch with it"));
  EXPECT_THAT(to_text(advice), HasSubstr("mlx5_5: port is down"));
  EXPECT_THAT(advice.binding.at(1), HasSubstr("GPU1 - mlx5_1 (PXB)"));  // each its own card
  EXPECT_THAT(export_lines(advice), HasSubstr("export NCCL_SOCKET_IFNAME==enp226s0\n"));
}

TEST(Topology, RoceGetsItsGidIndexAndTheSlowCardIsDropped) {
  const Topology hgx = read(facts_of("hgx_h100"));
  EXPECT_DOUBLE_EQ(hgx.nvlink_bytes_per_s(hgx.islands().at(0)).value_or(0), 450e9);
  EXPECT_EQ(hgx.gpus_to_nics[0][1].way, Way::Pix);
  const NcclAdvice advice = nccl_advice(hgx, {});
  EXPECT_EQ(value_of(advice, "NCCL_IB_GID_INDEX"), "3");
  EXPECT_EQ(value_of(advice, "NCCL_IB_HCA"),
            "=mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_4:1,mlx5_5:1,mlx5_6:1,mlx5_7:1,mlx5_8:1");
  EXPECT_THAT(advice.problems, IsEmpty());  // the open driver needs no nvidia_peermem
  EXPECT_THAT(advice.binding.at(7), HasSubstr("GPU7 - mlx5_8 (PIX) - NUMA node 1"));
}

TEST(Topology, APcieBoxHasNoNvlinkAndIsWarnedOfItsDistances) {
  const Topology box = read(facts_of("pcie_box"));
  EXPECT_THAT(box.islands(), IsEmpty());
  EXPECT_EQ(box.between_gpus[0][1].way, Way::Pix);
  EXPECT_EQ(box.between_gpus[2][3].way, Way::Node);
  EXPECT_EQ(box.between_gpus[0][2].way, Way::Sys);
  EXPECT_EQ(box.gpus_to_nics[0][0].way, Way::Phb);
  const NcclAdvice advice = nccl_advice(box, {});
  EXPECT_EQ(value_of(advice, "NCCL_IB_HCA"), "=mlx5_0:1");
  EXPECT_THAT(all_problems(advice), HasSubstr("nvidia_peermem is not loaded"));
  EXPECT_THAT(all_problems(advice), HasSubstr("GPU2: the nearest network card, mlx5_0, is at "
                                              "distance SYS"));
  EXPECT_THAT(to_text(box), HasSubstr("NVLink: none"));
  NodeFacts no_driver = facts_of("pcie_box");
  no_driver.smi_topo.clear();
  no_driver.smi_gpus.clear();
  EXPECT_THAT(read(no_driver).gpus, SizeIs(4));
  EXPECT_EQ(read(no_driver).between_gpus, box.between_gpus);
  EXPECT_THAT(to_text(read(no_driver)), HasSubstr("NVLink: unknown"));
}

std::string all_left(const NcclAdvice& advice) {
  std::string out;
  for (const NcclSetting& each : advice.left) {
    out += each.name + "=" + each.value + " " + each.evidence + "\n";
  }
  return out;
}

TEST(Topology, AccessControlThatSendsTransfersUpwardsIsAProblem) {
  Topology box = read(facts_of("pcie_box"));
  EXPECT_THAT(box.redirecting, SizeIs(3));
  const std::string text = all_problems(nccl_advice(box, {}));
  EXPECT_THAT(text, HasSubstr("up to the processor: GPU0 and GPU1; on at 0000:18:00.0, "
                              "0000:18:08.0. switch it off"));
  EXPECT_THAT(text, HasSubstr("setpci -s BRIDGE ECAP_ACS+0x6.w=0000"));
  box.virtual_machine = "KVM";
  EXPECT_THAT(all_problems(nccl_advice(box, {})), HasSubstr("address translation (ATS)"));
  box.redirecting = {"0000:16:02.0"};  // the root port is no part of the way
  EXPECT_THAT(all_problems(nccl_advice(box, {})), Not(HasSubstr("ACS")));
  const Topology dgx = read(facts_of("dgx_a100"));
  EXPECT_TRUE(dgx.access_control_read);
  EXPECT_THAT(to_text(nccl_advice(dgx, {})), Not(HasSubstr("(ACS) is not known")));
  EXPECT_THAT(all_left(nccl_advice(read(facts_of("hgx_h100")), {})),
              HasSubstr("sudo goban doctor nccl). The IOMMU is on"));
}

TEST(Topology, AccessControlIsReadFromTheConfigurationSpace) {
  std::string config(4096, '\0');
  EXPECT_EQ(acs_control(config), std::nullopt);
  const auto put = [&](size_t at, unsigned value) {
    for (size_t i = 0; i < 4; ++i) config[at + i] = static_cast<char>(value >> 8 * i & 0xff);
  };
  put(0x100, 0x14810001);  // error reporting, then ...
  put(0x148, 0x0001000d);  // ... access control: capabilities 0x1f, control 0x1d
  put(0x14c, 0x001d001f);
  EXPECT_EQ(acs_control(config), 0x1d);
  EXPECT_EQ(acs_control(config.substr(0, 256)), std::nullopt);
  EXPECT_EQ(acs_control(config.substr(0, 0x14e)), std::nullopt);
  put(0x148, 0x10010003);  // a list that begins again
  EXPECT_EQ(acs_control(config), std::nullopt);
}

TEST(Topology, AMachineThatHidesItsSwitchesGetsAFileOfItsProvider) {
  NodeFacts facts = facts_of("hgx_h100");
  facts.sysfs += "/proc/cpuinfo:hypervisor\n/sys/class/dmi/id/product_name:Virtual Machine\n";
  Topology machine = read(facts);
  EXPECT_THAT(all_left(nccl_advice(machine, {})), Not(HasSubstr("NCCL_TOPO_FILE")));
  for (Device& gpu : machine.gpus) gpu.bridges.resize(2);
  EXPECT_THAT(all_left(nccl_advice(machine, {})), HasSubstr("set it to the provider's file"));
  machine.topology_files = {"/opt/microsoft/ndv4-topo.xml"};  // of another model
  EXPECT_EQ(value_of(nccl_advice(machine, {}), "NCCL_TOPO_FILE"), "");
  machine.topology_files.emplace_back("/opt/microsoft/ndv5-topo.xml");
  EXPECT_EQ(value_of(nccl_advice(machine, {}), "NCCL_TOPO_FILE"), "/opt/microsoft/ndv5-topo.xml");
  const NcclAdvice own = nccl_advice(machine, {{"NCCL_TOPO_FILE", "/mine.xml"}});
  EXPECT_EQ(value_of(own, "NCCL_TOPO_FILE"), "");
  facts.sysfs +=
      "/etc/nccl.conf:NCCL_DEBUG=WARN\n/etc/nccl.conf:NCCL_TOPO_FILE=/t.xml\n"
      "/opt/microsoft/ndv5-topo.xml:present\n";
  Topology configured = read(facts);
  EXPECT_THAT(configured.topology_files, ::testing::ElementsAre("/opt/microsoft/ndv5-topo.xml"));
  for (Device& gpu : configured.gpus) gpu.bridges.resize(2);
  EXPECT_THAT(all_left(nccl_advice(configured, {})), HasSubstr("/etc/nccl.conf names /t.xml"));
  machine.topology_files = {"/var/run/nvidia-topologyd/virtualTopology.xml"};
  EXPECT_THAT(all_left(nccl_advice(machine, {})), HasSubstr("by itself"));
  // A container without the PCIe tree.
  machine.virtual_machine.clear();
  machine.topology_files.clear();
  EXPECT_THAT(all_left(nccl_advice(machine, {})), Not(HasSubstr("NCCL_TOPO_FILE")));
  for (Device& gpu : machine.gpus) gpu.bridges.clear();
  EXPECT_THAT(all_left(nccl_advice(machine, {})), HasSubstr("NCCL_TOPO_DUMP_FILE=FILE"));
}

TEST(Topology, TheUsersOwnValuesStayAndAreChecked) {
  const NcclAdvice advice = nccl_advice(
      read(facts_of("dgx_a100")),
      {{"NCCL_IB_HCA", "mlx4"}, {"NCCL_SOCKET_IFNAME", "lo"}, {"NCCL_P2P_DISABLE", "1"}});
  EXPECT_THAT(advice.set, IsEmpty());
  EXPECT_THAT(export_lines(advice), IsEmpty());
  ASSERT_THAT(advice.kept, SizeIs(2));
  EXPECT_THAT(all_problems(advice),
              HasSubstr("NCCL_IB_HCA no RDMA card of this machine begins with mlx4"));
  EXPECT_THAT(all_problems(advice), HasSubstr("cannot reach loopback"));
  EXPECT_THAT(all_problems(advice), HasSubstr("NCCL_P2P_DISABLE turns NVLink"));
  const NcclAdvice prefix = nccl_advice(read(facts_of("dgx_a100")), {{"NCCL_IB_HCA", "mlx5"}});
  EXPECT_THAT(all_problems(prefix), Not(HasSubstr("no RDMA card")));
}

TEST(Topology, NamesThatTheMachineDoesNotHaveAreProblems) {
  Topology dgx = read(facts_of("dgx_a100"));
  EXPECT_THAT(dgx.interfaces, Contains(dgx.control_interface));
  dgx.interfaces = {"eth0", "eth10", "lo"};
  const auto problems = [&](const char* variable, const char* value) {
    return all_problems(nccl_advice(dgx, {{variable, value}}));
  };
  constexpr auto kInterface = "NCCL_SOCKET_IFNAME";
  for (const char* fine : {"eth", "=eth0", "eth0,eth1", "^docker", "=eth0,eth10"}) {
    EXPECT_THAT(problems(kInterface, fine), Not(HasSubstr("network interface"))) << fine;
  }
  EXPECT_THAT(problems(kInterface, "=eth1"),
              HasSubstr("no network interface of this machine is eth1"));
  EXPECT_THAT(problems(kInterface, "eth0,ib0"), HasSubstr("begins with ib0"));
  EXPECT_THAT(problems("NCCL_IB_HCA", "=mlx5_0:1,mlx5_99:1"),
              HasSubstr("RDMA card of this machine is mlx5_99"));
  EXPECT_THAT(problems("NCCL_IB_HCA", "mlx5_0:1"), Not(HasSubstr("RDMA card of this")));
  dgx.interfaces.clear();  // files that were saved without them
  EXPECT_THAT(problems(kInterface, "eth7"), HasSubstr("cannot be checked"));
}

TEST(Topology, DamagedFilesAreNamed) {
  const auto error = [](const NodeFacts& facts) {
    const auto topology = topology_of(facts);
    return topology ? "" : topology.error().text();
  };
  NodeFacts facts = facts_of("dgx_a100");
  const std::string xml = facts.hwloc_xml;
  facts.hwloc_xml = xml.substr(0, xml.rfind("<object type=\"PU\""));
  EXPECT_THAT(error(facts), HasSubstr("hwloc.xml: is not a topology"));
  facts.hwloc_xml = xml;
  const size_t place = facts.hwloc_xml.find("complete_cpuset", facts.hwloc_xml.find("\"PU\""));
  facts.hwloc_xml.replace(place, 8, "komplete");
  EXPECT_THAT(error(facts), HasSubstr("complete_cpuset: is missing or damaged in an object of"))
      << "hwloc crashes";
  EXPECT_THAT(error(facts), HasSubstr("hwloc.xml:"));
  facts.hwloc_xml = "";
  EXPECT_THAT(error(facts), HasSubstr("hwloc.xml: is not a topology"));
  facts.hwloc_xml = xml;
  facts.smi_gpus = "0, 00000000:07:00.0\n";
  EXPECT_THAT(error(facts), HasSubstr("smi-gpus.csv:1: must be index, PCI address and name"));
  facts.smi_gpus = "0, 00000000:07:00.0, A\n1, 00000000:07:00.0, A\n";
  EXPECT_THAT(error(facts), HasSubstr("smi-gpus.csv:2: has the index or the address of a line"));
  facts.smi_gpus = "0, 00000000:07:00.0, A\n";
  EXPECT_THAT(error(facts), HasSubstr("smi-gpus.csv: lacks GPU1, which smi-topo.txt has"));
  facts.smi_gpus.clear();
  facts.smi_topo = "\tGPU0\tGPU1\nGPU0\t X \tNV99x\n";
  EXPECT_THAT(error(facts), HasSubstr("smi-topo.txt:2: GPU1: 'NV99x' is not in the legend"));
  const std::string heading = "\tGPU0\tGPU1\tCPU Affinity\n", row = "GPU0\t X \tNV4\t0-3\n";
  facts.smi_topo = "nonsense\nmore\n";
  EXPECT_THAT(error(facts), HasSubstr("smi-topo.txt:1: has no heading with GPUs"));
  facts.smi_topo = heading + row;
  EXPECT_THAT(error(facts), HasSubstr("smi-topo.txt:2: is the last row, but 'GPU1' has none"));
  facts.smi_topo = heading + row + "GPU7\tNV4\t X \t0-3\n";
  EXPECT_THAT(error(facts), HasSubstr("smi-topo.txt:3: GPU7: is not in the heading"));
  facts.smi_topo = heading + row + "GPU1\t X \tNV4\t0-3\n";
  EXPECT_THAT(error(facts), HasSubstr("smi-topo.txt:3: GPU0: 'X' is at the wrong place"));
  facts.smi_topo.clear();
  const std::string good = facts.sysfs;
  for (const auto& [bad, wanted] :
       {std::pair("/sys/class/net/eth0/speed:1\nrubbish\n", "sysfs.txt:2: is not a line"),
        std::pair("/sys/class/net/eth0", "sysfs.txt:1: is not a line"),
        std::pair("/a:1\n/sys/class/net/eth0:10", "sysfs.txt:2: has no end")}) {
    facts.sysfs = bad;
    EXPECT_THAT(error(facts), HasSubstr(wanted));
  }
  facts.sysfs = good;
  facts.sysfs[good.size() / 2] = '\0';
  EXPECT_THAT(error(facts), HasSubstr("is not a line 'path:value'"));
  EXPECT_THAT(read_facts("/nowhere").error().text(), HasSubstr("goban doctor topology --save"));
}

TEST(Topology, EmptyFilesAreRefusedAndAbsentOnesNamed) {
  const NodeFacts facts = facts_of("dgx_a100");
  EXPECT_THAT(facts.absent, IsEmpty());
  const TestFolder folder;
  NodeFacts some = facts;
  some.smi_topo.clear();
  ASSERT_TRUE(save_facts(facts, folder.path()));
  ASSERT_TRUE(save_facts(some, folder.path()));  // which removes the table of before
  const auto again = read_facts(folder.path());
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_THAT(again->absent, ::testing::ElementsAre("smi-topo.txt"));
  const std::string note = "no smi-topo.txt: what the machine would say there is unknown\n";
  EXPECT_THAT(to_text(read(*again)), HasSubstr(note));
  EXPECT_THAT(to_text(nccl_advice(read(*again), {})), HasSubstr(note));
  EXPECT_THAT(to_json(read(*again)), HasSubstr("\"smi-topo.txt\""));
  const auto error = [&](const char* name) {
    (void)folder.write(name, "");
    const auto read = read_facts(folder.path());
    return read ? Error{} : read.error();
  };
  EXPECT_THAT(error("smi-topo.txt").text(), HasSubstr("smi-topo.txt: is empty"));
  EXPECT_EQ(error("smi-topo.txt").code, ErrorCode::BadData);
  EXPECT_EQ(error("smi-gpus.csv").text(), "") << "no driver, by an earlier release";
  EXPECT_THAT(error("sysfs.txt").text(), HasSubstr("sysfs.txt: is empty"));
}

TEST(Topology, ThisMachineIsReadAndReadsBackFromItsFiles) {
  // hwloc's plug-in for PCI leaks memory; without it hwloc reads sysfs.
  ::setenv("HWLOC_PLUGINS_BLACKLIST", "hwloc_pci.so", 1);
  const auto facts = read_machine();
  ASSERT_TRUE(facts) << facts.error().text();
  const Topology here = read(*facts);
  EXPECT_GE(here.packages, 1);
  const TestFolder folder;
  ASSERT_TRUE(save_facts(*facts, folder.path() + "/saved"));
  auto again = read_facts(folder.path() + "/saved");
  ASSERT_TRUE(again) << again.error().text();
  again->absent.clear();  // those of the driver, if there is none
  EXPECT_EQ(to_json(read(*again)), to_json(here));
}

}  // namespace
}  // namespace goban::base::topology
