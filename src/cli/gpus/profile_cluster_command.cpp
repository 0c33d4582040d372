// goban profile cluster: measures the GPUs of a Slurm site in idle time, a node at a time, as jobs
// that make room as soon as another one waits.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/output_file.hpp"
#include "base/spawn.hpp"
#include "base/text_file.hpp"
#include "cli/gpus/commands.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/shell/installation.hpp"
#include "core/knowledge/binning.hpp"
#include "core/knowledge/measure/fleet_book.hpp"
#include "core/knowledge/scores_file.hpp"
#include "live/job/request_values.hpp"
#include "live/machine/refresh.hpp"

namespace goban::cli {
namespace {

using base::Result;
using base::Status;
using core::knowledge::FleetNode;
using core::knowledge::GpuPlaces;
using core::knowledge::MeasureBook;
using nlohmann::json;

struct ClusterProfileArguments {
  std::string server;
  std::string out = "scores.csv";
  std::string every = "1d";
  std::string program;
  std::vector<std::string> nodes;
  std::vector<std::string> srun_options;
  std::optional<int32_t> virtual_gpus;
  double seconds = 0;
  bool quick = false;
  bool force = false;
  bool send = false;
  bool json_out = false;
};

struct ClusterNode {
  FleetNode node{};
  std::string state{};
  int64_t held_gpus = 0;
};

Result<std::vector<ClusterNode>> nodes_of(serve::api::ApiClient& client) {
  const auto answer = get_json(client, "/v1/cluster");
  if (!answer) return base::failure(answer.error());
  std::vector<ClusterNode> out;
  for (const json& rack : list_of(*answer, "racks")) {
    for (const json& each : list_of(rack, "nodes")) {
      ClusterNode& node = out.emplace_back();
      node.node = {.name = text_of(each, "node"),
                   .num_gpus = static_cast<int32_t>(number_of(each, "num_gpus"))};
      node.state = text_of(each, "state");
      node.held_gpus = static_cast<int64_t>(number_of(each, "held_gpus"));
    }
  }
  return out;
}

constexpr const char* kJobName = "goban-profile";

/// A job other than those that measure waits, so that nothing is measured now.
bool is_needed(serve::api::ApiClient& client) {
  const auto stats = get_json(client, "/v1/stats");
  if (!stats) return true;
  if (number_of(*stats, "waiting_gpus") <= 0) return false;
  const auto list = get_json(client, "/v1/jobs?all=1&state=waiting&limit=100");
  const auto jobs = list ? list->find("jobs") : nlohmann::json::const_iterator{};
  return !list || jobs == list->end() || std::ranges::any_of(*jobs, [](const nlohmann::json& job) {
    return text_of(job, "name") != kJobName;
  });
}

/// The job: a measurement of all GPUs of one node, whose log is its output.
std::vector<std::string> words_of(const ClusterProfileArguments& arguments, const FleetNode& node) {
  // The node's own tables and daemons have no part in it.
  std::string script =
      "d=$(mktemp -d) || exit 1; "
      "GOBAN_SERVER= GOBAN_SOCKET=/dev/null/none \"$0\" profile --out \"$d/scores.csv\" --json "
      "\"$@\" >&2; r=$?; cat \"$d/scores.profile.json\"; rm -rf \"$d\"; exit $r";
  std::vector<std::string> words = {"srun",
                                    "--immediate=10",
                                    "--nodes=1",
                                    "--ntasks=1",
                                    "--nodelist=" + node.name,
                                    fmt::format("--gres=gpu:{}", node.num_gpus),
                                    "--nice=1000000",
                                    "--time=15",
                                    std::string("--job-name=") + kJobName,
                                    "--chdir=/"};
  words.insert(words.end(), arguments.srun_options.begin(), arguments.srun_options.end());
  words.insert(words.end(), {"sh", "-c", std::move(script),
                             arguments.program.empty() ? program_path() : arguments.program,
                             arguments.force ? "--force" : "--skip-busy"});
  if (arguments.quick) words.emplace_back("--quick");
  if (arguments.seconds > 0) {
    words.insert(words.end(), {"--seconds", fmt::format("{:g}", arguments.seconds)});
  }
  if (arguments.virtual_gpus) {
    words.insert(words.end(), {"--virtual-gpus", fmt::format("{}", *arguments.virtual_gpus)});
  }
  return words;
}

enum class JobEnd : uint8_t { Done, Failed, MadeRoom };

struct JobOutput {
  JobEnd end = JobEnd::Failed;
  std::string out{};
};

/// Runs the job until it ends, or until `must_end`, which is asked once a second.
JobOutput run_job(const std::vector<std::string>& words, const std::function<bool()>& must_end) {
  constexpr size_t kBytesMax = size_t{16} << 20;
  constexpr int kLook_ms = 1000;
  JobOutput result;
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return result;
  const base::Descriptor reading(ends[0]);
  base::Descriptor writing(ends[1]);
  const pid_t job =
      base::spawn(words, {.out = writing.get(), .err = 2, .group = base::SpawnGroup::Own});
  writing.reset();
  if (job == 0) return result;
  bool ended_early = false;
  std::array<char, 65'536> buffer{};
  auto next_look = std::chrono::steady_clock::now() + std::chrono::milliseconds(kLook_ms);
  while (true) {
    pollfd wait{reading.get(), POLLIN, 0};
    (void)::poll(&wait, 1, kLook_ms);
    if (wait.revents != 0) {
      const ssize_t count = ::read(reading.get(), buffer.data(), buffer.size());
      if (count == 0) break;
      if (count > 0 && result.out.size() < kBytesMax) {
        result.out.append(buffer.data(), static_cast<size_t>(count));
      }
    }
    if (std::chrono::steady_clock::now() < next_look) continue;
    next_look = std::chrono::steady_clock::now() + std::chrono::milliseconds(kLook_ms);
    if (ended_early || !must_end()) continue;
    ended_early = true;
    ::kill(job, SIGTERM);  // srun ends its job
  }
  const int status = base::wait_for(job);
  if (ended_early) {
    result.end = JobEnd::MadeRoom;
  } else if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    result.end = JobEnd::Done;
  }
  return result;
}

Result<GpuPlaces> read_places(const std::string& scores) {
  const std::string path = core::knowledge::places_path(scores);
  if (!base::exists(path)) return GpuPlaces{};
  const auto text = base::read_text_file(path);
  if (!text) return base::failure(text.error());
  return core::knowledge::parse_places(*text, path);
}

/// What was measured so far, and what became of each node.
struct ClusterProfile {
  MeasureBook book{};
  GpuPlaces places{};
  std::vector<std::string> measured{};
  std::vector<std::pair<std::string, std::string>> left{};  ///< node, and why
  int failures = 0;

