#include "study/results/failures_csv.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace goban::study::results {
namespace {

using core::model::JobId;

TEST(FailuresCsv, NamesWhoBrokeBesideWhom) {
  core::model::JobHistory history;
  for (const char* name : {"a", "b, again", "c"}) {
    core::model::Job job;
    job.request.model =
        core::model::ModelId(history.models.intern(name[0] == 'c' ? "vgg" : "alex"));
    history.jobs.push_back(job);
    history.job_names.add(name);
  }
  simulator::SimulationResult result;
  result.breakages = {{.at_ns = base::from_seconds(1.5),
                       .job = JobId(1U),
                       .beside = {JobId(0U), JobId(2U)},
                       .out_of_memory = true},
                      {.at_ns = base::from_seconds(7), .job = JobId(0U), .beside = {JobId(3U)}}};
  const std::string path = testing::TempDir() + "failures_csv_test.csv";
  ASSERT_TRUE(write_failures_csv(path, history, result));
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(),
            "at_s,job_id,model,beside_job_ids,beside_models,out_of_memory\n"
            "1.5,\"b, again\",alex,a c,alex vgg,yes\n"
            "7,a,alex,filler 3,,no\n");
  EXPECT_FALSE(write_failures_csv("/dev/null/failures.csv", history, result));
}

}  // namespace
}  // namespace goban::study::results
