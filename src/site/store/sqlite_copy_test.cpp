#include "site/store/sqlite_copy.hpp"

#include <gtest/gtest.h>

#include "base/test_folder.hpp"
#include "site/store/test_stores.hpp"

namespace goban::site::store {
namespace {

TEST(SqliteCopy, IsTheStoreAsOfThen) {
  const base::TestFolder folder;
  const std::string path = folder.path() + "/jobs.sqlite";
  const std::string copy = folder.path() + "/copy.sqlite";
  JobStore jobs = open_store(path);
  import_text(jobs, many_jobs(300, 1));
  const std::string before = export_of(jobs);
  // The store stays open and is used afterwards.
  ASSERT_TRUE(copy_sqlite(path, copy));
  import_text(jobs, many_jobs(400, 2));
  JobStore copied = open_store(copy);
  EXPECT_EQ(export_of(copied), before);
  EXPECT_NE(export_of(jobs), before);
}

TEST(SqliteCopy, SaysWhatItCannotCopy) {
  const base::TestFolder folder;
  const std::string copy = folder.path() + "/copy.sqlite";
  const auto missing = copy_sqlite(folder.path() + "/nothing", copy);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().text().find("/nothing"), std::string::npos);
  write_file(folder.path() + "/text", std::string(5'000, 'x'));
  EXPECT_FALSE(copy_sqlite(folder.path() + "/text", copy));
}

}  // namespace
}  // namespace goban::site::store
