#include "live/engine/slurm/typed_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goban::live::engine::slurm {
namespace {

using testing::ElementsAre;

TEST(TypedCheck, JobsAndLimitsThatNameAType) {
  const std::vector<JobWords> waiting = {
      {.job = 5, .user = "ann", .tres_per_node = "gres:gpu:a100:2"},
      {.job = 6, .user = "ann", .tres_per_node = "gres:gpu:2"},
      {.job = 7, .user = "bob", .tres_per_job = "gpu:g1:1,gres:gpu:v100"},
      {.job = 8, .user = "bob", .tres_per_node = "gres:nic:a100:1"}};
  const char* limits =
      "Association Records\n"
      "ClusterName=lab Account=lab1 UserName=ann(7) Partition= GrpTRES=cpu=N(2),gres/gpu=3(2),"
      "gres/gpu:a100=2(0),gres/gpu:v100=N(0) MaxTRESPJ=gres/gpu:a100=1\n"
      "QOS=small(2) GrpTRES=gres/gpu:a100=N(1) Account Limits= "
      "lab1={MaxTRESPA=gres/gpu:v100=4(0)}\n";
  const std::vector<std::string> index_types = {"g0", "g1"};
  EXPECT_THAT(broken_by_types(waiting, limits, index_types),
              ElementsAre("job 5 of ann requests GPUs of type \"a100\"",
                          "job 7 of bob requests GPUs of type \"v100\"",
                          "limit GrpTRES gres/gpu:a100 of Account=lab1 UserName=ann(7)",
                          "limit MaxTRESPJ gres/gpu:a100 of Account=lab1 UserName=ann(7)",
                          "limit MaxTRESPA gres/gpu:v100 of QOS=small(2)"));
  EXPECT_TRUE(broken_by_types({}, "", {}).empty());
}

}  // namespace
}  // namespace goban::live::engine::slurm
