// The members of a report document on power and on pairs of applications.
#include "study/results/energy_document.hpp"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "core/knowledge/colocation/colocation_file.hpp"
#include "core/knowledge/energy/power_presets.hpp"
#include "core/model/cluster_presets.hpp"
#include "core/policy/make_knowledge.hpp"
#include "study/results/column.hpp"
#include "study/results/service_metrics.hpp"

namespace goban::study::results {
namespace {

using base::from_seconds;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kMeasured =
    "gpu_type,members,slowdowns\n"
    "V100,a@batch 16,\nV100,a@batch 2,\nV100,<b>,\n"
    "V100,a@batch 2 + <b>,1.25 + 1.4\n"
    "V100,a@batch 16 + a@batch 16,1.5 + 1.5\n"
    "V100,<b> + <b>,never\n"
    "P100,a@batch 2 + <b>,3 + 3\n"
    "K80,a@batch 2 + <b>,4 + 4\n";  // not a GPU of the cluster

/// A column of these values.
json column(std::vector<float> values) { return json::parse(float_column(values)); }

class EnergyDocumentTest : public testing::Test {
 protected:
  EnergyDocumentTest() {
    cluster_ = core::model::make_preset("1x2:V100+1x2:P100").value();
    rows_ = heat_rows(cluster_, 16);
    add(100, 4, "a", 2);
    add(110, 4, "<b>", 0);
    input_.cluster = &cluster_;
    input_.history = &history_;
    input_.rows = &rows_;
  }

