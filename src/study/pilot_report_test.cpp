#include "study/pilot_report.hpp"

#include <gmock/gmock.h>

namespace goban::study {
namespace {

using core::pilot::Arm;
using site::analysis::Language;
using testing::HasSubstr;
using testing::Not;

/// Every job waits 1,000 s under A and `ratio` times that under B.
PilotFacts ended(double ratio) {
  PilotFacts facts;
  facts.plan = {.policy_a = "fifo", .policy_b = "<goban>", .pairs = 7};
  facts.is_over = true;
  facts.until_ns = facts.plan.length_ns();
  facts.period = facts.plan.num_periods() - 1;
  for (int32_t i = 0; i < facts.plan.num_periods(); ++i) {
    const double factor = facts.plan.arm(i) == Arm::B ? ratio : 1;
    auto& period = facts.periods.emplace_back();
    for (int job = 0; job < 30; ++job) {
      period.add({.wait_s = (1000 + i) * factor, .held_s = 7200, .gpus = 1}, true);
    }
  }
  return facts;
}

TEST(PilotReport, SaysWhatIsShown) {
  const std::string gain = pilot_text(ended(0.4), Language::English);
  EXPECT_THAT(gain, HasSubstr("Gain: jobs wait 57 % less under <goban>."));  // (400+60)/(1000+60)
  EXPECT_THAT(gain, HasSubstr("jobs: 210, judged: 210"));
  EXPECT_THAT(pilot_text(ended(1.5), Language::English), HasSubstr("Loss: jobs wait 47 % longer"));
  EXPECT_THAT(pilot_text(ended(1), Language::English), HasSubstr("No gain of 10 % or more."));
}

TEST(PilotReport, SaysThatItCannotSay) {
  PilotFacts runs = ended(0.4);
  runs.is_over = false;
  runs.runs = true;
  EXPECT_THAT(pilot_text(runs, Language::English), HasSubstr("Not enough data. The pilot is not"));
  PilotFacts stopped = runs;
  stopped.runs = false;
  stopped.detail = "stopped by ann";
  EXPECT_THAT(pilot_text(stopped, Language::English), HasSubstr("(stopped by ann)"));
  EXPECT_THAT(pilot_text(stopped, Language::English), Not(HasSubstr("Gain")));
  PilotFacts few = ended(0.4);
  few.plan.pairs = 5;
  few.periods.resize(10);
  EXPECT_THAT(pilot_text(few, Language::English), HasSubstr("5 of 5 pairs"));
}

TEST(PilotReport, AFallBackNamesItsRule) {
  PilotFacts facts = ended(3);
  facts.fell_back = true;
  facts.period = 4;
  facts.detail = "misses: 9.0 % of the jobs under B, 1.0 % under A";
  const std::string text = pilot_text(facts, Language::English);
  EXPECT_THAT(text, HasSubstr("Not enough data. A stop rule ended the pilot"));
  EXPECT_THAT(text, HasSubstr("9.0 %"));
  EXPECT_EQ(facts.complete(), 4u);
}

TEST(PilotReport, SpeaksJapanese) {
  const std::string text = pilot_text(ended(0.4), Language::Japanese);
  EXPECT_THAT(text, HasSubstr("改善あり"));
  EXPECT_THAT(text, HasSubstr("57 %"));
  EXPECT_THAT(text, Not(HasSubstr("Gain")));
  EXPECT_THAT(pilot_text(ended(1), Language::Japanese), HasSubstr("10 % 以上の改善はない"));
}

TEST(PilotReport, IsOnePageOfHtml) {
  const std::string page = pilot_html(ended(0.4), Language::Japanese);
  EXPECT_THAT(page, HasSubstr("<html lang=\"ja\">"));
  EXPECT_THAT(page, HasSubstr("&lt;goban&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<goban>")));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

}  // namespace
}  // namespace goban::study
