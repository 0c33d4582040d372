// goban doctor on files: a run's table and timeline, a machine, NCCL's log.
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/reports/time_table.hpp"
#include "base/test_folder.hpp"
#include "cli/shell/test_shell.hpp"

namespace goban::cli {
namespace {

using ::testing::HasSubstr;

constexpr const char* kMachines = GOBAN_SOURCE_DIR "/tests/topology";

TEST(DoctorCommand, PrintsTheTableOfARunAndDrawsItsTimeline) {
  const base::TestFolder folder;
  base::reports::TimeTable table{10, {{"input", 4, 90, 100, "samples/s", false}, {"compute", 6}}};
  table.intervals = {{0, 10, 5, {{"input", 4}, {"compute", 6}}}};
  (void)folder.write("time_table.json", to_json(table));
  const Output run =
      shell(fmt::format("GOBAN doctor run {0} --html {0}/page.html 2>&1", folder.path()));
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.out, to_text(table));
  EXPECT_THAT(run.out, HasSubstr("bottleneck: input (40.0 %)"));
  EXPECT_THAT(base::TestFolder::read(folder / "page.html"), HasSubstr("to step 5: compute 6 s"));
  EXPECT_EQ(shell(fmt::format("GOBAN doctor run {} --json", folder.path())).out, to_json(table));
  const Output absent = shell("GOBAN doctor run /nowhere 2>&1");
  EXPECT_EQ(absent.code, 1);
  EXPECT_THAT(absent.out, HasSubstr("give the folder that the run had as --out"));
  (void)folder.write("time_table.json", std::string((size_t{64} << 20) + 1, ' '));
  const Output large = shell(fmt::format("GOBAN doctor run {} 2>&1", folder.path()));
  EXPECT_EQ(large.code, 1);
  EXPECT_THAT(large.out, HasSubstr("larger than 67108864 bytes"));
  EXPECT_THAT(large.out, HasSubstr("goban-train writes at most some megabytes"));
  (void)folder.write("time_table.json", "{}");
  EXPECT_EQ(shell(fmt::format("GOBAN doctor run {} 2>&1", folder.path())).code, 3);
}

TEST(DoctorCommand, DrawsAMachineFromItsFilesAndExportsNcclsEnvironment) {
  const Output drawn =
      shell(fmt::format("GOBAN doctor topology --from {}/hgx_h100 2>&1", kMachines));
  EXPECT_EQ(drawn.code, 0);
  EXPECT_THAT(drawn.out, HasSubstr("NVLink island: GPU0"));
  const Output exported = shell(fmt::format(
      "NCCL_SOCKET_IFNAME=mine GOBAN doctor nccl --from {}/hgx_h100 --export 2>&1", kMachines));
  EXPECT_EQ(exported.out,
            "export NCCL_IB_HCA==mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_4:1,mlx5_5:1,mlx5_6:1,mlx5_7:1,"
            "mlx5_8:1\nexport NCCL_IB_GID_INDEX=3\n");
  const base::TestFolder folder;
  std::filesystem::copy(std::string(kMachines) + "/pcie_box/hwloc.xml", folder / "hwloc.xml");
  (void)folder.write("sysfs.txt", "\x01\x02 rubbish\n");
  const Output refused = shell(fmt::format("GOBAN doctor topology --from {} 2>&1", folder.path()));
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.out, HasSubstr(folder.path() + "/sysfs.txt:1: is not a line"));
  std::filesystem::remove(folder / "sysfs.txt");
  const Output part = shell(fmt::format("GOBAN doctor topology --from {} 2>&1", folder.path()));
  EXPECT_EQ(part.code, 0);
  EXPECT_THAT(part.out, HasSubstr("no smi-topo.txt, smi-gpus.csv, sysfs.txt: what"));
  (void)folder.write("hwloc.xml", "<topology");
  const Output damaged = shell(fmt::format("GOBAN doctor topology --from {} 2>&1", folder.path()));
  EXPECT_EQ(damaged.code, 3);
  EXPECT_THAT(damaged.out, HasSubstr(folder.path() + "/hwloc.xml: is not a topology"));
}

TEST(DoctorCommand, TheExitCodeSaysWhetherNcclMissesSomething) {
  const auto verify = [](const char* log) {
    return shell(fmt::format("GOBAN doctor nccl --verify {0}/logs/{1} --from {0}/dgx_a100 2>&1",
                             kMachines, log));
  };
  EXPECT_EQ(verify("good.log").code, 0);
  EXPECT_EQ(verify("container.log").code, 1);
  EXPECT_THAT(verify("container.log").out, HasSubstr("NVLink: not used"));
  EXPECT_EQ(verify("../dgx_a100/smi-gpus.csv").code, 3);
}

}  // namespace
}  // namespace goban::cli
