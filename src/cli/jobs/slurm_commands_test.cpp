#include "cli/jobs/slurm_commands.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/jobs/job_choice.hpp"
#include "cli/jobs/slurm_allocation.hpp"

namespace goban::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SlurmCommands, OptionsOfOursAreThoseOfSbatch) {
  std::vector<std::string> ignored;
  const auto words = sbatch_options({{"--gpus", "h200:8"},
                                     {"--nodes", "2"},
                                     {"--time", "90m"},
                                     {"--name", "bert"},
                                     {"--signal", "USR1@2m"},
                                     {"--epochs", "90"},
                                     {"--hold", ""}},
                                    ignored);
  ASSERT_TRUE(words) << words.error().text();
  EXPECT_THAT(*words, ElementsAre("--gres=gpu:h200:4", "--nodes=2", "--time=1:30:00",
                                  "--job-name=bert", "--signal=USR1@120", "--hold"));
  EXPECT_THAT(ignored, ElementsAre("--epochs"));
  EXPECT_THAT(sbatch_options({{"--time", "60"}}, ignored).value(), ElementsAre("--time=60"))
      << "minutes, as for sbatch";
}

TEST(SlurmCommands, WhatIsStagedIsAComment) {
  std::vector<std::string> ignored;
  const auto words = sbatch_options({{"--stage-in", "/lustre/a"},
                                     {"--stage-in", "/lustre/b"},
                                     {"--stage-out", "model:/lustre/./out"},
                                     {"--stage-out-on", "always"}},
                                    ignored);
  ASSERT_TRUE(words) << words.error().text();
  EXPECT_THAT(*words, ElementsAre("--comment=goban:stage-in=/lustre/a;stage-in=/lustre/b;"
                                  "stage-out=model:/lustre/out;stage-out-on=always"));
  EXPECT_THAT(ignored, testing::IsEmpty());
  EXPECT_THAT(sbatch_options({{"--model", "bert"}, {"--gpu-mem", "20G"}}, ignored).value(),
              ElementsAre("--comment=goban:model=bert;gpu-memory=20G"));
  EXPECT_THAT(ignored, testing::IsEmpty());
  EXPECT_FALSE(sbatch_options({{"--model", "a;b"}}, ignored));
  EXPECT_FALSE(sbatch_options({{"--stage-in", "/a;b"}}, ignored));
  EXPECT_FALSE(sbatch_options({{"--stage-in", "/a"}, {"--comment", "mine"}}, ignored));
  EXPECT_FALSE(sbatch_options({{"--stage-out", "model"}}, ignored));
}

TEST(SlurmCommands, ACommandRunsInAnAllocation) {
  std::vector<std::string> ignored;
  SubmitPayload payload{.job_name = "mpirun",
                        .arguments = {"mpirun", "-n", "8", "a b"},
                        .options = {{"--no-requeue", ""},
                                    {"--gpus", "8"},
                                    {"--nodes", "2"},
                                    {"--output", "out"},
                                    {"--requeue", ""}}};
  EXPECT_THAT(
      salloc_words(payload, ignored).value(),
      ElementsAre("salloc", "--job-name=mpirun", "--gres=gpu:4", "--nodes=2", "srun",
                  "--interactive", "--preserve-env", "--output=out", "mpirun", "-n", "8", "a b"));
  EXPECT_THAT(ignored, ElementsAre("--requeue"));
  payload.interactive = true;
  payload.options = {{"--name", "mine"}};
  payload.arguments = {"bash"};
  EXPECT_THAT(salloc_words(payload, ignored).value(),
              ElementsAre("salloc", "--job-name=mine", "srun", "--interactive", "--preserve-env",
                          "--pty", "bash"));
  payload.options = {{"--stage-in", "/lustre/a"}};
  EXPECT_FALSE(salloc_words(payload, ignored));
  EXPECT_EQ(run_by_salloc(payload, "ssh://login").code, base::ErrorCode::Usage);
}

TEST(SlurmCommands, WhatCannotBeMeantIsRefused) {
  std::vector<std::string> ignored;
  for (const auto& [choices, says] : std::vector<std::pair<SubmitChoices, std::string>>{
           {{{"--gpus", "3"}, {"--nodes", "2"}}, "cannot be equal on 2 nodes"},
           {{{"--gpus", "x"}}, "--gpus"},
           {{{"--time", "soon"}}, "--time"},
           {{{"--signal", "USR1@soon"}}, "--signal"}}) {
    const auto refused = sbatch_options(choices, ignored);
    ASSERT_FALSE(refused) << says;
    EXPECT_THAT(refused.error().text(), HasSubstr(says));
  }
  EXPECT_TRUE(is_for_scancel("8_3", "use the commands of that queue"));
  EXPECT_FALSE(is_for_scancel("default/job", "use the commands of that queue"));
  EXPECT_FALSE(is_for_scancel("", "use the commands of that queue"));
}

TEST(SlurmCommands, AnArrayOfTheClusterIsAllItsTasks) {
  std::vector<JobRow> rows(4);
  uint32_t number = 20;
  const char* const ids[] = {"14_0", "14_11", "141_0", "14"};
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].job = ++number;
    rows[i].engine_id = ids[i];
  }
  const auto chosen = [](const std::vector<JobRow>& jobs, const std::string& name) {
    std::vector<std::string> out;
    const ChosenJobs found = choose_jobs(jobs, {.names = {name}}).value();
    for (const JobRow& row : found.jobs) {
      out.push_back(row.engine_id);
    }
    return out;
  };
  EXPECT_EQ(chosen({rows[0], rows[1], rows[2]}, "@14"),
            (std::vector<std::string>{"14_0", "14_11"}));
  EXPECT_EQ(chosen({rows[0], rows[1]}, "@14_1"), std::vector<std::string>{});
  EXPECT_EQ(chosen({rows[1], rows[2]}, "@14_11"), std::vector<std::string>{"14_11"});
}

}  // namespace
}  // namespace goban::cli