  void add(double submit_s, int32_t gpus, const char* model, int32_t batch) {
    core::model::Job job;
    job.request.submit_ns = from_seconds(submit_s);
    job.request.num_gpus = gpus;
    job.request.model = core::model::ModelId(history_.models.intern(model));
    job.work_s = 7200;
    history_.job_names.add(std::to_string(history_.jobs.size()));
    history_.jobs.push_back(job);
    history_.training.push_back(
        {.gpu_mem_bytes = 1'000'000'000, .gpu_util_pct = 30, .batch_size = batch});
  }

  void know(const char* colocation, bool power) {
    core::policy::KnowledgeSources sources;
    if (colocation != nullptr) {
      sources.colocation = core::knowledge::parse_colocation(colocation, "h.csv").value();
    }
    if (power) sources.power = core::knowledge::make_power_presets("p100,v100").value();
    knowledge_ = std::make_shared<core::policy::SiteKnowledge>(
        core::policy::make_knowledge(std::move(sources), cluster_, history_).value().knowledge);
    input_.knowledge = knowledge_.get();
  }

  void run(const char* policy) {
    simulator::SimulationOptions options;
    options.knowledge = knowledge_;
    recorders_.push_back(std::make_unique<RunRecorder>(history_, rows_, nullptr));
    options.observer = recorders_.back().get();
    pairs_.push_back(std::make_unique<PairRecorder>(cluster_, options.observer));
    options.observer = pairs_.back().get();
    ReportRun& run = input_.runs.emplace_back();
    run.recorder = recorders_.back().get();
    run.pairs = pairs_.back().get();
    if (!knowledge_->power.empty()) {
      energy_.push_back(std::make_unique<EnergyRecorder>(history_, cluster_, knowledge_, false,
                                                         options.observer));
      options.observer = energy_.back().get();
      run.energy = energy_.back().get();
    }
    const auto scores = core::knowledge::PmScores::uniform(cluster_.num_gpus());
    const core::knowledge::LocalityPenalties penalties(cluster_, 1.0);
    results_.push_back(simulator::simulate(history_, {&cluster_, &scores, &penalties},
                                           core::policy::compose(policy).value(), options)
                           .value());
    RunMetrics metrics = measure(policy, history_, 4, results_.back());
    metrics.service = measure_service(history_, results_.back(), nullptr);
    if (run.energy != nullptr) {
      metrics.energy = energy_metrics(run.energy->account(), history_.jobs.size());
    }
    input_.comparison.runs.push_back(metrics);
    for (size_t i = 0; i < results_.size(); ++i) input_.runs[i].result = &results_[i];
  }

  core::model::Cluster cluster_;
  core::model::JobHistory history_;
  HeatRows rows_;
  std::shared_ptr<core::policy::SiteKnowledge> knowledge_;
  std::vector<std::unique_ptr<RunRecorder>> recorders_;
  std::vector<std::unique_ptr<PairRecorder>> pairs_;
  std::vector<std::unique_ptr<EnergyRecorder>> energy_;
  std::vector<simulator::SimulationResult> results_;
  ReportInput input_;
};

TEST_F(EnergyDocumentTest, NothingIsThereWithoutKnowledge) {
  knowledge_ =
      std::make_shared<core::policy::SiteKnowledge>(core::policy::SiteKnowledge::none(cluster_));
  run("fifo+packed");
  EXPECT_EQ(power_json(input_), "");
  EXPECT_EQ(colocation_json(input_), "");
  const json document = json::parse(report_document(input_));
  EXPECT_FALSE(document.contains("energy"));
  EXPECT_FALSE(document.contains("colocation"));
}

TEST_F(EnergyDocumentTest, WattsAloneMakeNoMatrix) {
  know(nullptr, true);
  run("fifo+packed");
  EXPECT_NE(power_json(input_), "");
  EXPECT_EQ(colocation_json(input_), "");
}

TEST_F(EnergyDocumentTest, PowerHasOneWidthForAllRunsAndFewPoints) {
  know(nullptr, true);
  run("fifo+packed");
  run("las+packed");
  const json energy = json::parse(power_json(input_));
  ASSERT_EQ(energy["runs"].size(), 2U);
  // Two jobs of 7,200 s one after the other: 14,400 s and at most 720 points.
  EXPECT_EQ(energy["step_s"], 30);
  const double end_s = base::to_seconds(results_[0].end_ns) - 100;
  EXPECT_EQ(energy["runs"][0]["end_s"], end_s);
  EXPECT_EQ(energy["runs"][0]["power_w"]["count"], static_cast<int>(std::ceil(end_s / 30)));
  EXPECT_EQ(energy["runs"][1]["power_w"]["type"], "f32");
  EXPECT_EQ(power_json(input_), power_json(input_)) << "asking again changes nothing";
}

TEST_F(EnergyDocumentTest, PowerIsThatOfTheAccount) {
  know(nullptr, true);
  run("fifo+packed");
  static_cast<void>(power_json(input_));  // brings the bins to one width
  const TimeBins& power = energy_[0]->power();
  const TimeNs end_ns = results_[0].end_ns;
  double joules = 0;
  for (size_t bin = 0; bin < power.bins_until(end_ns); ++bin) {
    const TimeNs from = from_seconds(100) + static_cast<TimeNs>(bin) * power.width_ns();
    joules +=
        power.mean(0, bin, end_ns) * base::to_seconds(std::min(power.width_ns(), end_ns - from));
  }
  const json figures = json::parse(figures_json(input_.comparison, 0));
  EXPECT_NEAR(joules / 3.6e6, figures["energy_kwh"]["D"].get<double>(), 1e-9);
}

TEST_F(EnergyDocumentTest, MatrixOfPairsByGpuTypeOfTheCluster) {
  know(kMeasured, false);
  run("fifo+packed");
  const json matrix = json::parse(colocation_json(input_));
  EXPECT_EQ(matrix["apps"], json({"<b>", "a@batch 2", "a@batch 16"})) << "2 goes before 16";
  EXPECT_EQ(matrix["jobs"], json({1, 1, 0}));
  EXPECT_EQ(matrix["left_out"], 0);
  ASSERT_EQ(matrix["gpu_types"].size(), 2U) << "the cluster has no K80";
  EXPECT_EQ(matrix["gpu_types"][0]["name"], "V100");
  EXPECT_EQ(matrix["gpu_types"][0]["slowdown"], column({-1, 1.4F, 0, 1.25, 0, 0, 0, 0, 1.5}));
  EXPECT_EQ(matrix["gpu_types"][1]["slowdown"], column({0, 3, 0, 3, 0, 0, 0, 0, 0}));
  EXPECT_EQ(matrix["gpu_types"][0]["together_h"][0], column(std::vector<float>(9)));
}

TEST_F(EnergyDocumentTest, MatrixTellsWhoMet) {
  cluster_ = core::model::make_preset("2x2:V100").value();
  rows_ = heat_rows(cluster_, 16);
  know(kMeasured, false);
  run("fifo+packed");
  run("best-pair");
  const json type = json::parse(colocation_json(input_))["gpu_types"][0];
  EXPECT_EQ(type["together_h"][0], column(std::vector<float>(9))) << "one after the other";
  // a is alone for 10 s and then slowed by 1.25 until it ends, on 4 GPUs.
  const auto hours = static_cast<float>(4 * 7190 * 1.25 / 3600);
  EXPECT_EQ(type["together_h"][1], column({0, hours, 0, hours, 0, 0, 0, 0, 0}));
}

TEST_F(EnergyDocumentTest, MatrixKeepsTheApplicationsOfMostJobs) {
  std::string measured = "gpu_type,members,slowdowns\n";
  for (int i = 0; i < 60; ++i) {
    measured += fmt::format("V100,m@batch {0},\nV100,m@batch {0} + m@batch {0},1.5 + 1.5\n", i);
  }
  add(200, 1, "m", 59);
  know(measured.c_str(), false);
  run("fifo+packed");
  const json matrix = json::parse(colocation_json(input_));
  EXPECT_EQ(matrix["apps"].size(), kMatrixAppsMax);
  // Applications that were not measured are rows as well if jobs have them.
  EXPECT_EQ(matrix["left_out"], 62 - static_cast<int>(kMatrixAppsMax));
  EXPECT_EQ(matrix["apps"].back(), "m@batch 59");
  EXPECT_EQ(matrix["gpu_types"][0]["slowdown"]["count"], kMatrixAppsMax * kMatrixAppsMax);
}

TEST_F(EnergyDocumentTest, DocumentHoldsThemSafely) {
  know(kMeasured, true);
  run("fifo+packed");
  input_.comparison.runs[0].service->worst_user = "</script><b>";
  const std::string text = report_document(input_);
  EXPECT_THAT(text, Not(HasSubstr("<")));
  const json document = json::parse(text);
  EXPECT_EQ(document["version"], kSchemaVersion);
  EXPECT_EQ(document["energy"]["runs"].size(), 1U);
  EXPECT_EQ(document["colocation"]["apps"][0], "<b>");
  EXPECT_EQ(document["runs"][0]["figures"]["worst_user"], "</script><b>");
  EXPECT_TRUE(document["runs"][0]["figures"]["energy_kwh"].contains("D"));
}

}  // namespace
}  // namespace goban::study::results
