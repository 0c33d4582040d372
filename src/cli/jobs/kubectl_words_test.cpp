#include "cli/jobs/kubectl_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goban::cli {
namespace {

using testing::HasSubstr;

TEST(KubectlWords, ATerminalWithGpusIsOneCommand) {
  SubmitPayload payload{.job_name = "Train_1.py", .arguments = {"python", "it's", "a b"}};
  payload.interactive = true;
  EXPECT_EQ(kubectl_command(payload, 2),
            "kubectl run train-1-py --stdin --tty --rm --restart=Never --image=IMAGE "
            "--override-type=strategic --overrides='{\"spec\":{\"containers\":[{\"name\":"
            "\"train-1-py\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":2}}}],"
            "\"schedulerName\":\"goban\"}}' --command -- python 'it'\\''s' 'a b'");
  payload.interactive = false;
  EXPECT_THAT(kubectl_command(payload, 0), HasSubstr("--attach --rm"));
  EXPECT_THAT(kubectl_command(payload, 0), HasSubstr("'{\"spec\":{\"schedulerName\":\"goban\"}}'"));
  payload.job_name = "--";
  EXPECT_THAT(kubectl_command(payload, 0), HasSubstr("kubectl run run "));
}

TEST(KubectlWords, OnlyTheRefusalOfSuchASiteIsAnswered) {
  const base::Error refusal{base::ErrorCode::Failed, "jobs of this cluster ...", {}, "use kubectl"};
  EXPECT_TRUE(is_for_kubectl(refusal));
  EXPECT_FALSE(is_for_kubectl({base::ErrorCode::Failed, "x", {}, "use sbatch"}));
  EXPECT_THAT(with_kubectl(refusal, {.job_name = "sh", .arguments = {"sh"}}, 1).text(),
              HasSubstr("kubectl run sh "));
}

}  // namespace
}  // namespace goban::cli
