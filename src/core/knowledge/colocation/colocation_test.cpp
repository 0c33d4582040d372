// History, file, prediction levels and memory admission, by hand-computed examples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/knowledge/colocation/colocation_file.hpp"
#include "core/knowledge/colocation/colocation_predictor.hpp"
#include "core/knowledge/colocation/gpu_memory.hpp"

namespace goban::core::knowledge {
namespace {

const char* const kHistory =
    "gpu_type,members,slowdowns,samples,rel_std,util_pct,mem_bytes,power_w,source\n"
    "V100,a@batch 8,,1,,30,2 GiB,100,x\n"
    "V100,b,,1,,40,4 GiB,120,x\n"
    "V100,c,,1,,50,,,x\n"
    "V100,d,,1,,,,,x\n"
    "V100,b + a@batch 8,1.3 + 1.2,4,0.1,65,,150,x\n"
    "V100,a@batch 8 + c,1.5 + 1.1,1,,,,,x\n"
    "V100,b + c,1.4 + 0.9,1,,,,,x\n"
    "V100,c + c,never,1,,,,,x\n"
    "V100,b + b,1.9 + 1.7,1,,,,,x\n";

ColocationHistory history(const std::string& text = kHistory) {
  auto parsed = parse_colocation(text, "h.csv");
  EXPECT_TRUE(parsed) << parsed.error().text();
  return parsed ? std::move(*parsed) : ColocationHistory();
}

std::string problem(const std::string& row) {
  const auto parsed = parse_colocation(kHistory + row + "\n", "h.csv");
  return parsed ? "" : parsed.error().text();
}

std::vector<AppId> apps(const ColocationHistory& h, std::string_view text) {
  return parse_members(text, h).value();
}

TEST(ColocationPredictor, TheMeasuredSetCountsInAnyOrder) {
  const ColocationHistory h = history();
  const ColocationPredictor predictor(h);
  const GpuTypeId v100 = h.find_gpu_type("V100-SXM2-16GB");
  const auto ab = predictor.predict(v100, apps(h, "a@batch 8+b"));
  EXPECT_EQ(ab.level, PredictionLevel::Measured);
  EXPECT_EQ(ab.mean[0], 1.2);
  EXPECT_EQ(ab.mean[1], 1.3);
  EXPECT_DOUBLE_EQ(ab.upper[1], 1.3 * (1 + 1.645 * 0.1));
  EXPECT_DOUBLE_EQ(ab.sum_of_rates(), 1 / 1.2 + 1 / 1.3);
  const auto ba = predictor.predict(v100, apps(h, "b + a@batch 8"));
  EXPECT_EQ(ba.mean[0], 1.3);
  const auto bb = predictor.predict(v100, apps(h, "b + b"));
  EXPECT_EQ(bb.mean[0], 1.7) << "of equal members the slower one is the last";
  EXPECT_EQ(bb.mean[1], 1.9);
  EXPECT_EQ(predictor.predict(v100, apps(h, "c")).level, PredictionLevel::Alone);
}

TEST(ColocationPredictor, PairsThenUtilisationThenThePessimisticFactor) {
  const ColocationHistory h = history();
  const ColocationPredictor predictor(h);
  const GpuTypeId v100 = h.find_gpu_type("V100");
  const auto abc = predictor.predict(v100, apps(h, "c + a@batch 8 + b"));
  EXPECT_EQ(abc.level, PredictionLevel::Pairs);
  EXPECT_DOUBLE_EQ(abc.mean[0], 1.1 * 1.0) << "0.9 is noise: no faster than alone";
  EXPECT_DOUBLE_EQ(abc.mean[1], 1.5 * 1.2);
  EXPECT_DOUBLE_EQ(abc.mean[2], 1.3 * 1.4);
  EXPECT_GT(abc.upper[1], abc.mean[1]);
  const auto aab = predictor.predict(v100, apps(h, "a@batch 8 + a@batch 8 + b"));
  EXPECT_EQ(aab.level, PredictionLevel::Utilisation) << "a + a was not measured";
  EXPECT_DOUBLE_EQ(aab.mean[2], 1 / .795) << "30 + 30 + 40 = 100 %";
  const auto ad = predictor.predict(v100, apps(h, "a@batch 8 + d"));
  EXPECT_EQ(ad.level, PredictionLevel::Pessimistic) << "the utilisation of d is not known";
  EXPECT_EQ(ad.mean[0], 2);
  EXPECT_EQ(ad.upper[0], 2.6);
  const auto unknown = predictor.predict(v100, apps(h, "a@batch 8 + nobody"));
  EXPECT_EQ(unknown.level, PredictionLevel::Pessimistic);
  const auto elsewhere = predictor.predict(h.find_gpu_type("K80"), apps(h, "a@batch 8 + b"));
  EXPECT_EQ(elsewhere.level, PredictionLevel::Pessimistic) << "nothing is known of that GPU";
}

TEST(ColocationPredictor, ASetWithANeverPairIsNeverPacked) {
  const ColocationHistory h = history();
  const ColocationPredictor predictor(h);
  const GpuTypeId v100 = h.find_gpu_type("V100");
  EXPECT_EQ(predictor.predict(v100, apps(h, "c + c")).level, PredictionLevel::Never);
  EXPECT_EQ(predictor.predict(v100, apps(h, "d + c + c")).level, PredictionLevel::Never);
  EXPECT_FALSE(predictor.predict(v100, std::vector<AppId>(9)).packable()) << "beyond kSetMax";
}

TEST(ColocationPredictor, PriorIsThatOfTheSpec) {
  EXPECT_EQ(prior_speed(0, 2), .999);
  EXPECT_EQ(prior_speed(79.9, 2), .963);
  EXPECT_EQ(prior_speed(180, 2), .795);
  EXPECT_EQ(prior_speed(200, 3), .5) << "three busy jobs cannot each have 0.795 of a GPU";
}

TEST(ColocationHistory, FindsAnInputElseTheModel) {
  ColocationHistory h;
  const AppId plain = h.add_app("r", "");
  const AppId batch = h.add_app("r", batch_input(64));
  EXPECT_EQ(h.find_app("r", "batch 64"), batch);
  EXPECT_EQ(h.find_app("r", "batch 32"), plain);
  EXPECT_FALSE(h.find_app("s", "batch 64").valid());
  h.add_gpu_type("A100");
  const GpuTypeId longer = h.add_gpu_type("A100-SXM4");
  EXPECT_EQ(h.find_gpu_type("A100-SXM4-80GB"), longer);
  EXPECT_FALSE(h.find_gpu_type("V100").valid());
}

TEST(ColocationHistory, SamplesAreMergedByWeight) {
  const ColocationHistory h = history(
      "gpu_type,members,slowdowns,samples,power_w,mem_bytes\n"
      "V100,a + b,1.2 + 1.0,3,100,6\nV100,b + a,1.1 + 1.4,1,120,7\n");
  ASSERT_EQ(h.sets().size(), 1u);
  const MeasuredSet& set = h.sets()[0];
  EXPECT_DOUBLE_EQ(set.slowdown[0], 1.25);
  EXPECT_DOUBLE_EQ(set.slowdown[1], 1.025);
  EXPECT_EQ(set.samples, 4);
  EXPECT_DOUBLE_EQ(set.power_w, 105);
  EXPECT_EQ(set.mem_bytes, 7) << "a peak stays one";
  // Variances between: (0.2/1.25)^2 3/16 and (0.1/1.025)^2 3/16, their mean.
  EXPECT_NEAR(set.rel_std, 0.0573, 1e-3);
}

RC_GTEST_PROP(ColocationHistoryProperty, EverySetIsFoundAmongMany, ()) {
  ColocationHistory h;
  std::map<std::vector<AppId>, double> truth;
  for (int i = 0; i < 30; ++i) h.add_app("m" + std::to_string(i), "");
  const GpuTypeId gpu = h.add_gpu_type("g");
  const auto count = *rc::gen::inRange(0, 300);
  for (int i = 0; i < count; ++i) {
    MeasuredSet set;
    set.gpu_type = gpu;
    set.size = static_cast<uint8_t>(*rc::gen::inRange(1, 4));
    std::vector<AppId> key;
    for (size_t j = 0; j < set.size; ++j) {
      key.push_back(set.apps[j] = AppId(*rc::gen::inRange<uint32_t>(0, 30)));
    }
    set.slowdown.fill(1);
    std::ranges::sort(key);
    h.merge(set);
    truth[key] += 1;
  }
  RC_ASSERT(h.sets().size() == truth.size());
  for (const auto& [key, samples] : truth) {
    const MeasuredSet* found = h.find(gpu, key);
    RC_ASSERT(found != nullptr);
    RC_ASSERT(found->samples == samples);
  }
}

TEST(ColocationFile, ComesBackEqual) {
  const std::string text = to_csv(history());
  EXPECT_EQ(to_csv(history(text)), text);
  EXPECT_THAT(text, testing::HasSubstr("V100,a@batch 8,,1,,30,2147483648,100,x\n"));
  EXPECT_THAT(text, testing::HasSubstr("V100,c + c,never,1,,,,,x\n"));
}

TEST(ColocationFile, ProblemsNamePlaceAndRemedy) {
  EXPECT_EQ(problem("V100,a@batch 8 + b,1.6 + 1.3"),
            "h.csv:11:20: slowdowns: contradicts line 6: a@batch 8 is slowed 1.6 times here, 1.2 "
            "times in an earlier measurement (keep the correct row, or merge them into one "
            "with rel_std)");
  EXPECT_THAT(problem("V100,c + c,2 + 2"), testing::HasSubstr("declared as never co-located"));
  EXPECT_THAT(problem("V100,b,,1,,95"),
              testing::HasSubstr("util_pct is 95 here, 40 in an earlier"));
  EXPECT_EQ(problem("V100,e,,1,,,-5"),
            "h.csv:11:13: mem_bytes: \"-5\" is negative (give bytes, or a size such as 9 GiB; "
            "empty = unknown)");
  EXPECT_THAT(problem("V100,a + b,1.2"), testing::HasSubstr("1 values for 2 members"));
  EXPECT_THAT(problem("V100,e,2"), testing::HasSubstr("'2' given for a job alone"));
  EXPECT_THAT(problem("V100,a + b,0 + 1"), testing::HasSubstr("'0' is not a slowdown"));
  EXPECT_THAT(problem("V100,a + ,1 + 1"), testing::HasSubstr("'' is not an application"));
  EXPECT_THAT(problem("V100,a+a+a+a+a+a+a+a+a,never"), testing::HasSubstr("has 9 members"));
  EXPECT_THAT(problem("V100,e,,1,,130"), testing::HasSubstr("'130' is not a number from 0 to 100"));
  EXPECT_EQ(parse_colocation("gpu_type,members,slowdowns,power\n", "h.csv").error().text(),
            "h.csv:1: power: is not a column of a co-location history (did you mean power_w?)");
}

TEST(SetPower, MeasuredThenComposedThenUtilisation) {
  const ColocationHistory h = history();
  const ColocationPredictor predictor(h);
  const GpuTypeId v100 = h.find_gpu_type("V100");
  PowerModel model;
  model.num_gpus = 4;
  model.host_idle_w = 40;  // 10 W per GPU
  model.gpu_idle_w = 20;
  model.gpu_context_w = 25;
  model.gpu_dynamic_w = 200;
  model.gpu_share_base_w = 60;
  const auto watts = [&](std::string_view set) {
    const auto members = apps(h, set);
    return set_power(model, h, v100, members, predictor.predict(v100, members));
  };
  EXPECT_EQ(watts("a@batch 8 + b").level, PowerLevel::Measured);
  EXPECT_DOUBLE_EQ(watts("a@batch 8 + b").gpu_w, 140);
  EXPECT_EQ(watts("b + b").level, PowerLevel::Composed);
  EXPECT_DOUBLE_EQ(watts("b + b").gpu_w, 60 + 2 * (110 - 60) * 2 / 3.6);
  EXPECT_EQ(watts("b + c").level, PowerLevel::Utilisation);
  EXPECT_DOUBLE_EQ(watts("b + c").gpu_w, 20 + 200 * 0.9);
  EXPECT_EQ(watts("d").level, PowerLevel::Unknown);
  EXPECT_DOUBLE_EQ(watts("d").gpu_w, 220);
  const auto members = apps(h, "a@batch 8 + b");
  const auto prediction = predictor.predict(v100, members);
  EXPECT_DOUBLE_EQ(joules_per_work(model, watts("a@batch 8 + b"), prediction),
                   150 / (1 / 1.2 + 1 / 1.3));
}

TEST(GpuMemory, AdmitsByPeaksContextsAndMargin) {
  constexpr int64_t kGib = int64_t{1} << 30;
  const GpuMemory gpu{.total_bytes = 16 * kGib, .context_bytes = kGib, .margin_bytes = 2 * kGib};
  const auto fit = [&gpu](std::vector<int64_t> peaks) { return memory_fit(gpu, peaks); };
  EXPECT_EQ(fit({6 * kGib, 6 * kGib}), MemoryFit::Fits);
  EXPECT_EQ(fit({6 * kGib, 6 * kGib + 1}), MemoryFit::TooLarge);
  EXPECT_EQ(fit({100 * kGib}), MemoryFit::Fits) << "alone it is nobody's business";
  EXPECT_EQ(fit({kGib, 0}), MemoryFit::Unknown);
  EXPECT_EQ(fit({14 * kGib, 0}), MemoryFit::TooLarge);
  EXPECT_EQ(fit({INT64_MAX, INT64_MAX}), MemoryFit::TooLarge);
  EXPECT_EQ(memory_fit({}, std::vector<int64_t>{kGib, kGib}), MemoryFit::Unknown);
}

}  // namespace
}  // namespace goban::core::knowledge
