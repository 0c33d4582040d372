// goban cluster import against a real slurmctld (Debian's, with nodes that do not exist): started
// and stopped by the test, which is skipped if slurmctld is not installed.
#include <gmock/gmock.h>
#include <unistd.h>

#include "base/test_folder.hpp"
#include "cli/shell/test_shell.hpp"

namespace goban::cli {
namespace {

using testing::HasSubstr;

/// A configuration that needs no slurmd, munge or database.
std::string slurm_conf(const std::string& folder, int port) {
  return "ClusterName=fake\nSlurmctldHost=localhost\nSlurmctldPort=" + std::to_string(port) +
         "\nSlurmdPort=" + std::to_string(port + 1) +
         "\nAuthType=auth/none\nCredType=cred/none\nSlurmUser=" + std::to_string(getuid()) +
         "\nStateSaveLocation=" + folder + "\nSlurmctldPidFile=" + folder +
         "/ctld.pid\nSlurmctldLogFile=" + folder +
         "/ctld.log\nTopologyPlugin=topology/tree\nGresTypes=gpu\nSelectType=select/cons_tres\n"
         "NodeName=g[001-004] NodeAddr=127.0.0.1 CPUs=64 Sockets=2 CoresPerSocket=32 "
         "RealMemory=256000 Gres=gpu:A100-SXM4-40GB:4 State=UNKNOWN\n"
         "NodeName=h[1-2] NodeAddr=127.0.0.1 CPUs=32 RealMemory=128000 Gres=gpu:l4:8\n"
         "PartitionName=gpu Nodes=g[001-004],h[1-2] Default=YES State=UP\n"
         "PartitionName=all Nodes=ALL\n";
}

TEST(SlurmImport, RealOutputOfASlurmController) {
  if (shell("command -v slurmctld && command -v scontrol").code != 0) {
    GTEST_SKIP() << "slurmctld and slurm-client are not installed";
  }
  const base::TestFolder folder("slurm_import");
  constexpr int kPortBase = 20'000;
  const int port = kPortBase + 2 * (getpid() % 10'000);
  folder.write("slurm.conf", slurm_conf(folder.path(), port));
  folder.write("topology.conf",
               "SwitchName=s0 Nodes=g[001-002]\nSwitchName=s1 Nodes=g[003-004]\n"
               "SwitchName=s2 Nodes=h[1-2]\nSwitchName=top Switches=s[0-2]\n");
  // One shell owns the controller and stops it in any case.
  const Output run = shell(
      "cd " + folder.path() +
      " && export SLURM_CONF=$PWD/slurm.conf; timeout 120 slurmctld -D -c >out.log 2>&1 & pid=$!; "
      "i=0; until scontrol update NodeName=g002 State=DRAIN Reason='bad gpu 3' >/dev/null 2>&1 || "
      "[ $i -ge 300 ]; do i=$((i+1)); sleep 0.1; done; "
      "scontrol show node >nodes.txt; scontrol show topology >topology.txt; "
      "sinfo --json >sinfo.json; kill $pid; wait $pid; "
      "GOBAN cluster import slurm nodes.txt --topology topology.txt --out text.toml 2>&1 && "
      "GOBAN cluster import slurm sinfo.json --topology topology.conf --out json.toml 2>&1 && "
      "GOBAN cluster show text.toml && grep -v '^#' text.toml >a && grep -v '^#' json.toml >b && "
      "diff a b");
  ASSERT_EQ(run.code, 0) << run.out << base::TestFolder::read(folder.path() + "/out.log");
  EXPECT_THAT(run.out, HasSubstr("text.toml: 6 nodes, 32 GPUs"));
  EXPECT_THAT(run.out, HasSubstr("DRAIN"));
  EXPECT_THAT(run.out, HasSubstr("rack             3"));
}

}  // namespace
}  // namespace goban::cli
