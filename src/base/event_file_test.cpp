#include "base/event_file.hpp"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <string>
#include <vector>

#include "base/crc32c.hpp"
#include "base/text_file.hpp"

namespace goban::base {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kCorpus = std::string(GOBAN_SOURCE_DIR) + "/tests/corpus/event_file/";

/// The scalars as text.
struct Found {
  std::vector<std::string> scalars{};
  EventFilePart part{};
};

Found read(const std::string& bytes, const EventFileLimits& limits = {}) {
  Found out;
  const ReadAt read_at = [&](int64_t offset, std::span<char> to) {
    const size_t from = std::min(static_cast<size_t>(offset), bytes.size());
    return bytes.copy(to.data(), to.size(), from);
  };
  const TakeScalar take = [&](std::string_view tag, const Scalar& scalar) {
    out.scalars.push_back(
        fmt::format("{} {} {} {}", tag, scalar.step, scalar.value, scalar.at_s - 1.7e9));
  };
  out.part = read_scalars(read_at, take, limits);
  return out;
}

template <typename T>
std::string bytes_of(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string record(const std::string& bytes) {
  const auto masked = [](uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8; };
  const std::string size = bytes_of(static_cast<uint64_t>(bytes.size()));
  return size + bytes_of(masked(crc32c(size))) + bytes + bytes_of(masked(crc32c(bytes)));
}

/// The event {wall_time: 1.7e9, summary: {value: [{tag: "x", simple_value: value}]}}, by hand.
std::string event(float value) {
  const std::string inner = std::string("\x0a\x01x\x15", 4) + bytes_of(value);
  return "\x09" + bytes_of(1.7e9) + "\x2a\x0a\x0a\x08" + inner;
}

// The files were written by tensorboardX 2.6 and by tensorboard 2.20's writer with its scalar
// plugin, as TensorFlow 2 does; tensorboard's own reader prints these values.
TEST(EventFile, ScalarsOfTensorboardX) {
  const Found found = read(read_text_file(kCorpus + "tensorboardx.tfevents").value());
  EXPECT_THAT(found.scalars,
              ElementsAre("loss/train 0 2.5 0.5", "accuracy 0 0.125 0.5", "loss/train 10 1.25 1.5",
                          "accuracy 10 0.5 1.5", "loss/train 20 nan 2.5", "accuracy 20 0.75 2.5"));
  EXPECT_EQ(found.part.problem, "");
  EXPECT_FALSE(found.part.was_cut);
}

TEST(EventFile, ScalarTensorsOfTensorFlow2) {
  const Found found = read(read_text_file(kCorpus + "tensorboard.tfevents").value());
  EXPECT_THAT(found.scalars,
              ElementsAre("epoch_loss 0 0.75 100", "lr 0 0.75 100", "epoch_loss 1 1 101",
                          "lr 1 1 101", "epoch_loss 2 -9 102", "lr 2 -9 102", "content 10 7 201"))
      << "and not the pair, which is no scalar";
}

TEST(EventFile, ARecordThatBreaksOffIsTheEnd) {
  const std::string whole = record(event(1)) + record(event(2));
  const size_t first = record(event(1)).size();
  for (size_t size = first; size < whole.size(); ++size) {
    const Found found = read(whole.substr(0, size));
    EXPECT_EQ(found.scalars.size(), 1U) << size;
    EXPECT_EQ(found.part.problem, "") << size;
  }
  EXPECT_EQ(read(whole).scalars.size(), 2U);
}

TEST(EventFile, DamageEndsReadingAndIsNamed) {
  const std::string good = record(event(1));
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bytes = good + good + good;
    bytes[good.size() + i] ^= 0x40;
    const Found found = read(bytes);
    EXPECT_EQ(found.scalars.size(), 1U) << i;
    EXPECT_EQ(found.part.problem, fmt::format("the record at byte {} has a wrong checksum{}",
                                              good.size(), i < 12 ? " of its length" : ""));
  }
  EXPECT_THAT(read(record("no event")).part.problem, HasSubstr("byte 0 is not an event"));
  // A length of 2^63 with the right checksum.
  std::string size = bytes_of(uint64_t{1} << 63);
  const uint32_t crc = crc32c(size);
  size += bytes_of(((crc >> 15) | (crc << 17)) + 0xa282ead8);
  EXPECT_THAT(read(size).part.problem, HasSubstr("is too long"));
}

TEST(EventFile, LongRecordsArePassedOverUnread) {
  const std::string image = record(std::string(1'000'000, 'x'));  // is no event
  const Found found = read(record(event(1)) + image + image + record(event(2)));
  EXPECT_EQ(found.scalars.size(), 2U);
  EXPECT_EQ(found.part.records, 4);
  EXPECT_LT(found.part.bytes_read, 30'000);
  EXPECT_EQ(read(image.substr(0, image.size() - 1)).part.records, 0) << "it is being written";
}

TEST(EventFile, ReadsAtMostTheLimit) {
  std::string bytes;
  for (int i = 0; i < 20'000; ++i) bytes += record(event(static_cast<float>(i)));
  EXPECT_EQ(read(bytes).scalars.size(), 20'000U);
  EXPECT_FALSE(read(bytes).part.was_cut);
  const Found found = read(bytes, {.bytes_max = 100'000});
  EXPECT_TRUE(found.part.was_cut);
  EXPECT_LT(found.part.bytes_read, 300'000);
  EXPECT_GT(found.scalars.size(), 1'000U);
  EXPECT_EQ(found.scalars[7], "x 0 7 0");
}

}  // namespace
}  // namespace goban::base
