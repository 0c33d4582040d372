// Files of metrics imported into a series store, and the contents of the store.
#include "site/telemetry/series_import.hpp"

#include <gmock/gmock.h>

#include "base/test_folder.hpp"
#include "site/series/holdings.hpp"
#include "site/series/samples_csv.hpp"

namespace goban::site::telemetry {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

constexpr const char* kSmi =
    "timestamp, index, uuid, utilization.gpu [%], power.draw [W]\n"
    "2019/04/05 00:00:30.000, 0, GPU-1, 35 %, 60.50 W\n"
    "2019/04/05 00:00:30.000, 1, GPU-2, [N/A], 61 W\n"
    "2019/04/05 00:01:30.000, 0, GPU-1, 0 %, 60.50 W\n"
    "garbage\n";

struct SeriesImportTest : testing::Test {
  SeriesImportTest() {
    request.store = folder / "store";
    request.files = {folder.write("g0001.csv", kSmi)};
    request.reading.node_from_file = true;
  }
  SeriesImportReport import() {
    auto report = import_series(request, progress);
    EXPECT_TRUE(report) << report.error().text();
    return report ? std::move(*report) : SeriesImportReport();
  }

  base::TestFolder folder{"import"};
  SeriesImportRequest request;
  base::Progress progress;
};

TEST_F(SeriesImportTest, RepeatingChangesNothing) {
  request.rejects = folder / "rejects.csv";
  const SeriesImportReport first = import();
  EXPECT_EQ(first.input.samples, 6U);
  EXPECT_EQ(first.input.not_available, 1U);
  EXPECT_EQ(first.written.written, 6U);
  EXPECT_EQ(first.input.rejected_lines(), 1U);
  EXPECT_THAT(first.reject_examples, ElementsAre(HasSubstr("g0001.csv:5: ")));
  EXPECT_THAT(base::TestFolder::read(request.rejects), EndsWith(",garbage\n"));
  const SeriesImportReport again = import();
  EXPECT_EQ(again.written.written, 0U);
  EXPECT_EQ(again.written.already_there, 6U);
}

TEST_F(SeriesImportTest, TheStoreHoldsAndShowsIt) {
  import();
  const auto holdings = series::store_holdings(request.store);
  ASSERT_TRUE(holdings) << holdings.error().text();
  ASSERT_EQ(holdings->size(), 2U);
  const series::Holding& use = holdings->front();
  EXPECT_EQ(use.metric->name, "gpu_utilization");
  EXPECT_EQ(use.devices, 2U);
  EXPECT_EQ(use.nodes, 1U);
  EXPECT_EQ(use.values, 2U);
  EXPECT_EQ(use.not_available, 1U);
  EXPECT_EQ(use.damaged_blocks, 0U);
  EXPECT_GT(use.bytes_per_sample(), 0);
  std::string csv;
  const auto damaged = series::write_samples_csv(request.store, {.device = "0"}, progress,
                                                 [&csv](std::string_view text) { csv += text; });
  ASSERT_TRUE(damaged) << damaged.error().text();
  EXPECT_THAT(*damaged, ElementsAre());
  EXPECT_EQ(csv,
            "node,device,uuid,time_s,gpu_utilization\n"
            "g0001,0,GPU-1,1554422430,35\n"
            "g0001,0,GPU-1,1554422490,0\n");
  EXPECT_FALSE(series::write_samples_csv(request.store, {.node = "g0002"}, progress,
                                         [](std::string_view) {}));
}

TEST_F(SeriesImportTest, OnlyTheTimeAskedFor) {
  request.from_ms = 1'554'422'460'000;
  const SeriesImportReport report = import();
  EXPECT_EQ(report.written.written, 2U);
  EXPECT_EQ(report.input.outside, 4U);
}

TEST_F(SeriesImportTest, RefusesWhatSaysTooLittle) {
  request.server.emplace().url = "http://127.0.0.1:9";
  const auto timeless = import_series(request, progress);
  ASSERT_FALSE(timeless);
  EXPECT_THAT(timeless.error().text(), HasSubstr("--prometheus requires a period"));
  request.server.reset();
  request.files.clear();
  EXPECT_FALSE(import_series(request, progress));
}

TEST_F(SeriesImportTest, KeepsWhatWasReadWhenCancelled) {
  const std::atomic<bool> cancel = true;
  base::Progress cancelled(cancel);
  const auto report = import_series(request, cancelled);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_TRUE(report->was_cancelled);
}

}  // namespace
}  // namespace goban::site::telemetry
