// What readers of tars take for nothing, found by `data check`.
#include "train/data/tar_headers.hpp"

#include <gmock/gmock.h>

#include "base/test_folder.hpp"
#include "train/data/check_shards.hpp"
#include "train/data/tar_writer.hpp"
#include "train/data/test_tars.hpp"

namespace goban::train::data {
namespace {

using ::testing::HasSubstr;

const std::string kEnd(1024, '\0');

ShardFindings findings(const std::string& bytes) {
  const base::TestFolder folder;
  return check_shards({"", {{folder.write("a.tar", bytes + kEnd), 1, 0, ""}}});
}

std::string error_of(const std::string& bytes) {
  const ShardFindings found = findings(bytes);
  return found.errors.empty() ? std::string() : found.errors[0].text();
}

TEST(TarHeaders, NamesThatAreCutAtANulAreFound) {
  const std::string one = tar_member("a.x", "1");
  EXPECT_EQ(error_of(one), "");
  std::string record = "19 path=" + std::string("a\0b.x", 5) + std::string(3, 'y') + "\n";
  record.replace(0, 2, std::to_string(record.size()));
  for (const std::string& bytes :
       {with_field(tar_member("p.x", record), 156, "x") + one,
        with_field(tar_member("L.x", std::string("a\0b.x\0", 6)), 156, "L") + one,
        with_field(one, 50, "behind")}) {
    EXPECT_THAT(error_of(bytes), HasSubstr("the name of the member at byte 0 has a NUL"));
  }
}

TEST(TarHeaders, WhatCannotBeReadIsNotTakenForNothing) {
  EXPECT_THAT(error_of(tar_member("a.x", "1") + with_field(tar_member("a.y", ""), 124, "zzzz")),
              HasSubstr("the member at byte 1024 has a size that is not a number"));
  EXPECT_THAT(
      error_of(with_field(tar_member("p.x", "99 path=b.x\n"), 156, "x") + tar_member("a.x", "1")),
      HasSubstr("the member at byte 0 has an extended header with a wrong length"));
}

TEST(TarHeaders, LinksAreNamed) {
  const std::string link = with_field(tar_member("b.x", ""), 156, "1");
  const ShardFindings found = findings(tar_member("a.x", "1") + link);
  EXPECT_TRUE(found.errors.empty());
  ASSERT_EQ(found.warnings.size(), 1U);
  EXPECT_THAT(found.warnings[0],
              HasSubstr("passed over 1 link, as only files are samples; the first is 'b.x'"));
}

TEST(TarHeaders, LinksOfTarsBeforeUstarAreNamed) {
  constexpr size_t kMagic = 257;
  const std::string old_magic(8, '\0');
  const std::string link =
      with_field(with_field(tar_member("b.x", ""), 156, "2"), kMagic, old_magic);
  const ShardFindings found =
      findings(with_field(tar_member("a.x", "1"), kMagic, old_magic) + link);
  EXPECT_TRUE(found.errors.empty());
  ASSERT_EQ(found.warnings.size(), 1U);
  EXPECT_THAT(found.warnings[0], HasSubstr("the first is 'b.x'"));
}

TEST(TarHeaders, ARestOfAnotherVolumeIsNoShard) {
  EXPECT_THAT(error_of(with_field(tar_member("a.x", "1"), 156, "M")),
              HasSubstr("the member at byte 0 goes on from another volume"));
}

TEST(TarHeaders, BlocksOfASparseMembersMapArePassedOver) {
  std::string sparse = with_field(with_field(tar_member("s.x", "1"), 156, "S"), 482, "\1");
  std::string map(512, '\0');
  map[504] = 1;
  sparse.insert(512, map + std::string(512, '\0'));
  const std::string bytes = sparse + with_field(tar_member("a.y", ""), 124, "zzzz");
  base::MemorySource source(bytes);
  const auto found = check_tar_headers(source, "a.tar");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().text(), HasSubstr("the member at byte 2048 has a size"));
}

}  // namespace
}  // namespace goban::train::data
