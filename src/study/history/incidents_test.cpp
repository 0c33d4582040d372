#include "study/history/incidents.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/cluster_presets.hpp"

namespace goban::study::history {
namespace {

using testing::ElementsAre;

/// Four nodes: node0000 to node0003.
const core::model::Cluster& cluster() {
  static const core::model::Cluster four = *core::model::make_preset("4x2");
  return four;
}

/// Two jobs: 7 and b.
const core::model::JobHistory& jobs() {
  static const core::model::JobHistory two = [] {
    core::model::JobHistory history;
    for (const char* name : {"7", "b"}) history.job_names.add(name);
    history.jobs.resize(2);
    return history;
  }();
  return two;
}

/// "time kind node [until]" of every event, times in seconds.
std::vector<std::string> events_of(std::string_view toml) {
  const auto events = parse_incidents(toml, "i.toml", cluster(), jobs());
  if (!events) return {events.error().text()};
  std::vector<std::string> out;
  for (const core::model::Event& event : *events) {
    if (event.kind == core::model::EventKind::JobBroke) {
      out.push_back(fmt::format("{} {} {}", event.at_ns / base::kSecond,
                                event.out_of_memory ? "oom" : "broke", event.job.value));
      continue;
    }
    std::string kind = event.kind == core::model::EventKind::NodeLost       ? "lost"
                       : event.kind == core::model::EventKind::NodeClosed   ? "closed"
                       : event.kind == core::model::EventKind::NodeRestored ? "restored"
                                                                            : "drained";
    out.push_back(fmt::format("{} {} {}", event.at_ns / base::kSecond, kind, event.node.value));
    if (event.until_ns > 0) out.back() += fmt::format(" {}", event.until_ns / base::kSecond);
  }
  return out;
}

std::string window(int announce, int start, int end) {
  return fmt::format("[[maintenance]]\nnode = \"node0000\"\nannounce = {}\nstart = {}\nend = {}\n",
                     announce, start, end);
}

std::string failure(int at, int repair_after) {
  return fmt::format("[[failure]]\nnode = \"node0000\"\nat = {}\nrepair_after = {}\n", at,
                     repair_after);
}

TEST(Incidents, FailuresOfListsAndRanges) {
  EXPECT_THAT(events_of("[[failure]]\nnodes = [\"node0003\", \"node0000..node0001\"]\n"
                        "at = \"1h\"\nrepair_after = \"10m\"\n"),
              ElementsAre("3600 lost 0", "3600 lost 1", "3600 lost 3", "4200 restored 0",
                          "4200 restored 1", "4200 restored 3"));
  EXPECT_THAT(events_of("[[failure]]\nnodes = \"*\"\nat = 5\n"),
              ElementsAre("5 lost 0", "5 lost 1", "5 lost 2", "5 lost 3"));
  EXPECT_THAT(events_of(""), ElementsAre());
}

TEST(Incidents, Maintenance) {
  EXPECT_THAT(events_of(window(10, 100, 200)),
              ElementsAre("10 drained 0 100", "100 closed 0", "200 restored 0"));
  EXPECT_THAT(events_of(window(100, 100, 200)), ElementsAre("100 closed 0", "200 restored 0"));
}

TEST(Incidents, OverlapsAreOneOutage) {
  EXPECT_THAT(events_of(failure(50, 100) + window(60, 100, 200)),
              ElementsAre("50 lost 0", "200 restored 0"));
  EXPECT_THAT(events_of(window(0, 100, 200) + failure(150, 100) + failure(160, 5)),
              ElementsAre("0 drained 0 100", "100 closed 0", "250 restored 0"));
  EXPECT_THAT(events_of(window(0, 100, 200) + failure(100, 5)),
              ElementsAre("0 drained 0 100", "100 lost 0", "200 restored 0"));
  EXPECT_THAT(events_of(window(0, 100, 200) + "[[failure]]\nnode=\"node0000\"\nat=150\n" +
                        window(0, 300, 400)),
              ElementsAre("0 drained 0 100", "100 closed 0"));
}

TEST(Incidents, TheNextWindowKnownCounts) {
  // The later window is announced first, the earlier one replaces it, and the later one is
  // announced again when the node returns.
  EXPECT_THAT(events_of(window(5, 300, 400) + window(20, 100, 200)),
              ElementsAre("5 drained 0 300", "20 drained 0 100", "100 closed 0", "200 restored 0",
                          "200 drained 0 300", "300 closed 0", "400 restored 0"));
  EXPECT_THAT(events_of(window(5, 300, 400) + failure(50, 10)),
              ElementsAre("5 drained 0 300", "50 lost 0", "60 restored 0", "60 drained 0 300",
                          "300 closed 0", "400 restored 0"));
}

std::string problem(std::string_view toml) {
  const auto events = parse_incidents(toml, "i.toml", cluster(), jobs());
  return events ? "" : events.error().text();
}

TEST(Incidents, JobsThatBreak) {
  EXPECT_THAT(
      events_of("[[job_failure]]\njob = \"b\"\nat = \"10s\"\nreason = \"out of memory\"\n"
                "[[job_failure]]\njob = 7\nat = 5\n[[failure]]\nnode = \"node0001\"\nat = 7\n"),
      ElementsAre("5 broke 0", "7 lost 1", "10 oom 1"));
}

TEST(Incidents, Problems) {
  EXPECT_EQ(problem("[[failure]]\nnode = \"x\"\nat = 1"),
            "i.toml:2:8: failure.node: the cluster has no node x "
            "(its nodes are node0000 to node0003)");
  EXPECT_EQ(problem("[[failure]]\nnodes = [\"node0002..node0001\"]\nat = 1"),
            "i.toml:2:9: failure.nodes: \"node0002..node0001\" is not a valid range of nodes "
            "(give first..last, in the order of the cluster)");
  EXPECT_EQ(problem("[[failure]]\nat = 1"),
            "i.toml:1:1: failure.nodes: is missing "
            "(give node = \"name\" or nodes = [\"name\", \"first..last\"])");
  EXPECT_EQ(problem("[[failure]]\nnode = \"node0000\"\nnodes = [\"node0001\"]\nat = 1"),
            "i.toml:3:9: failure.nodes: is mutually exclusive with node "
            "(give node = \"name\" or nodes = [\"name\", \"first..last\"])");
  EXPECT_EQ(problem("[[failure]]\nnode = \"node0000\""),
            "i.toml:1:1: failure.at: is missing (give the time of the failure, such as \"3600s\")");
  EXPECT_EQ(problem("[[failure]]\nnode = \"node0000\"\nat = \"noon\""),
            "i.toml:3:6: failure.at: \"noon\" is not a valid duration "
            "(such as \"72h\", \"01:30:00\" or a number of seconds)");
  EXPECT_EQ(
      problem(failure(5, 0)),
      "i.toml:4:16: failure.repair_after: must be positive (omit it if the node never returns)");
  EXPECT_EQ(problem(window(0, 5, 5)),
            "i.toml:5:7: maintenance.end: must be after start (swap start and end?)");
  EXPECT_EQ(problem(window(6, 5, 9)),
            "i.toml:3:12: maintenance.announce: must not be after start "
            "(announce the window before it starts)");
  EXPECT_EQ(problem("[[job_failure]]\njob = \"c\"\nat = 1"),
            "i.toml:2:7: job_failure.job: the history has no job c "
            "(ids are those of the column job_id; array tasks end in _0, _1)");
  EXPECT_EQ(problem("[[job_failure]]\njob = 7\nat = 1\nreason = \"tired\""),
            "i.toml:4:10: job_failure.reason: unknown reason \"tired\" "
            "(give \"crash\" or \"out of memory\")");
  EXPECT_EQ(problem("[[failures]]\nat = 1"),
            "i.toml:1:3: failures: unknown key (did you mean failure?)");
}

}  // namespace
}  // namespace goban::study::history
