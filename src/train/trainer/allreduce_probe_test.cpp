// The bandwidth of all-reduces, on threads with a delay that is known.
#include "train/trainer/allreduce_probe.hpp"

#include <gmock/gmock.h>

#include "train/comm/thread_world.hpp"

namespace goban::train::trainer {
namespace {

using ::testing::HasSubstr;

TEST(AllreduceProbe, ADelayOfTheTransportBoundsTheBandwidth) {
  comm::Options options;
  options.delay_s_per_byte = 1e-8;  // 100 MB/s of data; on the bus, 2 ranks send as much
  std::vector<ProbeRow> rows;
  const auto status = comm::run_threads(2, options, [&](comm::Communicator& end) -> base::Status {
    auto measured = probe_all_reduce(end, c10::kCPU, {1 << 16, 600000, 2});
    if (!measured) return base::failure(measured.error());
    if (end.rank() == 0) rows = *measured;
    return {};
  });
  ASSERT_TRUE(status) << status.error().text();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows.back().bytes, 600000) << "the size that was asked for";
  for (const ProbeRow& row : rows) {
    EXPECT_GE(row.seconds, static_cast<double>(row.bytes) * 1e-8);
    EXPECT_LE(row.bus_bytes_per_s, 1e8);
    EXPECT_DOUBLE_EQ(row.bus_bytes_per_s, row.algorithm_bytes_per_s);
  }
  const std::string text = probe_text(rows, {"the given link", 2e8}, 2);
  EXPECT_THAT(text, HasSubstr("the given link: 0.2 GB/s; the largest message reaches 0.1 GB/s"));
  EXPECT_THAT(probe_json(rows, {"x", 0}, 2), HasSubstr("\"ranks\": 2"));
  EXPECT_THAT(probe_text(rows, {"x", 0}, 2), HasSubstr("give --link-gb-s"));
}

TEST(AllreduceProbe, OneRankIsRefusedAndMemoryIsMeasured) {
  const auto status = comm::run_threads(1, {}, [&](comm::Communicator& end) -> base::Status {
    const auto rows = probe_all_reduce(end, c10::kCPU, {});
    EXPECT_FALSE(rows);
    EXPECT_THAT(rows.error().text(), HasSubstr("--threads 2"));
    return {};
  });
  EXPECT_TRUE(status);
  EXPECT_GT(link_of(c10::kCPU, 0).bytes_per_s, 1e6);
  EXPECT_DOUBLE_EQ(link_of(c10::kCPU, 25e9).bytes_per_s, 25e9);
}

}  // namespace
}  // namespace goban::train::trainer
