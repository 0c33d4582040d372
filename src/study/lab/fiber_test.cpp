#include "study/lab/fiber.hpp"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace goban::study::lab {
namespace {

TEST(Fiber, StopsAndContinues) {
  std::vector<int> seen;
  Fiber* inside = nullptr;
  Fiber fiber([&] {
    std::string kept = "a text that is too long to be kept in the object itself";
    for (int i = 0; i < 3; ++i) {
      seen.push_back(i);
      inside->pause();
    }
    EXPECT_EQ(kept.size(), 55U);
  });
  inside = &fiber;
  EXPECT_FALSE(fiber.started());
  for (int i = 0; i < 3; ++i) {
    fiber.resume();
    EXPECT_EQ(seen.size(), static_cast<size_t>(i) + 1);
    EXPECT_FALSE(fiber.ended());
  }
  fiber.resume();
  EXPECT_TRUE(fiber.ended());
}

TEST(Fiber, ThrowsWhatItsBodyThrows) {
  Fiber* inside = nullptr;
  Fiber fiber([&] {
    try {
      throw std::runtime_error("caught inside");
    } catch (const std::runtime_error&) {
    }
    inside->pause();
    throw std::logic_error("for the caller");
  });
  inside = &fiber;
  fiber.resume();
  EXPECT_THROW(fiber.resume(), std::logic_error);
  EXPECT_TRUE(fiber.ended());
}

TEST(Fiber, OneThatWasNotStartedIsDropped) {
  const Fiber fiber([] { FAIL(); });
  EXPECT_FALSE(fiber.started());
}

}  // namespace
}  // namespace goban::study::lab
