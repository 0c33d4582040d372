#include "site/store/write_queue.hpp"

#include <atomic>
#include <gmock/gmock.h>
#include <latch>

namespace goban::site::store {
namespace {

using testing::HasSubstr;

/// Writes rows as text; fails at a given row.
class TextWriter final : public BulkWriter {
 public:
  TextWriter(std::string& out, int bad_row) : out_(out), bad_row_(bad_row) {}
  void null() override { out_ += "-,"; }
  void whole(int64_t value) override { out_ += std::to_string(value) + ","; }
  void real(double value) override { out_ += std::to_string(value) + ","; }
  void text(std::string_view value) override { out_ += std::string(value) + ","; }
  base::Status end_row() override {
    if (++row_ == bad_row_) return base::failed("the disk is full");
    out_ += "\n";
    return {};
  }
  base::Status flush() override {
    out_ += "flush\n";
    return {};
  }

 private:
  std::string& out_;
  int bad_row_;
  int row_ = 0;
};

TEST(WriteQueue, KeepsTheOrderOfRowsAndStatements) {
  std::string out;
  std::string expected;
  WriteQueue queue;
  QueuedWriter writer(queue, std::make_unique<TextWriter>(out, -1));
  for (int i = 0; i < 2000; ++i) {
    writer.whole(i);
    writer.text("t" + std::to_string(i));
    writer.null();
    writer.real(0.5);
    ASSERT_TRUE(writer.end_row());
    expected += std::to_string(i) + ",t" + std::to_string(i) + ",-,0.500000,\n";
    if (i % 700 != 0) continue;
    ASSERT_TRUE(writer.flush());
    ASSERT_TRUE(queue.push([&out] {
      out += "statement\n";
      return base::Status();
    }));
    expected += "flush\nstatement\n";
  }
  ASSERT_TRUE(writer.flush());
  ASSERT_TRUE(queue.wait());
  EXPECT_EQ(out, expected + "flush\n");
}

TEST(WriteQueue, FailsOnceAndForAll) {
  std::string out;
  WriteQueue queue;
  QueuedWriter writer(queue, std::make_unique<TextWriter>(out, 3));
  base::Status status;
  for (int i = 0; i < 1'000'000 && status; ++i) {
    writer.whole(i);
    status = writer.end_row();
  }
  ASSERT_FALSE(status);  // the reader gets the error while it reads
  EXPECT_THAT(status.error().text(), HasSubstr("the disk is full"));
  EXPECT_FALSE(queue.wait());
  EXPECT_FALSE(queue.push([] { return base::Status(); }));
  EXPECT_EQ(out, "0,\n1,\n2,");
}

TEST(WriteQueue, EndsWithTasksLeft) {
  std::atomic<int> ran = 0;
  std::latch begun(1);
  {
    WriteQueue queue;
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(queue.push([&] {
        if (++ran == 1) begun.count_down();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return base::Status();
      }));
    }
    begun.wait();
  }
  EXPECT_GE(ran, 1);
}

}  // namespace
}  // namespace goban::site::store
