#include "study/results/starts_csv.hpp"

#include <gtest/gtest.h>

#include "base/text_file.hpp"

namespace goban::study::results {
namespace {

using base::kSecond;

TEST(StartsCsv, HasARowPerForecastJob) {
  core::model::JobHistory history;
  history.job_names.add("a,b");
  const std::vector<simulator::ForecastStart> starts{
      {.job = core::model::JobId(0U),
       .raw = {.made_ns = 5 * kSecond, .interval = {10 * kSecond, 20 * kSecond, base::kNever}},
       .shown = {11 * kSecond, 21 * kSecond, 31 * kSecond},
       .is_calibrated = true,
       .start_ns = 25 * kSecond}};
  const std::string path = testing::TempDir() + "starts_csv_test.csv";
  ASSERT_TRUE(write_starts_csv(path, history, starts));
  const auto text = base::read_text_file(path, 1 << 20);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text,
            "job_id,made_s,p10_s,p50_s,p90_s,raw_p10_s,raw_p50_s,raw_p90_s,calibrated,start_s\n"
            "\"a,b\",5,11,21,31,10,20,,yes,25\n");
  EXPECT_FALSE(write_starts_csv("/dev/null/starts.csv", history, starts));
}

}  // namespace
}  // namespace goban::study::results
