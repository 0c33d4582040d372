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
  // (400 + 60) / (1000 + 60)
  EXPECT_THAT(gain, HasSubstr("the mean wait + 1 min is 57 % shorter under <goban>."));
  EXPECT_THAT(gain, HasSubstr("all compared jobs of these pairs: 0.4"));
  EXPECT_THAT(gain, HasSubstr("jobs: 210, judged: 210"));
  EXPECT_THAT(pilot_text(ended(1.5), Language::English), HasSubstr("is 47 % longer"));
  EXPECT_THAT(pilot_text(ended(1), Language::English), HasSubstr("No gain of 10 % or more."));
}

TEST(PilotReport, SaysWhomItWasLimitedTo) {
  PilotFacts facts = ended(0.4);
  EXPECT_THAT(pilot_text(facts, Language::English), Not(HasSubstr("on nodes")));
  facts.plan.nodes = {"n1", "n2"};
  facts.plan.users = {"ann", "bob"};
  EXPECT_EQ(pilot_limits_text(facts.plan), "decides on nodes n1, n2 about the jobs of ann, bob");
  facts.plan.accounts = {"vision"};
  EXPECT_THAT(pilot_text(facts, Language::English),
              HasSubstr("decides on nodes n1, n2 about the jobs of ann, bob and accounts vision"));
  EXPECT_THAT(pilot_html(facts, Language::Japanese),
              HasSubstr("ノード n1, n2 と ann, bob, vision のジョブに限る"));
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
  facts.decides = "las";
  const std::string text = pilot_text(facts, Language::English);
  EXPECT_THAT(text, HasSubstr("Not enough data. A stop rule ended the pilot"));
  EXPECT_THAT(text, HasSubstr("9.0 %"));
  EXPECT_THAT(text, HasSubstr("las decides now"));
  EXPECT_THAT(text, Not(HasSubstr("fifo decides")));
  EXPECT_EQ(facts.complete(), 4u);
  const std::string japanese = pilot_text(facts, Language::Japanese);
  EXPECT_THAT(japanese, HasSubstr("期限超過・強制終了：9.0 %（B のジョブ）、1.0 %（A）"));
  EXPECT_THAT(japanese, Not(HasSubstr("under")));
}

TEST(PilotReport, AFallBackIsNeverAGain) {
  PilotFacts facts = ended(0.4);
  facts.fell_back = true;
  facts.period = 13;
  EXPECT_EQ(facts.comparison().pairs, 6);
  EXPECT_THAT(pilot_text(facts, Language::English), Not(HasSubstr("Gain")));
}

TEST(PilotReport, DoesNotCallItAGainWhereJobsWaitLonger) {
  PilotFacts facts = ended(0.4);
  facts.plan.pairs = 20;
  facts.periods.resize(40);
  for (int32_t i = 0; i < 40; ++i) {
    auto& period = facts.periods[static_cast<size_t>(i)];
    const bool is_b = facts.plan.arm(i) == Arm::B;
    period = {.jobs = 30, .judged = 30, .wait_s = 30.0 * (is_b ? 48 : 60) * 60, .slowdown = 60};
    if (is_b && i / 2 == 3) period.wait_s = 30.0 * 48 * 3600;
  }
  const std::string text = pilot_text(facts, Language::English);
  EXPECT_THAT(text, HasSubstr("No clear result."));
  EXPECT_THAT(text, HasSubstr("in the typical pair: 0.80"));
  EXPECT_THAT(text, HasSubstr("all compared jobs of these pairs: 3.160"));
  EXPECT_THAT(text, Not(HasSubstr("Gain")));
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
