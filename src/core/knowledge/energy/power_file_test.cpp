#include "core/knowledge/energy/power_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/knowledge/energy/power_presets.hpp"

namespace goban::core::knowledge {
namespace {

const char* const kFile =
    "[[node]]\nname = \"v100-8\"\ngpu_model = \"V100\"\ngpus = 8\nhost_idle_w = 120\n"
    "gpu_idle_w = 30\ngpu_max_w = 300\ngpu_dynamic_w = 201.25\nexponent = 0.48\n"
    "[[node.state]]\nname = \"off\"\npower_w = 12\nwake = \"5min\"\nwake_j = 108000\n"
    "[[node.power_cap]]\ncap_w = 200\nenergy_factor = 0.9\ntime_factor = 1.037\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string problem(const std::string& text) {
  const auto catalog = parse_power(text, "p.toml");
  return catalog ? "" : catalog.error().text();
}

TEST(PowerFile, ReadsEveryKey) {
  const auto catalog = parse_power(kFile, "p.toml");
  ASSERT_TRUE(catalog) << catalog.error().text();
  const PowerModel& node = catalog->models.at(0);
  EXPECT_EQ(node.num_gpus, 8);
  EXPECT_EQ(node.host_idle_w, 120);
  EXPECT_EQ(node.gpu_context_w, 30) << "idle if left out";
  EXPECT_EQ(node.gpu_share_base_w, 30) << "idle if left out";
  EXPECT_EQ(node.off.wake_s, 300);
  EXPECT_EQ(node.off.wake_j, 108'000);
  EXPECT_EQ(node.sleep.power_w, 360) << "a node without that state idles";
  EXPECT_EQ(break_even_s(node.sleep, 360), std::numeric_limits<double>::infinity());
  EXPECT_EQ(node.caps.at(0).time_factor, 1.037);
}

TEST(PowerFile, PresetsAndFilesComeBackEqual) {
  for (const PowerPresetInfo& info : power_preset_names()) {
    const auto preset = make_power_preset(info.name);
    ASSERT_TRUE(preset);
    const std::string text = to_toml(*preset);
    const auto again = parse_power(text, "again.toml");
    ASSERT_TRUE(again) << again.error().text() << text;
    EXPECT_EQ(to_toml(*again), text);
    EXPECT_EQ(again->models[0].gpu_dynamic_w, preset->models[0].gpu_dynamic_w);
    EXPECT_EQ(again->models[0].sleep.wake_j, preset->models[0].sleep.wake_j);
  }
}

TEST(PowerFile, ProblemsNamePlaceAndRemedy) {
  EXPECT_EQ(problem(replaced(kFile, "host_idle_w = 120\n", "")),
            "p.toml:1:1: node.host_idle_w: is missing (give the power in watts; it has no "
            "default)");
  EXPECT_THAT(problem(replaced(kFile, "host_idle_w = 120", "host_idle_w = -1")),
              testing::HasSubstr("p.toml:5:15: node.host_idle_w"));
  EXPECT_THAT(problem(replaced(kFile, "gpu_max_w = 300", "gpu_max_w = 20")),
              testing::HasSubstr("is below gpu_context_w"));
  EXPECT_THAT(problem(replaced(kFile, "\"off\"", "\"hibernate\"")),
              testing::HasSubstr("unknown state hibernate (known: sleep, off)"));
  EXPECT_THAT(problem(replaced(kFile, "wake_j", "wake_joule")), testing::HasSubstr("wake_joule"));
  EXPECT_THAT(problem(std::string(kFile) + kFile),
              testing::HasSubstr("two kinds of node have the same gpu_model"));
  EXPECT_THAT(problem(""), testing::HasSubstr("describe a kind of node under [[node]]"));
  EXPECT_EQ(make_power_presets("v10").error().text(),
            "unknown power model 'v10' (known: a100, h100, h200, k80, p100, v100)");
}

TEST(PowerPresets, AListIsByGpuModel) {
  const auto catalog = make_power_presets("k80,p100,v100");
  ASSERT_TRUE(catalog) << catalog.error().text();
  ASSERT_EQ(catalog->models.size(), 3u);
  EXPECT_EQ(catalog->find("P100-PCIE-16GB")->name, "p100-8");
  EXPECT_EQ(catalog->find("A100"), nullptr);
  // Scaled by the board's limit: 201.25 W x (250 - 25) / (300 - 30) for P100, x 125 / 270 for K80.
  EXPECT_NEAR(catalog->find("P100")->gpu_dynamic_w, 167.7083, 1e-4);
  EXPECT_NEAR(catalog->find("K80")->gpu_dynamic_w, 93.1713, 1e-4);
  EXPECT_EQ(make_power_presets("v100,v100").error().text(),
            "power model v100 is listed twice (list each once)");
  EXPECT_THAT(make_power_presets("v100,").error().text(),
              testing::HasSubstr("unknown power model"));
}

TEST(PowerCatalog, TheLongestBeginningCounts) {
  PowerCatalog catalog;
  for (const char* name : {"", "A100", "A100-SXM4"}) {
    catalog.models.emplace_back();
    catalog.models.back().gpu_model = name;
  }
  EXPECT_EQ(catalog.find("A100-SXM4-80GB")->gpu_model, "A100-SXM4");
  EXPECT_EQ(catalog.find("A100-PCIe")->gpu_model, "A100");
  EXPECT_EQ(catalog.find("V100")->gpu_model, "");
  catalog.models.erase(catalog.models.begin());
  EXPECT_EQ(catalog.find("V100"), nullptr);
}

}  // namespace
}  // namespace goban::core::knowledge
