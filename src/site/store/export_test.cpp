// Imports a history file into a store and exports it again, as the commands do.
#include "site/store/export.hpp"

#include <gmock/gmock.h>

#include "base/test_folder.hpp"
#include "site/store/import_files.hpp"
#include "site/store/status.hpp"
#include "site/store/test_stores.hpp"

namespace goban::site::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kJobs =
    "job_id,submit_time,start_time,duration,num_gpus,user\n"
    "1,1600000000,1600000005,100,2,ann\n"
    "2,1600000010,1600000105,100,2,ben\n"
    "3,not a time,1600000205,10,2,ben\n";

struct ExportTest : testing::Test {
  ExportTest() {
    write_file(folder.path() + "/jobs.csv", kJobs);
    request.store = folder.path() + "/s.db";
    request.files = {folder.path() + "/jobs.csv"};
    request.rejects = folder.path() + "/rejects.csv";
  }
  std::vector<ImportedFile> import() {
    std::vector<ImportedFile> out;
    base::Progress progress;
    const auto status =
        import_files(request, progress, [&out](const ImportedFile& each) { out.push_back(each); });
    EXPECT_TRUE(status) << status.error().text();
    return out;
  }

  base::TestFolder folder;
  ImportRequest request;
};

TEST_F(ExportTest, FilesAreImportedOnce) {
  const auto first = import();
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].summary.written, 2);
  EXPECT_EQ(first[0].summary.read.rejected, 1);
  EXPECT_EQ(first[0].rejects, request.rejects);
  request.files.push_back(folder.path() + "/more.csv");
  write_file(request.files[1], "job_id,submit_time,duration,num_gpus,user\n4,1600000300,1,1,ann\n");
  const auto again = import();
  ASSERT_EQ(again.size(), 2U);
  EXPECT_TRUE(again[0].summary.was_imported);
  EXPECT_EQ(again[1].summary.written, 1);
  EXPECT_EQ(again[1].rejects, request.rejects + ".2") << "each of several files has its own";
}

TEST_F(ExportTest, StatusCountsWhatIsThere) {
  import();
  auto jobs = open_store(request.store);
  const auto status = store_status(jobs);
  ASSERT_TRUE(status) << status.error().text();
  ASSERT_EQ(status->years.size(), 1U);
  EXPECT_EQ(status->years[0].year, 2020);
  EXPECT_EQ(status->years[0].begin_ns, at("2020-04-01 00:00:00"));
  EXPECT_EQ(status->jobs, 2);
  EXPECT_EQ(status->not_ended, 0);
  EXPECT_EQ(status->imports, 1);
  EXPECT_EQ(status->imports_cut, 0);
  const auto check = check_store(jobs);
  ASSERT_TRUE(check) << check.error().text();
  EXPECT_EQ(check->gpu_overlaps, 0);
}

TEST_F(ExportTest, NamesAreHiddenUnlessTheyAreToBePlain) {
  import();
  auto jobs = open_store(request.store);
  const auto export_as = [&](ExportFormat format, const NameOptions& options) {
    std::string out;
    auto names = open_pseudonyms(jobs, options);
    EXPECT_TRUE(names) << names.error().text();
    const auto summary = export_jobs(jobs, {}, format, std::move(*names),
                                     [&out](std::string_view text) { out += text; });
    EXPECT_TRUE(summary) << summary.error().text();
    EXPECT_EQ(summary->written, 2);
    return out;
  };
  const std::string plain = export_as(ExportFormat::Records, {.plain = true});
  EXPECT_THAT(plain, StartsWith(records::records_csv_header()));
  EXPECT_THAT(plain, HasSubstr("ann"));
  EXPECT_THAT(export_as(ExportFormat::Records, {}), Not(HasSubstr("ann")));
  EXPECT_THAT(export_as(ExportFormat::Swf, {}), StartsWith(";"));
  write_file(folder.path() + "/salt", "short");
  EXPECT_FALSE(open_pseudonyms(jobs, {.salt_file = folder.path() + "/salt"}));
  const auto sums_as = [&](const NameOptions& options) {
    std::string out;
    auto names = open_pseudonyms(jobs, options);
    EXPECT_TRUE(
        export_sums(jobs, std::move(*names), [&out](std::string_view text) { out += text; }));
    return out;
  };
  EXPECT_EQ(sums_as({.plain = true}),
            "day,user,account,partition,resource_type,state,jobs,ran,gpu_h,node_h,wait_h\n"
            "2020-09-13,ann,,,,UNKNOWN,1,1,0.0556,0.0000,0.0014\n"
            "2020-09-13,ben,,,,UNKNOWN,1,1,0.0556,0.0000,0.0264\n");
  EXPECT_THAT(sums_as({}), Not(HasSubstr("ann")));
}

}  // namespace
}  // namespace goban::site::store
