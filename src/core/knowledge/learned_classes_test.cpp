#include "core/knowledge/learned_classes.hpp"

#include <gtest/gtest.h>

namespace goban::core::knowledge {
namespace {

base::reports::JobProfile used(double dram_pct, double fu_pct) {
  base::reports::JobProfile out;
  out.model = "m";
  out.dram_utilisation_pct = {.value = dram_pct};
  out.fu_utilisation_pct = {.value = fu_pct};
  return out;
}

char letter(const LearnedClasses& classes, double dram_pct, double fu_pct) {
  const auto found = classes.of(used(dram_pct, fu_pct));
  return found ? found->letter() : '-';
}

TEST(LearnedClasses, NeedSeveralApplications) {
  LearnedClasses classes(2);
  for (size_t i = 0; i + 1 < LearnedClasses::kApplicationsLeast; ++i) {
    classes.put("app" + std::to_string(i), used(i < 2 ? 10 : 90, i < 2 ? 90 : 10));
  }
  EXPECT_EQ(letter(classes, 90, 10), '-');
  classes.put("app0", used(11, 89));
  EXPECT_EQ(letter(classes, 90, 10), '-') << "the same application again";
  classes.put("more", used(12, 88));
  EXPECT_EQ(letter(classes, 90, 10), 'B');
  EXPECT_EQ(letter(classes, 10, 90), 'A');
  EXPECT_FALSE(classes.of({})) << "nothing is known of this one";
  classes.put("more", {});
  EXPECT_EQ(letter(classes, 90, 10), '-') << "it is not known any more";
}

TEST(LearnedClasses, FollowWhatIsMeasured) {
  LearnedClasses classes(2);
  for (int i = 0; i < 8; ++i) classes.put(std::to_string(i), used(i < 4 ? 10 : 20, 50));
  EXPECT_EQ(letter(classes, 20, 50), 'B');
  for (int i = 8; i < 16; ++i) classes.put(std::to_string(i), used(95, 5));
  EXPECT_EQ(letter(classes, 20, 50), 'A') << "there are far more memory-bound ones";
  EXPECT_EQ(letter(classes, 95, 5), 'B');
}

TEST(LearnedClasses, OfManyAreMadeAgainWhenSomeHaveChanged) {
  LearnedClasses classes(2);
  for (int i = 0; i < 1000; ++i) classes.put(std::to_string(i), used(i % 2 == 0 ? 10 : 30, 50));
  EXPECT_EQ(letter(classes, 30, 50), 'B');
  for (int i = 0; i < 1000; ++i) classes.put("new" + std::to_string(i), used(100, 0));
  EXPECT_EQ(letter(classes, 30, 50), 'A');
}

}  // namespace
}  // namespace goban::core::knowledge
