// Compares with outputs of other programs: PAL's artifact, decision by decision, and strict FIFO
// results on which independent simulators agreed. Skipped if the data folder is absent.
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/csv.hpp"
#include "base/number.hpp"
#include "base/test_data.hpp"
#include "base/text_file.hpp"
#include "core/model/cluster_presets.hpp"
#include "site/inputs/inputs.hpp"
#include "study/history/fillers.hpp"
#include "study/history/job_reader.hpp"
#include "study/results/decision_log.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study {
namespace {

struct Reference {
  std::string trace;
  std::string order;      ///< Fifo or Las
  std::string placement;  ///< as in the file name
  bool decisions = true;
};

std::ostream& operator<<(std::ostream& out, const Reference& reference) {
  return out << reference.trace << ' ' << reference.order << ' ' << reference.placement;
}

std::string preset_of(const std::string& placement) {
  if (placement == "PAL") return "pal-artifact";
  if (placement == "PMFirst") return "pm-first-artifact";
  return placement == "Default-Packed-S" ? "packed-sticky-artifact" : "packed-nonsticky-artifact";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    std::erase(line, ' ');
    if (!line.empty()) lines.push_back(line);
    begin = end + 1;
  }
  return lines;
}

class ArtifactTest : public testing::TestWithParam<Reference> {};

TEST_P(ArtifactTest, EveryDecisionAndEveryJctAreEqual) {
  const Reference& reference = GetParam();
  const auto folder = base::test_data("pal/reference");
  const auto trace = base::test_data(fmt::format("pal/traces/{}.csv", reference.trace));
  if (!folder) GTEST_SKIP() << folder.error().text();
  if (!trace) GTEST_SKIP() << trace.error().text();
  const std::string stem = fmt::format("{}/{}_{}_{}_lp1.7", *folder, reference.trace,
                                       reference.order, reference.placement);

  const core::model::Cluster cluster = core::model::make_preset("sia-64").value();
  history::ReadOptions read;
  read.cluster = &cluster;
  const auto jobs = history::read_jobs(*trace, read).value();
  ASSERT_EQ(jobs.rejected, 0);
  const auto scores =
      site::inputs::read_scores(*folder + "/gpu_scores_16x4_binned_code_K2.csv", 64).value();
  const auto fillers =
      history::FillerSource::read(*folder + "/replay_interarrivals_seed1_load2.csv").value();
  const auto order =
      reference.order == "Las" ? std::optional<std::string_view>("las") : std::nullopt;
  const auto composition = core::policy::compose(preset_of(reference.placement), order).value();
  const core::knowledge::LocalityPenalties penalties(cluster,
                                                     composition.settings.locality_penalty);
  const std::string log_path = testing::TempDir() + "goban_decisions_" +
                               std::to_string(GetParam().trace.back()) + GetParam().order +
                               GetParam().placement;
  std::filesystem::create_directories(std::filesystem::path(log_path).parent_path());
  results::DecisionLog log(base::OutputFile::create(log_path).value(),
                           base::from_seconds(composition.settings.round_s));
  simulator::SimulationOptions options;
  options.settings = composition.settings;
  options.fillers = [&](size_t k) { return fillers.job(k, jobs.history); };
  options.observer = &log;
  const auto result =
      simulator::simulate(jobs.history, {&cluster, &scores, &penalties}, composition, options);
  ASSERT_TRUE(result) << result.error().text();
  ASSERT_TRUE(log.commit());

  const std::string jct_file = stem + (reference.decisions ? ".jobs.csv" : ".csv");
  const std::string jct_text = base::read_text_file(jct_file).value();
  base::CsvReader csv(jct_text, jct_file);
  const size_t jct = csv.require("jct").value();
  size_t index = 0;
  for (; csv.next(); ++index) {
    const simulator::JobOutcome& outcome = result->outcomes.at(index);
    const base::TimeNs mine = outcome.finish_ns - jobs.history.jobs[index].request.submit_ns;
    EXPECT_EQ(base::to_seconds(mine), base::parse_double(csv.field(jct))) << "job " << index;
  }
  EXPECT_EQ(index, result->outcomes.size());

  if (!reference.decisions) return;
  const auto expected = lines_of(base::read_text_file(stem + ".decisions.jsonl.gz").value());
  const auto actual = lines_of(base::read_text_file(log_path).value());
  std::filesystem::remove(log_path);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t round = 0; round < expected.size(); ++round) {
    ASSERT_EQ(actual[round], expected[round]) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(References, ArtifactTest,
                         testing::Values(Reference{"workload-1", "Fifo", "PAL"},
                                         Reference{"workload-1", "Fifo", "PMFirst"},
                                         Reference{"workload-1", "Fifo", "Default-Packed-S"},
                                         Reference{"workload-1", "Fifo", "Default-Packed-NS"},
                                         Reference{"workload-1", "Las", "PAL"},
                                         Reference{"workload-1", "Las", "Default-Packed-S"},
                                         Reference{"workload-3", "Fifo", "PAL"},
                                         Reference{"workload-3", "Fifo", "PMFirst"},
                                         Reference{"workload-3", "Fifo", "Default-Packed-S"},
                                         Reference{"workload-4", "Fifo", "PAL", false},
                                         Reference{"workload-4", "Fifo", "PMFirst", false},
                                         Reference{"workload-4", "Fifo", "Default-Packed-S", false},
                                         Reference{"workload-4", "Fifo", "Default-Packed-NS",
                                                   false}),
                         [](const auto& each) {
                           std::string name =
                               each.param.trace + each.param.order + each.param.placement;
                           std::erase(name, '-');
                           return name;
                         });

TEST(StrictFifo, AgreesWithIndependentSimulators) {
  const auto path = base::test_data("sim/fifo-10k.csv");
  if (!path) GTEST_SKIP() << path.error().text();
  const core::model::Cluster cluster = core::model::make_preset("32x8").value();
  history::ReadOptions read;
  read.cluster = &cluster;
  const auto jobs = history::read_jobs(*path, read).value();
  ASSERT_EQ(jobs.history.jobs.size(), 10000u);
  const core::knowledge::PmScores scores = core::knowledge::PmScores::uniform(cluster.num_gpus());
  struct Answer {
    const char* policy;
    double wait_s;
    double jct_s;
  };
  // Results of independent simulators, rounded to 0.01 s.
  for (const Answer& answer : {Answer{"fifo-packed-strict", 6.52, 1929.37},
                               Answer{"fifo-fungible-strict", 1.44, 1924.29}}) {
    const auto composition = core::policy::compose(answer.policy).value();
    const core::knowledge::LocalityPenalties penalties(cluster,
                                                       composition.settings.locality_penalty);
    simulator::SimulationOptions options;
    options.settings = composition.settings;
    const auto result =
        simulator::simulate(jobs.history, {&cluster, &scores, &penalties}, composition, options);
    ASSERT_TRUE(result) << result.error().text();
    double jct_s = 0;
    double held_s = 0;
    for (size_t i = 0; i < result->outcomes.size(); ++i) {
      const simulator::JobOutcome& outcome = result->outcomes[i];
      jct_s += base::to_seconds(outcome.finish_ns - jobs.history.jobs[i].request.submit_ns);
      held_s += base::to_seconds(outcome.held_ns);
    }
    EXPECT_NEAR(jct_s / 10000, answer.jct_s, 0.00501) << answer.policy;
    EXPECT_NEAR((jct_s - held_s) / 10000, answer.wait_s, 0.00501) << answer.policy;
  }
}

}  // namespace
}  // namespace goban::study
