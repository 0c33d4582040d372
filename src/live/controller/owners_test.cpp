// Owners are (realm, name): no rule mixes up two realms.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "live/controller/input.hpp"
#include "live/controller/reservation.hpp"
#include "live/job/job_spec.hpp"

namespace goban::live::controller {
namespace {

const job::Owner kRoot{.uid = 0, .gid = 0, .user = "root"};
const job::Owner kAnna{.uid = 1000, .gid = 1000, .user = "anna"};
const job::Owner kOtherAnna{.uid = 0, .gid = 0, .user = "anna", .realm = "k8s"};

TEST(Owners, ARealmOfItsOwnIsNeverAUnixUser) {
  EXPECT_NE(job::key_of(kOtherAnna), job::key_of(kRoot)) << "equal uids";
  EXPECT_NE(job::key_of(kOtherAnna), job::key_of(kAnna)) << "equal names";
  job::Owner third = kOtherAnna;
  third.realm = "slurm";
  EXPECT_NE(job::key_of(kOtherAnna), job::key_of(third));
  job::Owner renamed = kAnna;
  renamed.user = "anne";
  EXPECT_EQ(job::key_of(renamed), job::key_of(kAnna)) << "Unix users are compared by uid";
  EXPECT_EQ(job::full_name(kAnna), "anna");
  EXPECT_EQ(job::full_name(kOtherAnna), "k8s/anna");
}

TEST(Owners, CallersOwnTheJobsOfTheirRealmOnly) {
  const Caller root{.uid = 0, .user = "root"};
  EXPECT_TRUE(root.owns(kRoot));
  EXPECT_FALSE(root.owns(kOtherAnna));
  const Caller other{.uid = 0, .user = "anna", .realm = "k8s"};
  EXPECT_TRUE(other.owns(kOtherAnna));
  EXPECT_FALSE(other.owns(kRoot));
  EXPECT_FALSE(other.owns(kAnna));
  EXPECT_FALSE((ReservationPlan{.owner = kAnna}.may_use(job::full_name(kOtherAnna), "")));
}

TEST(Owners, TheRealmIsInTheJournal) {
  Cancel cancel{.job = JobId(3U), .by = {.uid = 0, .user = "anna", .realm = "k8s"}};
  const auto read = parse_input(to_text({.at_ns = 1, .input = cancel}));
  ASSERT_TRUE(read);
  EXPECT_EQ(std::get<Cancel>(read->input).by, cancel.by);
  const job::JobSpec spec{.owner = kOtherAnna};
  EXPECT_EQ(*job::job_spec_from_json(to_json(spec)), spec);
  EXPECT_FALSE(to_json(job::JobSpec{.owner = kAnna})["owner"].contains("realm"));
}

}  // namespace
}  // namespace goban::live::controller
