// What a gang keeps until its pods have ended: of another state folder, deleted, or with other
// labels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/engine/kubernetes/test_gang_world.hpp"

namespace goban::live::engine::kubernetes {
namespace {

using cluster::Stand;
using testing::ElementsAre;

TEST(KubernetesKeptGangs, WhatAnotherStateFolderPlacedIsAdopted) {
  World world;
  world.job("a", 2);
  for (const char* name : {"a-0", "a-1"}) World::bind(world.pod(name, 1, "a"), "n1", "0");
  world.objects.pods.at("ml/a-1").meta.notes[std::string(kGpusNote)] = "1";
  const Rules later{.mode = Mode::All, .first_epoch = 2};
  const auto gangs = gangs_of(world.objects, later);
  const Gang& gang = gangs.begin()->second;
  EXPECT_TRUE(gang.is_foreign);
  EXPECT_FALSE(gang.is_marked) << "its run is a number of another book";
  const View view = view_of(world.objects, gangs, later, {}, {});
  EXPECT_EQ(view.stands.at(gang.id).stand, Stand::Running);
  EXPECT_FALSE(view.picture.jobs.at(gang.id).run.job.valid());
  EXPECT_TRUE(gangs_of(world.objects, kAll).begin()->second.is_marked);
}

TEST(KubernetesKeptGangs, WhatAnotherStateFolderLeftInPartsHoldsItsGpusUntilItIsGone) {
  World world;
  world.job("a", 2);
  World::bind(world.pod("a-0", 1, "a"), "n1", "0");
  world.pod("a-1", 1, "a");
  const Rules later{.mode = Mode::All, .first_epoch = 2};
  const auto gangs = gangs_of(world.objects, later);
  const View view = view_of(world.objects, gangs, later, {}, {});
  EXPECT_TRUE(gangs.begin()->second.is_left()) << "it is taken back";
  ASSERT_EQ(view.picture.jobs.size(), 1U);
  const JobSeen& left = view.picture.jobs.begin()->second;
  EXPECT_EQ(left.state, SeenState::Running);
  EXPECT_THAT(left.parts.front().gpus, ElementsAre(0));
  world.objects.pods.erase("ml/a-1");  // its Job was suspended, or deleted
  world.objects.pods.at("ml/a-0").meta.deleting = true;
  const auto leaving = gangs_of(world.objects, later);
  EXPECT_FALSE(leaving.begin()->second.is_left());
  const View still = view_of(world.objects, leaving, later, view.picture, {});
  EXPECT_EQ(still.stands.begin()->second.stand, Stand::Running);
  EXPECT_EQ(still.picture.jobs.size(), 1U);
}

TEST(KubernetesKeptGangs, OneThatWasWholeIsNotTakenBackForThoseThatFollow) {
  World world;
  const auto add = [&](const char* name) -> Pod& {
    Pod& pod = world.pod(name, 1);
    pod.meta.labels = {{std::string(kGangLabel), "g"}, {std::string(kGangSizeLabel), "2"}};
    return pod;
  };
  World::bind(add("a"), "n1", "0", 1, Phase::Failed);
  World::bind(add("b"), "n1", "1");
  for (const char* name : {"c", "d"}) add(name);
  const Rules later{.mode = Mode::All, .first_epoch = 2};
  const auto gangs = gangs_of(world.objects, later);
  ASSERT_EQ(gangs.size(), 1U);
  EXPECT_FALSE(gangs.begin()->second.is_left());
  EXPECT_EQ(gangs.begin()->second.pods.size(), 1U) << "the others are the next job";
}

// kubectl delete job --cascade=orphan, and labels that a user changes.
TEST(KubernetesKeptGangs, APodThatRunsStaysWithItsRunWhateverBecomesOfItsOwnerAndLabels) {
  World world;
  world.job("train", 2);
  for (const char* name : {"a", "b"}) World::bind(world.pod(name, 2, "train"), "n1", "0,1");
  const KnownRuns runs{.latest = {{kGang, {JobId(5U), 1}}}, .started = {{kGang, {JobId(5U), 1}}}};
  const auto view = [&](const cluster::Picture& told) {
    return view_of(world.objects, gangs_of(world.objects, kAll, runs), kAll, told, runs.started);
  };
  const cluster::Picture told = view({}).picture;
  world.objects.works.clear();
  for (const char* name : {"ml/a", "ml/b"}) {
    Pod& pod = world.objects.pods.at(name);
    pod.owner_kind = pod.owner_name = pod.owner_uid = "";
    pod.meta.labels = {{std::string(kGangLabel), "new"}};
  }
  const View after = view(told);
  ASSERT_EQ(after.picture.jobs.size(), 1U);
  EXPECT_TRUE(after.picture.ended.empty());
  const JobSeen& seen = after.picture.jobs.at(kGang);
  EXPECT_EQ(seen.state, SeenState::Running);
  EXPECT_EQ(seen.parts, told.jobs.at(kGang).parts);
  EXPECT_EQ(seen.spec.num_gpus, 4);
  EXPECT_FALSE(seen.spec.requeue) << "nobody would make its pods again";
  for (auto& [key, pod] : world.objects.pods) pod.phase = Phase::Succeeded;
  EXPECT_EQ(view(told).picture.ended.at(kGang).how, GoneHow::Completed);
}

TEST(KubernetesKeptGangs, PodsThatItsUserMadeAnewAreTheNextJob) {
  World world;
  const auto add = [&](const char* name) -> Pod& {
    Pod& pod = world.pod(name, 1);
    pod.meta.labels = {{std::string(kGangLabel), "g"}, {std::string(kGangSizeLabel), "1"}};
    return pod;
  };
  Pod& old = add("a");
  World::bind(old, "n1", "0");
  const KnownRuns runs{.latest = {{"ml/g", {JobId(5U), 1}}}, .started = {{"ml/g", {JobId(5U), 1}}}};
  const auto view = [&](const cluster::Picture& told) {
    return view_of(world.objects, gangs_of(world.objects, kAll, runs), kAll, told, runs.started);
  };
  const cluster::Picture told = view({}).picture;
  old.meta.deleting = true;
  add("b");
  EXPECT_EQ(view(told).picture.jobs.at("ml/g").state, SeenState::Running);
  world.objects.pods.erase("ml/a");
  const View gone = view(told);
  EXPECT_EQ(gone.picture.ended.at("ml/g").how, GoneHow::Cancelled);
  EXPECT_TRUE(gone.picture.jobs.empty()) << "the next one is told when this one has ended";
  EXPECT_EQ(world.view().picture.jobs.at("ml/g").state, SeenState::Waiting);
}

TEST(KubernetesKeptGangs, ADeletedPodIsCancelledWhicheverIsSeenFirst) {
  World world;
  Pod& pod = world.pod("a", 1);
  World::bind(pod, "n1", "0");
  pod.phase = Phase::Failed;
  pod.signal = 15;
  const auto how = [&] { return world.view().picture.ended.at("ml/a/uid-a").how; };
  EXPECT_EQ(how(), GoneHow::Failed);
  pod.meta.deleting = true;
  EXPECT_EQ(how(), GoneHow::Cancelled);
  EXPECT_TRUE(world.view().stands.at("ml/a/uid-a").cancelled);
  pod.signal = 0;
  pod.exit_code = 1;
  EXPECT_EQ(how(), GoneHow::Failed) << "by itself, and was deleted after that";
}

TEST(KubernetesKeptGangs, APodThatIsBeingDeletedHoldsItsGpusUntilItIsGone) {
  World world;
  World::bind(world.pod("a", 1), "n1", "0");
  world.objects.pods.at("ml/a").meta.deleting = true;
  const Rules later{.mode = Mode::All, .first_epoch = 2};
  const View view = view_of(world.objects, gangs_of(world.objects, later), later, {}, {});
  EXPECT_THAT(view.picture.jobs.at("ml/a/uid-a").parts.front().gpus, ElementsAre(0));
}

}  // namespace
}  // namespace goban::live::engine::kubernetes
