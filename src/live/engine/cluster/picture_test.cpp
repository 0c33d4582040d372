#include "live/engine/cluster/picture.hpp"

#include <algorithm>
#include <gtest/gtest.h>

#include "base/random.hpp"

namespace goban::live::engine::cluster {
namespace {

/// Any picture of up to four nodes and eight jobs, with few values, so that much stays the same.
Picture random_picture(base::Random& random) {
  Picture picture;
  for (int node = 0; node < 4; ++node) {
    if (random.below(4) == 0) continue;
    picture.cluster.nodes.push_back({.name = "n" + std::to_string(node),
                                     .num_gpus = 4,
                                     .state = static_cast<SeenNodeState>(random.below(3))});
  }
  for (int id = 1; id <= 8; ++id) {
    JobSeen job{.id = std::to_string(id)};
    job.managed = random.below(2) == 0;
    job.state = static_cast<SeenState>(random.below(2));
    job.blocked = random.below(3) == 0 ? "QOSMaxJobsPerUserLimit" : "";
    job.spec.held = random.below(4) == 0;
    if (job.state == SeenState::Running) {
      job.run = {JobId{static_cast<uint32_t>(id)}, static_cast<uint32_t>(random.below(2))};
      job.parts = {{.node = "n1", .gpus = {static_cast<int32_t>(random.below(4))}}};
    }
    switch (random.below(3)) {
      case 0:
        break;
      case 1:
        picture.ended[job.id] = {.id = job.id, .how = GoneHow::Failed, .exit_code = id};
        break;
      default:
        picture.jobs[job.id] = job;
    }
  }
  return picture;
}

bool same(const Picture& a, const Picture& b) {
  return a.cluster == b.cluster && a.jobs.size() == b.jobs.size() &&
         std::ranges::equal(a.jobs, b.jobs, [](const auto& one, const auto& other) {
           return one.first == other.first && same_job(one.second, other.second);
         });
}

TEST(Picture, JobsAppearInTheOrderOfTheirSubmissionAndOfTheirNumbers) {
  Picture picture;
  for (const char* id : {"9", "10", "11_9", "11_10", "100", "a/x", "2"}) {
    JobSeen job{.id = id};
    job.submit_ns = job.id == "2" ? 7 : 5;
    picture.jobs[id] = job;
  }
  std::vector<std::string> order;
  for (const EngineEvent& event : diff({}, picture)) {
    order.push_back(std::get<JobSeen>(event).id);
  }
  const std::vector<std::string> expected = {"9", "10", "11_9", "11_10", "100", "a/x", "2"};
  EXPECT_EQ(order, expected);
}

TEST(Picture, DifferencesLeadFromEachPictureToTheNext) {
  base::Random random(15);
  Picture receiver;
  Picture before;
  for (int step = 0; step < 5000; ++step) {
    const Picture after = random_picture(random);
    const std::vector<EngineEvent> events = diff(before, after);
    std::map<std::string, int> told;
    for (const EngineEvent& event : events) {
      if (const auto* gone = std::get_if<JobGone>(&event)) {
        ++told[gone->id];
        EXPECT_TRUE(before.jobs.contains(gone->id));
        const bool known = after.ended.contains(gone->id);
        EXPECT_EQ(gone->how, known ? GoneHow::Failed : GoneHow::Unknown);
        EXPECT_EQ(gone->exit_code, known ? std::stoi(gone->id) : -1);
      }
      if (const auto* seen = std::get_if<JobSeen>(&event)) ++told[seen->id];
      apply(receiver, event);
    }
    for (const auto& [id, times] : told) EXPECT_EQ(times, 1) << "each job once: " << id;
    ASSERT_TRUE(same(receiver, after)) << "step " << step;
    EXPECT_TRUE(diff(after, after).empty());
    before = after;
  }
}

}  // namespace
}  // namespace goban::live::engine::cluster
