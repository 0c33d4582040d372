#include "core/policy/compose.hpp"

#include <gtest/gtest.h>
#include <set>

#include "core/policy/test_part.hpp"

namespace goban::core::policy {
namespace {

TEST(Compose, NodesAreEmptiedOnlyToSleep) {
  EXPECT_TRUE(compose("skip+sleep+consolidate"));
  EXPECT_TRUE(compose("skip+sleep+consolidate")->needs_knowledge());
  const auto awake = compose("skip+consolidate");
  ASSERT_FALSE(awake);
  EXPECT_EQ(awake.error().remedy, "add sleep or remove consolidate");
  EXPECT_FALSE(compose("non-sticky+sleep+consolidate"));
}

TEST(Compose, ForecastsOrderJobsWhereGpusAreExclusive) {
  const Composition goban = compose("goban").value();
  const PolicySet exclusive = goban.make({});
  EXPECT_TRUE(exclusive.uses_forecasts && exclusive.needs_estimates && exclusive.price.asked);
  const PolicySet shared = goban.make({.knowledge = std::make_shared<SiteKnowledge>()});
  EXPECT_FALSE(shared.uses_forecasts || shared.needs_estimates || shared.price.asked);
  EXPECT_EQ(shared.preemption, Preemption::Sticky);
  EXPECT_GT(shared.starvation_ns, 0);
}

TEST(Compose, PartsInAnyOrderAndDefaults) {
  const Composition c = compose("pal+las").value();
  EXPECT_EQ(c.part(PartKind::Order).name, "las");
  EXPECT_EQ(c.part(PartKind::Placement).name, "pal");
  EXPECT_EQ(c.part(PartKind::Select).name, "prefix");
  EXPECT_EQ(c.preemption(), Preemption::Sticky);
  EXPECT_EQ(c.settings.restart_cost_s, 30);
  EXPECT_EQ(c.settings.locality_penalty, 1.0);
  EXPECT_EQ(compose("easy-backfill").value().preemption(), Preemption::None);
  EXPECT_EQ(compose("las+non-sticky").value().preemption(), Preemption::NonSticky);
  EXPECT_EQ(compose("las+non-preemptive").value().preemption(), Preemption::None);
}

TEST(Compose, PresetsAreThePapers) {
  const Composition c = compose("pal-artifact").value();
  EXPECT_EQ(c.settings.locality_penalty, 1.7);
  EXPECT_EQ(c.settings.restart_cost_s, 0);
  EXPECT_EQ(c.settings.round_s, 360);
  EXPECT_TRUE(c.settings.credit_per_round);
  EXPECT_EQ(c.preemption(), Preemption::NonSticky);
  EXPECT_TRUE(compose("fifo-packed-strict").value().settings.ideal_speed);
}

TEST(Compose, SharingAndPowerAreParts) {
  const Composition c = compose("las+share-eaco-similar+sleep").value();
  EXPECT_EQ(c.part(PartKind::Sharing).name, "share-eaco-similar");
  EXPECT_EQ(c.part(PartKind::Power).name, "sleep");
  EXPECT_EQ(compose("fifo").value().part(PartKind::Sharing).name, "exclusive");
  EXPECT_EQ(compose("fifo").value().part(PartKind::Power).name, "on");
  EXPECT_FALSE(compose("share-eaco+share-best-pair"));
  EXPECT_EQ(compose("best-pair").value().part(PartKind::Power).name, "on");
  EXPECT_EQ(compose("eaco-paper").value().part(PartKind::Power).name, "sleep");
  EXPECT_EQ(compose("eaco").value().preemption(), Preemption::ByPriority);
  EXPECT_FALSE(compose("las+non-sticky+share-eaco"));  // sharing needs sticky decisions
  EXPECT_TRUE(compose("las+non-sticky+sleep"));
}

TEST(Compose, FormerNamesAreRead) {
  EXPECT_EQ(compose("fifo-packed").value().parts, compose("best-pair").value().parts);
  EXPECT_EQ(compose("gandiva").value().parts, compose("random-pair").value().parts);
  EXPECT_EQ(compose("srtf+share-gandiva").value().parts,
            compose("srtf+share-random-pair").value().parts);
  EXPECT_EQ(compose("share-packed+sleep").value().parts,
            compose("share-best-pair+sleep").value().parts);
  EXPECT_EQ(compose("gandiva").value().name, "gandiva");  // as given, as in what was recorded
}

TEST(Compose, GobanRunsWithoutKnowledge) {
  const Composition c = compose("goban").value();
  EXPECT_EQ(c.part(PartKind::Sharing).name, "share-worth");
  EXPECT_FALSE(c.needs_knowledge());
  EXPECT_FALSE(c.simulation_only());
  EXPECT_TRUE(compose("fifo+share-eaco").value().needs_knowledge());
  EXPECT_TRUE(compose("fifo+sleep").value().needs_knowledge());
  EXPECT_FALSE(compose("las+pal").value().needs_knowledge());
  const PolicySet blind = c.make({});
  EXPECT_EQ(blind.sharing->when(), ShareWhen::Never);
  EXPECT_FALSE(blind.power->may_rest());
  const PolicySet set = c.make({.knowledge = std::make_shared<SiteKnowledge>()});
  EXPECT_EQ(set.sharing->when(), ShareWhen::BeforeFree);
  EXPECT_TRUE(set.power->may_rest());
  EXPECT_GT(set.starvation_ns, 0);
}

TEST(Compose, WorthHasItsOwnSettings) {
  EXPECT_GT(compose("fifo+share-worth").value().options.prices.delay_price_w, 0);
  EXPECT_EQ(compose("fifo+share-eaco").value().options.prices.delay_price_w, 0);
}

TEST(Compose, OrderIsReplacedAndPreemptionOfPresetsStays) {
  EXPECT_EQ(compose("packed-sticky-artifact", "las").value().preemption(), Preemption::Sticky);
  EXPECT_EQ(compose("pal-artifact", "srtf").value().preemption(), Preemption::NonSticky);
  EXPECT_TRUE(compose("pal-artifact", "srtf").value().simulation_only());
  EXPECT_EQ(compose("fifo+packed", "las").value().preemption(), Preemption::Sticky);
}

TEST(Compose, RefusesWhatItDoesNotKnow) {
  for (const char* name :
       {"", "+", "pal+", "best", "fifo+las", "packed+pal", "sticky+non-sticky"}) {
    const auto result = compose(name);
    ASSERT_FALSE(result) << name;
    EXPECT_EQ(result.error().code, base::ErrorCode::Usage);
  }
  EXPECT_FALSE(compose("fifo", "packed"));
  EXPECT_FALSE(compose("conservative-backfill+consolidated"));
}

TEST(Parts, EachKindHasAStandardPartAndRowsAgreeWithWhatIsMade) {
  for (size_t i = 0; i < kPartKinds.size(); ++i) {
    const auto kind = static_cast<PartKind>(i);
    EXPECT_EQ(standard_part(kind).kind, kind);
    EXPECT_EQ(standard_part(kind).knowledge, KnowledgeUse::None) << kPartKinds[i];
    EXPECT_NE(part_names(kind).find(standard_part(kind).name), std::string::npos);
  }
  for (const Part* part : parts()) {
    EXPECT_EQ(find_part(part->name), part);
    if (part->needs_true_work) continue;
    const PolicySet set = test_part(part->name);
    EXPECT_TRUE(!set.power || set.power->may_rest() == part->rests_nodes) << part->name;
    EXPECT_TRUE(!set.order || set.order->drifts() == (part->starvation_s > 0)) << part->name;
    EXPECT_TRUE(part->kind != PartKind::Preemption || set.preemption == part->preemption);
  }
  EXPECT_EQ(find_part("best"), nullptr);
}

TEST(Compose, EveryPartAndPresetCanBeMade) {
  class NoWork final : public model::WorkOracle {
    double total_work_s(model::JobId) const override { return 1; }
    double work_left_s(model::JobId, base::TimeNs) const override { return 1; }
    double launch_cost_s(model::JobId) const override { return 0; }
  };
  const NoWork oracle;
  std::set<std::string_view> names;
  for (const Part* part : parts()) {
    EXPECT_TRUE(names.insert(part->name).second) << part->name;
    EXPECT_FALSE(part->description.empty());
    const std::string sleeping = part->name == "consolidate" ? "sleep+" : "";
    const auto composition = compose(sleeping + std::string(part->name));
    ASSERT_TRUE(composition) << composition.error().text();
    const PolicySet set = composition->make({.oracle = &oracle});
    EXPECT_TRUE(set.order && set.select && set.placement && set.sharing && set.power &&
                set.migration);
  }
  for (const Preset& preset : presets()) {
    EXPECT_TRUE(names.insert(preset.name).second);
    EXPECT_TRUE(compose(preset.name));
  }
}

}  // namespace
}  // namespace goban::core::policy
