// NCCL's logs (tests/topology/logs): what is used, and why not.
#include "base/topology/nccl_log.hpp"

#include <gmock/gmock.h>

#include "base/files.hpp"

namespace goban::base::topology {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kFolder = GOBAN_SOURCE_DIR "/tests/topology/";

NcclLog log_of(const std::string& name) {
  const auto text = read_small_file(kFolder + ("logs/" + name));
  EXPECT_TRUE(text);
  const auto log = parse_nccl_log(text.value_or(""), name);
  EXPECT_TRUE(log) << log.error().text();
  return log.value_or(NcclLog{});
}

std::optional<Topology> machine(const std::string& name) {
  const auto facts = read_facts(kFolder + name);
  EXPECT_TRUE(facts);
  auto topology = topology_of(facts.value_or(NodeFacts{}));
  EXPECT_TRUE(topology);
  return topology ? std::optional(*topology) : std::nullopt;
}

TEST(NcclLog, NvlinkAndGpuDirectAreConfirmed) {
  const NcclLog log = log_of("good.log");
  EXPECT_EQ(log.version, "2.21.5");
  EXPECT_EQ(log.hosts.size(), 2U);
  EXPECT_EQ(log.p2p, 3);
  EXPECT_EQ(log.rdma_direct, 2);
  const auto findings = findings_of(log, machine("dgx_a100"));
  for (const NcclFinding& each : findings) EXPECT_EQ(each.use, Use::Used) << each.what;
  EXPECT_FALSE(misses_something(findings));
  EXPECT_THAT(to_text(findings), HasSubstr("GPUDirect RDMA: used (2 of 2 channels"));
}

TEST(NcclLog, AContainerWithoutPeersAndCardsIsExplained) {
  const auto findings = findings_of(log_of("container.log"), machine("dgx_a100"));
  EXPECT_TRUE(misses_something(findings));
  EXPECT_EQ(findings[0].use, Use::NotUsed);
  EXPECT_EQ(findings[1].use, Use::NotUsed);
  const std::string text = to_text(findings);
  EXPECT_THAT(text, HasSubstr("containers that see single GPUs"));
  EXPECT_THAT(text, HasSubstr("NCCL_IB_DISABLE=1 is set: remove it"));
  EXPECT_THAT(text, HasSubstr("transfers between nodes go over TCP"));
}

TEST(NcclLog, ACopyThroughHostMemoryIsExplainedByDistanceAndModule) {
  const NcclLog log = log_of("bounce.log");
  const auto findings = findings_of(log, machine("pcie_box"));
  EXPECT_EQ(findings[0].use, Use::NotNeeded);  // no NVLink in this machine
  EXPECT_EQ(findings[1].use, Use::Used);
  EXPECT_EQ(findings[2].use, Use::NotUsed);
  EXPECT_THAT(to_text(findings), HasSubstr("disabled for mlx5_0: load nvidia_peermem"));
  EXPECT_THAT(to_text(findings), HasSubstr("are PHB apart, the limit is PXB"));
  // Without the machine, PCIe in the graph is what can be said.
  EXPECT_EQ(findings_of(log, std::nullopt)[0].use, Use::NotUsed);
}

TEST(NcclLog, PeerAccessAloneDoesNotProveNvlink) {
  const std::string text = "a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n";
  const auto log = parse_nccl_log(text, "x");
  ASSERT_TRUE(log);
  EXPECT_EQ(findings_of(*log, std::nullopt)[0].use, Use::Unknown);
  EXPECT_THAT(to_text(findings_of(*log, std::nullopt)), HasSubstr("NCCL_DEBUG_SUBSYS=INIT,NET"));
  EXPECT_EQ(findings_of(*log, machine("hgx_h100"))[0].use, Use::Used);
  EXPECT_EQ(findings_of(*log, machine("pcie_box"))[0].use, Use::NotNeeded);
}

TEST(NcclLog, TextWithoutLinesOfNcclIsRefused) {
  for (const char* text : {"", "hello\n", "NCCL version 2.18\n"}) {
    const auto log = parse_nccl_log(text, "job.out");
    ASSERT_FALSE(log);
    EXPECT_THAT(log.error().text(), HasSubstr("job.out: has no line of NCCL"));
    EXPECT_THAT(log.error().text(), Not(HasSubstr("\n")));
  }
}

}  // namespace
}  // namespace goban::base::topology
