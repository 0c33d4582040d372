// `--gpu SOURCE...`: stores, files and servers as one store.
#include "site/telemetry/gpu_source.hpp"

#include <gmock/gmock.h>

#include "base/test_folder.hpp"

namespace goban::site::telemetry {
namespace {

using series::Metric;
using testing::HasSubstr;

constexpr const char* kSmi =
    "timestamp, index, hostname, utilization.gpu [%]\n"
    "2019/04/05 00:00:30, 0, n1, 35 %\n"
    "broken\n";

TEST(GpuSources, StoresAndFilesTogetherAndNothingStaysBehind) {
  const base::TestFolder folder("source");
  const std::string csv = folder.write("a.csv", kSmi);
  const std::string store = folder / "store";
  {
    const auto writer = series::StoreWriter::open(store, {60'000, false});
    ASSERT_TRUE(writer);
    ASSERT_TRUE((*writer)->add({"n2", "1", ""}, Metric::GpuUtilization, 1'554'422'430'000,
                               {series::State::Value, 7}));
    ASSERT_TRUE((*writer)->finish());
  }
  std::string temporary;
  {
    const auto sources = GpuSources::open(std::vector{store, csv}, {});
    ASSERT_TRUE(sources) << sources.error().text();
    const auto reader = sources->reader(Metric::GpuUtilization);
    ASSERT_TRUE(reader);
    EXPECT_EQ(reader->find({"n1", "0", ""}).size(), 1U);
    EXPECT_EQ(reader->find({"n2", "1", ""}).size(), 1U);
    EXPECT_EQ(sources->report().input.rejected_lines(), 1U);
    EXPECT_EQ(sources->report().written.written, 1U);
    const auto power = sources->reader(Metric::GpuPower);
    ASSERT_TRUE(power);
    EXPECT_TRUE(power->tracks().empty());
    temporary = sources->stores().back();
    EXPECT_TRUE(std::filesystem::exists(temporary));
  }
  EXPECT_FALSE(std::filesystem::exists(temporary));
  EXPECT_TRUE(std::filesystem::exists(store));
}

TEST(GpuSources, Refusals) {
  const auto absent = GpuSources::open(std::vector<std::string>{"/nonexistent/x"}, {});
  ASSERT_FALSE(absent);
  const auto timeless = GpuSources::open(std::vector<std::string>{"http://127.0.0.1:1"}, {});
  ASSERT_FALSE(timeless);
  EXPECT_THAT(timeless.error().text(), HasSubstr("a server requires a period"));
}

}  // namespace
}  // namespace goban::site::telemetry