  void leave(const std::string& node, std::string why) { left.emplace_back(node, std::move(why)); }
};

/// First the log, from which the rest can be computed after a crash.
Status write_measured(const ClusterProfile& profile, const std::string& scores) {
  auto status = base::write_file(core::knowledge::book_path(scores), to_json(profile.book));
  if (!status) return status;
  return base::write_file(core::knowledge::places_path(scores),
                          core::knowledge::to_json(profile.places));
}

/// Why a node is not measured now; empty: it is.
std::string why_not(const ClusterProfileArguments& arguments, const ClusterProfile& profile,
                    const ClusterNode& node, int64_t every_s) {
  const auto& wanted = arguments.nodes;
  if (!wanted.empty() && std::ranges::find(wanted, node.node.name) == wanted.end()) {
    return "not asked for";
  }
  if (node.node.num_gpus == 0) return "it has no GPUs";
  if (node.state != "up") return "it is " + node.state;
  const int64_t last = measured_unix_s(profile.book, profile.places, node.node);
  const int64_t age_s = std::time(nullptr) - last;
  if (last > 0 && age_s < every_s) return fmt::format("measured {} h ago", age_s / 3600);
  return node.held_gpus > 0 ? "jobs hold GPUs of it" : "";
}

/// Measures one node. True: others may be measured, too.
Result<bool> measure_node(const ClusterProfileArguments& arguments, serve::api::ApiClient& client,
                          const ClusterNode& node, ClusterProfile& profile) {
  const std::string& name = node.node.name;
  const JobOutput job =
      run_job(words_of(arguments, node.node), [&] { return interrupted() || is_needed(client); });
  if (job.end == JobEnd::MadeRoom) {
    profile.leave(name, interrupted() ? "interrupted" : "it made room for a job that waits");
    return false;
  }
  const auto log = core::knowledge::parse_book(job.out, "the measurements of " + name);
  const bool is_whole = log && std::ssize(log->gpus) == node.node.num_gpus;
  if (job.end != JobEnd::Done || !is_whole) {
    ++profile.failures;
    profile.leave(name, job.end != JobEnd::Done ? "its job failed or did not start at once"
                        : !log                  ? log.error().text()
                                                : "not all of its GPUs were measured");
    return true;
  }
  add_node(profile.book, profile.places, name, *log);
  profile.measured.push_back(name);
  if (const auto written = write_measured(profile, arguments.out); !written) {
    return base::failure(written.error());
  }
  return true;
}

/// Writes the table and sends it if that was asked for.
Status write_scores(const ClusterProfileArguments& arguments, serve::api::ApiClient& client,
                    const ClusterProfile& profile, const std::vector<ClusterNode>& nodes) {
  std::vector<FleetNode> fleet;
  for (const ClusterNode& node : nodes) fleet.push_back(node.node);
  const std::string table = core::knowledge::to_csv(core::knowledge::bin_classes(
      fleet_scores(profile.book, profile.places, fleet, std::time(nullptr))));
  if (auto status = base::write_file(arguments.out, table); !status) return status;
  if (!arguments.send) return {};
  const auto answer = client.post("/v1/scores", table);
  if (!answer) return base::failure(answer.error());
  return {};
}

void print_profile(const ClusterProfileArguments& arguments, const ClusterProfile& profile) {
  if (arguments.json_out) {
    json left = json::object();
    for (const auto& [node, why] : profile.left) left[node] = why;
    fmt::print("{}\n", json{{"measured", profile.measured},
                            {"left", std::move(left)},
                            {"scores_file", arguments.out}}
                           .dump(2, ' ', false, json::error_handler_t::replace));
    return;
  }
  for (const std::string& node : profile.measured) fmt::print("{}: measured\n", node);
  for (const auto& [node, why] : profile.left) fmt::print("{}: {}\n", node, why);
  if (!profile.measured.empty()) fmt::print("Scores: {}\n", arguments.out);
}

int measure_cluster(const ClusterProfileArguments& arguments) {
  const auto every_ns = live::job::parse_span(arguments.every);
  if (!every_ns) return report_error(every_ns.error());
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  const auto nodes = nodes_of(*client);
  if (!nodes) return report_error(nodes.error());
  for (const std::string& name : arguments.nodes) {
    const auto is_it = [&](const ClusterNode& node) { return node.node.name == name; };
    if (std::ranges::any_of(*nodes, is_it)) continue;
    return report_error({.code = base::ErrorCode::Usage,
                         .message = "--nodes: the cluster has no node " + name,
                         .place = {},
                         .remedy = "goban nodes lists them"});
  }
  ClusterProfile profile;
  auto book = live::machine::read_book_beside(arguments.out);
  if (!book) return report_error(book.error());
  profile.book = std::move(*book);
  auto places = read_places(arguments.out);
  if (!places) return report_error(places.error());
  profile.places = std::move(*places);
  catch_interrupts();
  bool goes_on = true;
  for (const ClusterNode& node : *nodes) {
    std::string why = why_not(arguments, profile, node, *every_ns / base::kSecond);
    if (why.empty() && goes_on) goes_on = !is_needed(*client);
    if (why.empty() && !goes_on) why = "a job waits";
    if (!why.empty()) {
      profile.leave(node.node.name, std::move(why));
      continue;
    }
    const auto more = measure_node(arguments, *client, node, profile);
    if (!more) return report_error(more.error());
    goes_on = *more;
    if (interrupted()) break;
  }
  if (!profile.measured.empty()) {
    if (const auto written = write_scores(arguments, *client, profile, *nodes); !written) {
      return report_error(written.error());
    }
  }
  print_profile(arguments, profile);
  if (interrupted()) return kExitInterrupted;
  return profile.failures > 0 ? static_cast<int>(base::ErrorCode::Failed) : 0;
}

}  // namespace

