#include "site/records/reject_limit.hpp"

#include <gtest/gtest.h>

namespace goban::site::records {
namespace {

ReadSummary rejected_of(int64_t rejected, int64_t records) {
  ReadSummary read;
  read.records = records;
  read.rejected = rejected;
  if (rejected > 0) read.first_rejections.push_back({4, "no end time", ""});
  return read;
}

TEST(RejectLimit, IsAShareOfTheRecords) {
  EXPECT_TRUE(check_rejects(rejected_of(0, 0), "a.csv", 0));
  EXPECT_TRUE(check_rejects(rejected_of(0, 5), "a.csv", 0));
  EXPECT_TRUE(check_rejects(rejected_of(1, 100), "a.csv", 1));
  EXPECT_FALSE(check_rejects(rejected_of(2, 100), "a.csv", 1));
  EXPECT_TRUE(check_rejects(rejected_of(3, 4), "a.csv", 75));
}

TEST(RejectLimit, SaysHowManyWereRejectedAndWhy) {
  const auto status = check_rejects(rejected_of(3, 4), "a.csv", 1);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, base::ErrorCode::BadData);
  EXPECT_EQ(status.error().message,
            "3 of 4 records were rejected (75.0 %), more than --max-rejects 1");
  EXPECT_NE(status.error().remedy.find("no end time"), std::string::npos);
}

}  // namespace
}  // namespace goban::site::records
