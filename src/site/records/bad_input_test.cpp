// Inputs that are corrupt or contradict themselves: a clear message or listed rejections, in all
// formats.
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <random>

#include "base/gzip.hpp"
#include "site/records/overlap_check.hpp"
#include "site/records/record_format.hpp"
#include "site/records/test_reading.hpp"

namespace goban::site::records {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kSacct =
    "JobID|User|Submit|Start|End|State|AllocTRES|NodeList\n"
    "1|ann|2024-01-01T00:00:00|2024-01-01T00:00:01|2024-01-01T01:00:00|COMPLETED|gres/gpu=1|g1\n"
    "2|bob|2024-01-01T00:00:00|2024-01-01T00:00:01|2024-01-01T01:00:00|FAILED|gres/gpu=2|g1\n";

std::string random_bytes(uint32_t seed, size_t count) {
  std::mt19937 random(seed);
  std::string out;
  for (size_t i = 0; i < count; ++i) out += static_cast<char>(random() % 256);
  return out;
}

TEST(BadInput, GzipCutAnywhereIsNamed) {
  const std::string packed = base::gzip(kSacct);
  const auto path = std::filesystem::path(testing::TempDir()) / "goban_bad_input.gz";
  for (size_t bytes = 2; bytes < packed.size(); ++bytes) {
    std::ofstream(path, std::ios::binary) << packed.substr(0, bytes);
    RecordTable table;
    const auto read = read_records(path.string(), {}, table);
    ASSERT_FALSE(read) << bytes;
    EXPECT_EQ(read.error().code, base::ErrorCode::BadData);
    EXPECT_THAT(read.error().text(), HasSubstr("gzip")) << bytes;
  }
  std::filesystem::remove(path);
}

TEST(BadInput, GarbageIsOfNoFormat) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const std::string error = read_error(random_bytes(seed, 4000));
    EXPECT_THAT(error, AnyOf(HasSubstr("no job format matches"), HasSubstr("the header line"),
                             HasSubstr("JSON")))
        << seed;
  }
}

TEST(BadInput, GarbageOfANamedFormatGivesNoJob) {
  for (const RecordFormat& format : record_formats()) {
    if (format.layout == Layout::Folder) continue;
    for (uint32_t seed = 0; seed < 20; ++seed) {
      ReadOptions options;
      options.format = format.name;
      RecordTable table;
      const std::string bytes = random_bytes(seed, 4000);
      base::MemorySource source(bytes);
      const auto read = read_records(source, "jobs", options, table);
      EXPECT_THAT(table.rows(), IsEmpty()) << format.name << seed;
      EXPECT_TRUE(!read || read->rejected > 0) << format.name << seed;
    }
  }
}

TEST(BadInput, GarbageBehindGoodLinesIsListed) {
  std::string text(kSacct);
  text += "\x01\x02\xff garbage\n";
  text += kSacct.substr(kSacct.find("2|"));
  const ReadTable read = read_table(text);
  EXPECT_THAT(read.ids(), ElementsAre("1", "2"));
  EXPECT_THAT(read.reasons(),
              ElementsAre(HasSubstr("4: "), "5: job_id 2 with this start was used before"));
}

TEST(BadInput, WrongFormatNameListsTheKnownOnes) {
  ReadOptions options;
  options.format = "slrum";
  const std::string error = read_error(kSacct, options);
  EXPECT_THAT(error, HasSubstr("unknown job format slrum"));
  for (const RecordFormat& format : record_formats()) {
    EXPECT_THAT(error, HasSubstr(std::string(format.name)));
  }
  options.format = "swf";  // a known format, but not that of the input
  EXPECT_EQ(read_table(kSacct, options).summary.rejected, 3);
}

TEST(BadInput, ClockStepsAreListedNotGuessed) {
  ReadOptions options;
  options.site.zone = "America/New_York";
  const ReadTable read = read_table(
      "JobID|Submit|Start|End|State|AllocTRES\n"
      "1|2024-03-10T01:00:00|2024-03-10T02:30:00|2024-03-10T04:00:00|COMPLETED|gres/gpu=1\n"
      "2|2024-03-10T01:00:00|2024-03-10T03:00:00|2024-03-10T02:59:59|COMPLETED|gres/gpu=1\n"
      "3|2024-03-10T05:00:00|2024-03-10T04:00:00|2024-03-10T06:00:00|COMPLETED|gres/gpu=1\n",
      options);
  EXPECT_THAT(read.reasons(),
              ElementsAre(HasSubstr("2: Start \"2024-03-10T02:30:00\" does not exist in time zone"),
                          HasSubstr("3: End \"2024-03-10T02:59:59\" does not exist in time zone"),
                          "4: the job started before it was submitted"));
}

TEST(BadInput, OneExclusiveGpuForTwoJobsIsCountedAndListed) {
  const ReadTable read = read_table(
      "job_id,state,submit_unix_s,start_unix_s,end_unix_s,gpus\n"
      "a,COMPLETED,1000,1000,1100,g1|0;g1|1\n"
      "b,COMPLETED,1000,1040,1200,g1|1\n"
      "c,COMPLETED,1000,1100,1300,g1|0\n"  // starts when a ends
      "d,COMPLETED,1000,1150,1160,g1|1\n"  // within b
      "e,COMPLETED,1000,1170,1180,g1|1\n"  // within b, after d
      "f,COMPLETED,1000,1000,2000,g2|1\n"  // another node
      "g,COMPLETED,1000,1000,2000,\n");    // unknown
  ASSERT_EQ(read.summary.rejected, 0) << read.reasons()[0];
  const GpuOverlaps found = find_gpu_overlaps(read.table);
  EXPECT_EQ(found.count, 3);
  std::vector<std::string> texts;
  for (const GpuOverlap& each : found.first) texts.push_back(overlap_text(read.table, each));
  EXPECT_THAT(texts, ElementsAre("jobs a and b held GPU 1 of g1 at the same time, for 60 s",
                                 "jobs b and d held GPU 1 of g1 at the same time, for 10 s",
                                 "jobs b and e held GPU 1 of g1 at the same time, for 10 s"));
}

TEST(BadInput, SharedGpusDoNotOverlap) {
  const ReadTable read = read_table(
      "job_id,state,submit_unix_s,start_unix_s,end_unix_s,gpu_share,gpus\n"
      "a,COMPLETED,1000,1000,1100,1,g1|0\n"
      "b,COMPLETED,1000,1040,1200,1,g1|0\n");
  ASSERT_EQ(read.table.rows().size(), 2U);
  EXPECT_EQ(find_gpu_overlaps(read.table).count, 0);
}

}  // namespace
}  // namespace goban::site::records