void add_profile_cluster(Command& profile, Action& action) {
  auto arguments = std::make_shared<ClusterProfileArguments>();
  Command* c = profile.add_subcommand(
      "cluster", "Measure idle nodes of a Slurm site with jobs that yield to others");
  c->add_option("--out", arguments->out,
                "Score table of the cluster; the measurement log and the places of its GPUs are "
                "stored next to it")
      ->type_name("FILE")
      ->capture_default_str();
  c->add_option("--nodes", arguments->nodes, "Only these nodes")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->one_word();
  c->add_option("--every", arguments->every, "Leave out nodes that were measured within this time")
      ->type_name("SPAN")
      ->capture_default_str();
  c->add_flag("--quick", arguments->quick,
              "Measure 6 blocks per GPU instead of 16; detects no stragglers");
  c->add_option("--seconds", arguments->seconds, "Start no new block after this time, in seconds")
      ->range(0.1, 86400.0);
  c->add_flag("--force", arguments->force, "Also measure GPUs that processes outside of Slurm use");
  c->add_option("--srun", arguments->srun_options,
                "An option for srun, such as --srun=--qos=idle; may be repeated")
      ->type_name("OPTION")
      ->one_word();
  c->add_option("--program", arguments->program,
                "Path of goban on the nodes (default: that of this program)")
      ->type_name("PATH");
  c->add_option("--virtual-gpus", arguments->virtual_gpus,
                "Number of simulated GPUs per node, to try the command without GPUs")
      ->range(1, 255);
  c->add_flag("--send", arguments->send,
              "Send the scores to the running daemon, which applies them immediately (operators "
              "only)");
  c->add_flag("--json", arguments->json_out, "Print JSON only");
  add_server_option(*c, arguments->server);
  c->footer(
      "Examples:\n"
      "  goban profile cluster --out /etc/goban/scores.csv --send\n"
      "  goban profile cluster --nodes n3,n4 --every 0s --srun=--qos=idle\n"
      "Nodes are measured one at a time with srun, and only while no job waits; when one is "
      "submitted, the\n"
      "measurement is cancelled and discarded. Run this command from a timer.\n"
      "Exit codes: 0 success, 1 a node could not be measured, 2 usage error, 3 invalid input,\n"
      "130 interrupted (what was measured before is kept).");
  c->callback(
      [arguments, &action] { action = [arguments] { return measure_cluster(*arguments); }; });
}

}  // namespace goban::cli
