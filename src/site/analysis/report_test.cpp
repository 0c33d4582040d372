// The complete report: texts, absent statistics, writers, hand-computed figures.
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>

#include "core/model/cluster_presets.hpp"
#include "site/analysis/rules_file.hpp"
#include "site/analysis/test_population.hpp"
#include "site/analysis/writers.hpp"

namespace goban::site::analysis {
namespace {

using testing::HasSubstr;

/// Two users, three kinds, waits, an end of every sort.
constexpr std::string_view kJobs =
    "job_id,submit_time,duration,num_gpus,user,account,resource_type,instances,walltime_s,"
    "start_time,end_time,state,partition\n"
    "1,1577836800,3600,1,ann,a,G.small,1,7200,1577836800,1577840400,COMPLETED,p\n"
    "2,1577836800,7200,1,ann,a,G.small,1,7200,1577840400,1577847600,TIMEOUT,p\n"
    "3,1577836800,1800,4,ann,a,Full,1,7200,1577840400,1577842200,FAILED,q\n"
    "4,1577836800,1800,8,ann,a,Full,2,7200,1577840400,1577842200,COMPLETED,q\n"
    "5,1577836800,1800,160,bob,b,Full,40,7200,1577844000,1577845800,COMPLETED,q\n"
    "6,1577836800,600,0,bob,b,C.small,1,7200,1577836800,1577837400,COMPLETED,q\n"
    "7,1577836800,200,4,bob,b,Full,1,7200,1577836800,1577837000,CANCELLED,q\n";

const core::model::Cluster& abci() {
  static const core::model::Cluster cluster = core::model::make_preset("abci").value();
  return cluster;
}
TestPopulation jobs() { return population_of(kJobs, {}, &abci()); }

TEST(Report, EveryWordIsInTheCatalogueInBothLanguages) {
  std::set<std::string_view> keys;
  for (const LabelText& text : label_catalogue()) {
    EXPECT_TRUE(keys.insert(text.key).second) << text.key << " is there twice";
    EXPECT_FALSE(text.english.empty()) << text.key;
    EXPECT_FALSE(text.japanese.empty()) << text.key;
  }
  // An unknown key is its own text.
  const std::set<std::string> prefixes = {"title.",  "text.",    "column.", "axis.",
                                          "scalar.", "section.", "reason.", "word.",
                                          "rule.",   "counts.",  "head."};
  for (const std::string_view text :
       {kJobs, std::string_view("job_id,submit_time,duration,num_gpus,"
                                "user\n1,0,400,1,\n")}) {
    for (const Language language : {Language::English, Language::Japanese}) {
      const std::string json = report_json(population_of(text, {}, &abci()).report(language));
      for (const std::string& prefix : prefixes) {
        EXPECT_EQ(json.find("\"" + prefix), std::string::npos)
            << json.substr(json.find("\"" + prefix), 60);
      }
    }
  }
}

TEST(Report, SharesOfTheMixAreThoseOfThePaper) {
  const ReportData report = jobs().report();
  // Jobs 1 to 5 are analysed: two of one GPU, one of a node, two of several nodes.
  EXPECT_EQ(number_of(scalar_of(report, "analysed_jobs")), 5);
  EXPECT_EQ(number_of(scalar_of(report, "one_gpu_share")), 40);
  EXPECT_EQ(number_of(scalar_of(report, "one_node_share")), 20);
  EXPECT_EQ(number_of(scalar_of(report, "multi_node_share")), 40);
  EXPECT_NEAR(number_of(scalar_of(report, "whole_single_share")), 100.0 / 3, 1e-9);
  EXPECT_EQ(number_of(scalar_of(report, "two_nodes_share")), 50);
  EXPECT_EQ(number_of(scalar_of(report, "up_to_eight_share")), 50);
  // Node-hours of Full: 0.5 on one node, 1 + 20 on several.
  EXPECT_NEAR(number_of(scalar_of(report, "multi_node_hours_share")), 100 * 21.0 / 21.5, 1e-9);
  EXPECT_EQ(number_of(scalar_of(report, "beyond_rack_jobs")), 1);
  EXPECT_EQ(number_of(scalar_of(report, "beyond_rack_node_hours")), 20);
  EXPECT_EQ(number_of(scalar_of(report, "exceeded_jobs")), 1);
}

TEST(Report, TableTwoHasARowAKindAndNodeBin) {
  const ReportData report = jobs().report();
  const Table* table = find_table(report, "table2_walltime");
  ASSERT_NE(table, nullptr);
  ASSERT_EQ(table->rows.size(), 5U) << "and all together";
  EXPECT_EQ(text_of(table->rows[0][0]), "G.small");
  EXPECT_EQ(number_of(table->rows[0][2]), 2);
  EXPECT_EQ(number_of(table->rows[0][3]), 1.5) << "mean";
  EXPECT_NEAR(number_of(table->rows[0][4]), std::sqrt(0.5), 1e-12) << "sd by n - 1";
  EXPECT_EQ(number_of(table->rows[0][5]), 1.5) << "median";
  EXPECT_EQ(number_of(table->rows[0][8]), 50) << "up to 1 h";
  EXPECT_EQ(text_of(table->rows[3][1]), "35-68");
}

TEST(Report, WaitsAndOutcomesAreOfAllJobsThatRan) {
  const ReportData report = jobs().report();
  const Table* waits = find_table(report, "waits");
  ASSERT_NE(waits, nullptr);
  const auto* all = row_named(*waits, "all");
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(number_of((*all)[1]), 7);
  EXPECT_NEAR(number_of((*all)[3]), 5.0 / 7, 1e-12) << "waits of 0, 1, 1, 1, 2, 0, 0 h";
  const Table* outcomes = find_table(report, "outcomes");
  ASSERT_NE(outcomes, nullptr);
  const auto* failed = row_named(*outcomes, "FAILED");
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(number_of((*failed)[1]), 1);
  EXPECT_EQ(number_of((*failed)[4]), 2) << "GPU-hours";
}

TEST(Report, GpuHoursOfTheSiteStandBesideThoseOfAnalysedJobs) {
  // The job of 200 s is not analysed: 4 GPUs for 200 s.
  const ReportData report = jobs().report();
  const double analysed = 1 + 2 + 2 + 4 + 80;
  EXPECT_NEAR(number_of(scalar_of(report, "analysed_gpu_hours")), analysed, 1e-9);
  EXPECT_NEAR(number_of(scalar_of(report, "all_gpu_hours")), analysed + 800.0 / 3600, 1e-9);
  const Table* users = find_table(report, "users");
  ASSERT_NE(users, nullptr);
  EXPECT_EQ(users->columns.back().key, "all_gpu_hours");
  EXPECT_NEAR(number_of(users->rows[0].back()), 80 + 800.0 / 3600, 1e-9);
  for (const Table& table : report.tables) {
    EXPECT_EQ(table.counts.empty(), table.id == "funnel") << table.id;
    EXPECT_TRUE(table.text.starts_with(table.counts)) << table.id;
  }
  EXPECT_EQ(find_table(report, "waits")->counts, "counts all jobs that ran");
  EXPECT_EQ(find_table(report, "table2_walltime")->counts, "counts the jobs analysed");
}

TEST(Report, HeadDaysAndHoursAreInTheZoneOfTheSite) {
  TestPopulation tokyo = jobs();
  tokyo.rules.zone = "+09:00";
  tokyo.rules.time_zone = base::TimeZone::load("+09:00").value();
  const ReportData report =
      analyse(tokyo.population, tokyo.rules, Labels(Language::English), nullptr,
              {.cluster = {}, .folder = {}, .site = "abci", .date = "2020-02-03"});
  // 2020-01-01 00:00 UTC, a Wednesday, is 09:00 there.
  EXPECT_EQ(
      report.title,
      "Analysis of the job history: abci, 2020-01-01 to 2020-01-01 (+09:00), made 2020-02-03");
  EXPECT_EQ(report.head.zone, "+09:00");
  const Figure* arrivals = find_figure(report, "arrivals");
  ASSERT_NE(arrivals, nullptr);
  EXPECT_EQ(arrivals->x.key, "hour_local");
  EXPECT_EQ(arrivals->series[2].y[9], 7);
  EXPECT_EQ(find_figure(jobs().report(), "arrivals")->series[2].y[0], 7);
  // 20:00 to 04:00 UTC is one day in Tokyo, and two in UTC.
  TestPopulation night = population_of(
      "job_id,user,submit_unix_s,start_unix_s,end_unix_s,num_gpus\n"
      "1,u,1577908800,1577908800,1577937600,4\n");
  EXPECT_EQ(find_table(night.report(), "gpus_held")->rows.size(), 2U);
  night.rules.time_zone = tokyo.rules.time_zone;
  const ReportData there = night.report();
  ASSERT_EQ(find_table(there, "gpus_held")->rows.size(), 1U);
  EXPECT_EQ(text_of(find_table(there, "gpus_held")->rows[0][0]), "2020-01-02");
}

TEST(Report, DaysOnWhichNothingRanAreDays) {
  // A whole day of 4 GPUs, nine days of nothing, a whole day of 7.
  constexpr std::string_view kTwo =
      "job_id,user,submit_unix_s,start_unix_s,end_unix_s,num_gpus\n"
      "1,u,1577836800,1577836800,1577923200,4\n"
      "2,u,1578700800,1578700800,1578787200,7\n";
  const core::model::Cluster site = core::model::make_preset("1x8").value();
  const ReportData report = population_of(kTwo, {}, &site).report();
  EXPECT_EQ(number_of(scalar_of(report, "mean_gpus_held")), 1);
  EXPECT_EQ(number_of(scalar_of(report, "mean_held_share")), 12.5);
  const Table* days = find_table(report, "gpus_held");
  ASSERT_NE(days, nullptr);
  ASSERT_EQ(days->rows.size(), 11U);
  EXPECT_EQ(text_of(days->rows[1][0]), "2020-01-02");
  EXPECT_EQ(number_of(days->rows[1][1]), 0);
  EXPECT_EQ(find_figure(report, "gpus_held")->series[0].y.size(), 11U);
}

TEST(Report, ADateThatIsWrongAddsNoDays) {
  const ReportData report = population_of(
                                "job_id,user,submit_unix_s,start_unix_s,end_unix_s,num_gpus\n"
                                "1,u,86400,86400,172800,4\n"
                                "2,u,1578700800,1578700800,1578787200,8\n")
                                .report();
  EXPECT_EQ(find_table(report, "gpus_held")->rows.size(), 2U);
  EXPECT_EQ(number_of(scalar_of(report, "mean_gpus_held")), 6);
}

TEST(Report, UsersComeByGpuHours) {
  const ReportData report = jobs().report();
  const Table* users = find_table(report, "users");
  ASSERT_NE(users, nullptr);
  ASSERT_EQ(users->rows.size(), 2U);
  EXPECT_EQ(text_of(users->rows[0][0]), "bob");
  EXPECT_EQ(number_of(users->rows[0][3]), 80);
  EXPECT_EQ(number_of(users->rows[1][3]), 1 + 2 + 2 + 4);
  Rules rules;
  rules.hide_users = true;
  const Table hidden = *find_table(population_of(kJobs, rules, &abci()).report(), "users");
  EXPECT_EQ(text_of(hidden.rows[0][0]), "user-2");
}

TEST(Report, NothingToTellIsSaidNotDrawn) {
  const ReportData report =
      population_of("job_id,submit_time,duration,num_gpus,user\n1,0,100,1,u\n").report();
  EXPECT_EQ(number_of(scalar_of(report, "analysed_jobs")), 0);
  for (const char* id : {"table2_walltime", "waits", "outcomes", "spearman", "exceedance"}) {
    EXPECT_NE(find_absent(report, id), nullptr) << id;
    EXPECT_EQ(find_figure(report, id), nullptr) << id;
  }
  EXPECT_THAT(terminal_summary(report, Labels(Language::English)), HasSubstr("no job is left"));
  constexpr size_t kWidth = 70;
  const std::string narrow = terminal_summary(report, Labels(Language::English), kWidth);
  size_t rules_lines = 0;
  for (size_t at = 0, end = 0; (end = narrow.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string line = narrow.substr(at, end - at);
    if (!line.starts_with("  rule ")) continue;
    ++rules_lines;
    EXPECT_LE(line.size(), kWidth) << line;
  }
  EXPECT_GT(rules_lines, 1U) << "the table of rules is wider than this terminal";
}

TEST(Report, JsonHasTheFieldsOfItsSchema) {
  const auto json = nlohmann::json::parse(report_json(jobs().report()));
  EXPECT_EQ(json["schema"], "goban-analysis/1");
  std::set<std::string> sections;
  for (const auto& section : json["sections"]) sections.insert(section["key"].get<std::string>());
  for (const char* list : {"scalars", "tables", "figures", "absent"}) {
    ASSERT_TRUE(json[list].is_array()) << list;
    for (const auto& item : json[list]) {
      EXPECT_TRUE(sections.contains(item["section"].get<std::string>())) << item.dump();
    }
  }
  for (const auto& table : json["tables"]) {
    for (const auto& row : table["rows"]) {
      EXPECT_EQ(row.size(), table["columns"].size()) << table["id"];
    }
  }
  for (const auto& figure : json["figures"]) {
    const bool by_category = figure["kind"] == "bar" || figure["kind"] == "stacked-bar" ||
                             figure["kind"] == "heatmap" || figure["kind"] == "box";
    for (const auto& series : figure["series"]) {
      if (figure["kind"] == "box") {
        EXPECT_EQ(series["boxes"].size(), figure["categories"].size()) << figure["id"];
      } else if (by_category) {
        EXPECT_EQ(series["y"].size(), figure["categories"].size()) << figure["id"];
      } else {
        EXPECT_EQ(series["y"].size(), series["x"].size()) << figure["id"];
      }
    }
  }
}

TEST(Report, TableOneIsWhatAbciOffers) {
  const ReportData report = jobs().report();
  const Table* table = find_table(report, "table1_resource_types");
  ASSERT_NE(table, nullptr);
  // GPUs, cores, GiB, GiB of SSD, maximum instances, hours: Table 1 of the ABCI paper.
  const std::map<std::string, std::vector<double>> offered = {
      {"Full", {4, 40, 360, 1440, 512, 72}}, {"G.large", {4, 20, 240, 720, 1, 72}},
      {"G.small", {1, 5, 60, 180, 1, 168}},  {"C.large", {0, 20, 120, 720, 1, 72}},
      {"C.small", {0, 5, 30, 180, 1, 168}},
  };
  ASSERT_EQ(table->rows.size(), offered.size());
  for (const auto& [name, values] : offered) {
    const auto* row = row_named(*table, name);
    ASSERT_NE(row, nullptr) << name;
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(number_of((*row)[i + 1]), values[i]) << name << " " << table->columns[i + 1].key;
    }
  }
  EXPECT_EQ(number_of(row_named(*table, "Full")->back()), 4);
  EXPECT_EQ(number_of(row_named(*table, "C.large")->back()), 0) << "nobody ran there";
  // Without a cluster the values come from the records, which have no maximum of instances.
  const Table seen = *find_table(population_of(kJobs).report(), "table1_resource_types");
  EXPECT_EQ(seen.rows.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<std::monostate>((*row_named(seen, "Full"))[5]));
}

TEST(Report, NumbersSayOfHowManyRecordsTheyAreMade) {
  const ReportData report = jobs().report();
  const auto submitters = std::ranges::find(report.scalars, "submitters", &Scalar::key);
  ASSERT_NE(submitters, report.scalars.end());
  EXPECT_EQ(submitters->quality.used, 2);
  EXPECT_THAT(scalars_csv(report), HasSubstr("\nsubmitters,2,,389,2,2\n"));
}

TEST(Report, EqualInputsGiveEqualBytes) {
  EXPECT_EQ(report_json(jobs().report()), report_json(jobs().report()));
}

TEST(Writers, CsvQuotesAndLeavesUnknownEmpty) {
  Table table;
  table.columns = {{"a", "A", ""}, {"b_h", "B", "h"}};
  table.rows = {{std::string("x,\"y\""), Cell()}, {std::string("z"), 1.5}};
  EXPECT_EQ(table_csv(table), "a,b_h\n\"x,\"\"y\"\"\",\nz,1.5\n");
  table.rows = {{std::string("=1+1"), -2.5}, {std::string("-7"), Cell()}};
  EXPECT_EQ(table_csv(table), "a,b_h\n'=1+1,-2.5\n-7,\n") << "a name is no formula";
}

TEST(RulesFile, ReadsWhatItShows) {
  const auto rules = parse_rules(
      "arrays = \"first\"\nnode_bins = [1, 2, 16]\n[period]\nfrom = \"2019-04-05\"\n"
      "to = \"2020-04-01\"\nby = \"submit\"\n[exclude]\nreservations = [\"gc*\"]\n"
      "[conditions]\nrun_min = \"10min\"\nbusy_at = 10\nsigma = \"n-1\"\n[spearman]\nx = \"bin\"\n",
      "r.toml");
  ASSERT_TRUE(rules) << rules.error().text();
  EXPECT_EQ(rules->arrays, Arrays::First);
  EXPECT_EQ(rules->node_bins, (std::vector<int32_t>{1, 2, 16}));
  EXPECT_EQ(rules->period.from_ns, 1'554'422'400 * base::kSecond);
  EXPECT_EQ(rules->period.by, PeriodBy::Submit);
  EXPECT_EQ(rules->exclude.reservations, (std::vector<std::string>{"gc*"}));
  EXPECT_EQ(rules->run_min_ns, 600 * base::kSecond);
  EXPECT_EQ(rules->use.busy_at_pct, 10);
  EXPECT_EQ(rules->use.trim.sigma, base::statistics::SigmaRule::Sample);
  EXPECT_TRUE(rules->spearman.by_bin_index);
}

TEST(RulesFile, RefusesWithPlaceAndRemedy) {
  const auto error = [](std::string_view toml) {
    const auto rules = parse_rules(toml, "r.toml");
    return rules ? std::string("fine") : rules.error().text();
  };
  EXPECT_EQ(error("arrays = \"task\"\n"),
            "r.toml:1:10: arrays: unknown value \"task\" (known values: tasks, first)");
  EXPECT_THAT(error("[period]\nfrom = \"yesterday\"\n"), HasSubstr("r.toml:2:8: period.from"));
  EXPECT_THAT(error("[conditons]\n"), HasSubstr("did you mean conditions?"));
  EXPECT_THAT(error("node_bins = [4, 2]\n"), HasSubstr("must be ascending"));
}

}  // namespace
}  // namespace goban::site::analysis
