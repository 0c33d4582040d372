// Files of the rivals: what is read, and that errors name file, line and field.
#include "study/rivals/rival_files.hpp"

#include <gmock/gmock.h>

namespace goban::study::rivals {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename Read>
std::string refusal(const Read& read, const std::string& text) {
  const auto parsed = read(text, "f.csv");
  return parsed ? "" : parsed.error().text();
}

TEST(RivalFiles, Rates) {
  const std::string head = "model,batch_size,num_gpus,steps_per_s\n";
  const auto rates = parse_rates(head + "a,8,2,2.5\na,8,1,1.5\na,16,1,0\n", "f.csv");
  ASSERT_TRUE(rates) << rates.error().text();
  EXPECT_EQ(rates->find("a", 8, 2), 2.5);
  EXPECT_EQ(rates->find("a", 8, 4), std::nullopt);
  EXPECT_EQ(rates->find("a", 16, 1), std::nullopt);  // 0: could not be run
  EXPECT_THAT(rates->levels("a", 8), ElementsAre(1, 2));
  EXPECT_THAT(refusal(parse_rates, head + "a,8,1,1\na,8,1,2\n"),
              HasSubstr("f.csv:3:1: model: dup"));
  EXPECT_THAT(refusal(parse_rates, head + "a,8,1,-1\n"), HasSubstr("f.csv:2:7: steps_per_s: '-1'"));
  EXPECT_THAT(refusal(parse_rates, head + "a,8,0,1\n"), HasSubstr("f.csv:2:5: num_gpus: '0'"));
  EXPECT_THAT(refusal(parse_rates, head + ",8,1,1\n"), HasSubstr("f.csv:2:1: model: is empty"));
  EXPECT_THAT(refusal(parse_rates, head), HasSubstr("f.csv:1: no rows"));
  EXPECT_THAT(refusal(parse_rates, "model,batch_size\n"), HasSubstr("num_gpus"));
}

TEST(RivalFiles, ShockwaveTrace) {
  const std::string head =
      "job_id,model,batch_size,num_gpus,mode,total_steps,duration_s,submit_s\n";
  const auto jobs =
      parse_shockwave_trace(head + "0,LM,10,1,gns,100,5,0\n1,LM,80,2,static,9,5,7.5\n", "f.csv");
  ASSERT_TRUE(jobs) << jobs.error().text();
  ASSERT_EQ(jobs->size(), 2U);
  EXPECT_EQ((*jobs)[0].mode, BatchMode::GradientNoise);
  EXPECT_EQ((*jobs)[1].steps, 9);
  EXPECT_EQ((*jobs)[1].submit_s, 7.5);
  const auto row = [&head](const std::string& rows) {
    return refusal(parse_shockwave_trace, head + rows);
  };
  EXPECT_THAT(row("1,LM,10,1,gns,100,5,0\n"), HasSubstr("f.csv:2:1: job_id: '1' where job 0"));
  EXPECT_THAT(row("0,LM,10,1,fast,100,5,0\n"), HasSubstr("f.csv:2:11: mode: 'fast' is not a mode"));
  EXPECT_THAT(row("0,LM,10,1,gns,0,5,0\n"), HasSubstr("f.csv:2:15: total_steps: '0'"));
  EXPECT_THAT(row("0,LM,10,1,gns,9,5,3\n1,LM,10,1,gns,9,5,2\n"),
              HasSubstr("f.csv:3:19: submit_s: before that of the job before"));
}

TEST(RivalFiles, BatchSizes) {
  const std::string head = "model,batch_size,num_gpus,from_epoch,factor\n";
  const auto phases = parse_batch_sizes(head + "LM,5,1,3,2\nLM,5,1,9,4\n", "f.csv");
  ASSERT_TRUE(phases) << phases.error().text();
  EXPECT_EQ(phases->at({"LM", 5, 1}).size(), 2U);
  EXPECT_THAT(refusal(parse_batch_sizes, head + "LM,5,1,3,2\nLM,5,1,3,4\n"),
              HasSubstr("f.csv:3:8: from_epoch: not after"));
}

TEST(RivalFiles, ElasticFlowTrace) {
  const std::string head =
      "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration,best_effort\n";
  const auto jobs = parse_elasticflow_trace(head + "0,5,100,bert,900,64,1,50,0\n", "f.csv");
  ASSERT_TRUE(jobs) << jobs.error().text();
  EXPECT_EQ((*jobs)[0].deadline_s, 900);
  EXPECT_EQ((*jobs)[0].model, "bert");
  EXPECT_THAT(refusal(parse_elasticflow_trace, head + "0,5,100,bert,900,64,1,50,1\n"),
              HasSubstr("f.csv:2:26: best_effort: best-effort jobs"));
  EXPECT_THAT(refusal(parse_elasticflow_trace, head + "0,soon,100,bert,900,64,1,50,0\n"),
              HasSubstr("f.csv:2:3: submit_time: 'soon'"));
}

TEST(RivalFiles, Shares) {
  const auto record = parse_shares("[0.0, [[0, 0.5]]]\n[12.5, []]\n", "f.jsonl");
  ASSERT_TRUE(record) << record.error().text();
  EXPECT_EQ(record->sets.size(), 2U);
  EXPECT_THAT(record->take(0, 0, {0}).value(), ElementsAre(0.5));
  EXPECT_TRUE(record->check_end(2));
  EXPECT_THAT(record->check_end(1).error().text(), HasSubstr("f.jsonl:2"));
  for (const char* bad : {"[0, [[0, 2]]]", "[0]", "[0, [[0]]]", "{", "[0, [[-1, 1]]]", "\n"}) {
    const auto parsed = parse_shares(std::string("[0, []]\n") + bad + "\n", "f.jsonl");
    ASSERT_FALSE(parsed) << bad;
    EXPECT_THAT(parsed.error().text(), HasSubstr("f.jsonl:2")) << bad;
  }
}

}  // namespace
}  // namespace goban::study::rivals
