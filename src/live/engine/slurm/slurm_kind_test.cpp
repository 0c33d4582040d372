#include "live/engine/slurm/slurm_kind.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goban::live::engine::slurm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
/// What [slurm] with these lines says, and the first problem.
std::pair<SlurmChoice, std::string> read(const std::string& lines) {
  const auto document = base::parse_config(lines, "goban.toml").value();
  base::ConfigProblems problems("goban.toml");
  base::TableReader table(document, "slurm", problems);
  SlurmChoice choice = read_slurm(table);
  table.finish();
  const base::Status status = problems.status();
  return {choice, status ? "" : status.error().text()};
}

TEST(SlurmKind, Options) {
  const auto [all, no_problem] = read("mode = 'all'\nindices = 'types'\npoll = '2.5s'\n");
  ASSERT_EQ(no_problem, "");
  EXPECT_TRUE(all.options.rules.partitions.empty());
  EXPECT_EQ(all.options.rules.indices, Indices::Types);
  EXPECT_EQ(all.options.rhythm.poll_s, 2.5);
  EXPECT_EQ(all.options.rhythm.rest_s, 12.5);
  EXPECT_FALSE(all.any_version);
  const auto [some, none] = read("mode = 'partitions'\npartitions = ['gpu', 'a100']\n");
  EXPECT_EQ(none, "");
  EXPECT_THAT(some.options.rules.partitions, ElementsAre("gpu", "a100"));
  EXPECT_FALSE(some.options.rules.observe);
  EXPECT_EQ(some.options.rhythm.poll_s, 1);
  EXPECT_EQ(read("mode = 'all'\nrest = '1s'\n").first.options.rhythm.rest_s, 1);
  EXPECT_TRUE(read("mode = 'observe'\nversion = 'any'\n").first.options.rules.observe);
  EXPECT_TRUE(read("mode = 'observe'\nversion = 'any'\n").first.any_version);
  EXPECT_FALSE(read("mode = 'all'\n").first.options.sleep) << "off by default";
  EXPECT_TRUE(read("mode = 'all'\nsleep = 'yes'\n").first.options.sleep);
}

TEST(SlurmKind, RefusesWhatItDoesNotKnow) {
  const auto error = [](const std::string& lines) { return read(lines).second; };
  EXPECT_THAT(error(""), HasSubstr("mode"));
  EXPECT_THAT(error("mode = 'some'"), HasSubstr("goban.toml:1:8: slurm.mode"));
  EXPECT_THAT(error("mode = 'partitions'"), HasSubstr("slurm.partitions"));
  EXPECT_THAT(error("mode = 'all'\npartitions = 'gpu'"), HasSubstr("slurm.partitions"));
  EXPECT_THAT(error("mode = 'all'\npoll = 0"), HasSubstr("slurm.poll"));
  EXPECT_THAT(error("mode = 'all'\npoll = '2m'"), HasSubstr("slurm.poll"));
  EXPECT_THAT(error("mode = 'all'\npoll = '2s'\nrest = '1s'"), HasSubstr("slurm.rest"));
  EXPECT_THAT(error("mode = 'all'\nindices = 'x'"), HasSubstr("slurm.indices"));
  EXPECT_THAT(error("mode = 'observe'\nsleep = 'yes'"), HasSubstr("slurm.sleep"));
  EXPECT_THAT(error("mode = 'all'\nversion = '24'"), HasSubstr("slurm.version"));
  EXPECT_THAT(error("mode = 'all'\nshell = 'sh'"), HasSubstr("shell"));
}

TEST(SlurmKind, NodesSleepOnlyIfSlurmCanWakeThem) {
  const auto problem = [](const std::string& config) {
    const base::Status status = check_power_programs(config);
    return status ? "" : status.error().text();
  };
  EXPECT_EQ(problem("ResumeProgram = /sbin/up\nSuspendProgram  = /sbin/down\n"
                    "SuspendTime   = 31536000 sec\n"),
            "");
  EXPECT_THAT(problem("ResumeProgram = (null)\nSuspendProgram = (null)\n"),
              HasSubstr("no SuspendProgram"));
  EXPECT_THAT(problem("ResumeProgram = (null)\nSuspendProgram = /sbin/down\n"),
              HasSubstr("no ResumeProgram"));
  EXPECT_THAT(problem("ResumeProgram = /up\nSuspendProgram = /down\nSuspendTime = INFINITE\n"),
              HasSubstr("no SuspendTime"));
}

TEST(SlurmKind, OnlyVersionsThatWereTried) {
  EXPECT_TRUE(check_version("slurm-wlm 22.05.8\n", false));
  EXPECT_TRUE(check_version("slurm-wlm 24.11.5\n", false));
  EXPECT_TRUE(check_version("slurm-wlm 20.11.4\n", false));
  EXPECT_THAT(check_version("slurm 25.05.1\n", false).error().text(),
              HasSubstr("slurm 25.05.1 was not tried with Goban"));
  EXPECT_THAT(check_version("slurm 25.05.1\n", false).error().remedy,
              HasSubstr("tried: 20.11, 22.05, 24.11;"));
  EXPECT_FALSE(check_version("", false));
  EXPECT_FALSE(check_version("slurm 22.06.1", false));
  EXPECT_TRUE(check_version("slurm 25.05", true));
}

}  // namespace
}  // namespace goban::live::engine::slurm
