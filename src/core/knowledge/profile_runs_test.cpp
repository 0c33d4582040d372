#include "core/knowledge/profile_runs.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_data.hpp"
#include "base/text_file.hpp"

namespace goban::core::knowledge {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

std::string error_of(std::string_view text) {
  const auto profile = parse_profile_runs(text, "p.csv");
  return profile ? "no error" : profile.error().text();
}

TEST(ProfileRuns, GroupsRunsByGpuAndNormalisesByTheMedianRow) {
  const auto profile = parse_profile_runs("exp,perf,uuid\nx,4,b\nx,2,a\nx,8,b\nx,4,a\n", "p.csv");
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->median_perf, 4);
  EXPECT_THAT(profile->uuids, ElementsAre("b", "a"));
  EXPECT_THAT(profile->runs, ElementsAre(ElementsAre(1, 2), ElementsAre(0.5, 1)));
  EXPECT_THAT(median_scores(*profile), ElementsAre(1.5, 0.75));
}

TEST(ProfileRuns, RefusesBadRowsWithTheirPlace) {
  EXPECT_THAT(error_of(""), StartsWith("p.csv: the file is empty"));
  EXPECT_THAT(error_of("uuid,time\na,1\n"), StartsWith("p.csv:1: perf: missing column"));
  EXPECT_THAT(error_of("uuid,perf\n"), StartsWith("p.csv: contains no runs"));
  EXPECT_THAT(error_of("uuid,perf\na,1\n,1\n"), StartsWith("p.csv:3:1: uuid: is empty"));
  for (const char* bad : {"0", "-1", "nan", "", "1s", "1e31"}) {
    EXPECT_THAT(error_of(std::string("uuid,perf\na,1\nb,") + bad + "\n"),
                StartsWith("p.csv:3:3: perf: '"))
        << bad;
  }
  EXPECT_THAT(error_of("uuid,perf\na,1\na,1\nb,1e9\n"),
              StartsWith("p.csv:4:3: perf: 1000000000 is 1000000000 times"));
}

struct Facts {
  const char* file;
  size_t num_gpus;
  size_t num_runs;
  double run_max;
  double median_max;
};

std::ostream& operator<<(std::ostream& out, const Facts& facts) { return out << facts.file; }

class ProfileFiles : public testing::TestWithParam<Facts> {};

TEST_P(ProfileFiles, HaveTheKnownExtremes) {
  const auto path = base::test_data(std::string("pal/profiles/") + GetParam().file);
  if (!path) GTEST_SKIP() << path.error().text();
  const auto profile = parse_profile_runs(base::read_text_file(*path).value(), *path);
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->num_gpus(), GetParam().num_gpus);
  size_t num_runs = 0;
  double run_max = 0;
  for (const std::vector<double>& runs : profile->runs) {
    num_runs += runs.size();
    run_max = std::max(run_max, std::ranges::max(runs));
  }
  EXPECT_EQ(num_runs, GetParam().num_runs);
  EXPECT_NEAR(run_max, GetParam().run_max, 0.005);
  EXPECT_NEAR(std::ranges::max(median_scores(*profile)), GetParam().median_max, 0.0005);
}

INSTANTIATE_TEST_SUITE_P(
    Shared, ProfileFiles,
    testing::Values(Facts{"sim/resnet-longhorn-agg.csv", 336, 1404, 3.57, 1.123},
                    Facts{"sim/bert-longhorn-agg.csv", 136, 1096, 1.295, 1.039},
                    Facts{"sim/sgemm-longhorn-agg.csv.gz", 392, 11087, 1.212, 1.2007},
                    Facts{"frontera/frontera-pagerank-agg.csv", 248, 1240, 1.0014, 1.0009}),
    [](const auto& facts) {
      std::string name = facts.param.file;
      std::ranges::replace_if(name, [](char c) { return c == '/' || c == '-' || c == '.'; }, '_');
      return name;
    });

}  // namespace
}  // namespace goban::core::knowledge
