// The engine for Slurm on a real Slurm of 4 nodes with 16 GPUs (tests/slurm/slurm_site.py): from a
// decision to RUNNING, beside a bare `scontrol release`; and the CPU time of a poll with many jobs
// queued; all of them released; and the engine alone with 1,000 nodes, which scripts print in place
// of Slurm's commands.
//
//   slurm_bench [JOBS...]     queue lengths; 2000 10000
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <numeric>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

#include "base/random.hpp"
#include "base/text_file.hpp"
#include "live/engine/slurm/release_all.hpp"
#include "live/engine/slurm/slurm_engine.hpp"

namespace {

namespace live = goban::live;
namespace slurm = goban::live::engine::slurm;
using Clock = std::chrono::steady_clock;

std::string shell(const std::string& command) {
  std::string out;
  std::FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 4096> buffer{};
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    out.append(buffer.data(), count);
  }
  if (pclose(pipe) != 0) fmt::print(stderr, "failed: {}\n", command);
  while (out.ends_with('\n')) out.pop_back();
  return out;
}

double cpu_s(int who) {
  rusage used{};
  getrusage(who, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

std::string submit(const std::string& options) {
  return shell("sbatch --parsable --hold --output=/dev/null " + options + " --wrap 'sleep 600'");
}

/// Waits until a job runs, as Slurm says, and cancels it.
double until_it_runs(const std::string& id, Clock::time_point began) {
  while (shell("squeue -h -o %T -j " + id) != "RUNNING" && since(began) < 60) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const double took_s = since(began);
  shell("scancel " + id);
  return took_s;
}

/// Slurm looks at its queue in a rhythm of its own, which a fixed pause would follow.
void pause(goban::base::Random& random) {
  std::this_thread::sleep_for(std::chrono::milliseconds(1000 + random.below(3000)));
}

void starts(const std::string& conf) {
  constexpr uint32_t kTimes = 16;
  goban::base::Random random(1);
  slurm::SlurmEngine engine(
      {.conf = conf, .rules = {.indices = slurm::Indices::Types}, .epoch = 1});
  engine.recall({});
  std::vector<double> ours;
  std::vector<double> bare;
  for (uint32_t i = 0; i < kTimes; ++i) {
    const std::string a = submit("--gres=gpu:2");
    const std::string b = submit("--gres=gpu:2");
    pause(random);
    (void)engine.take_events();
    auto began = Clock::now();
    engine.launch(
        {.run = {live::JobId{i}, 1}, .engine_id = a, .parts = {{.node = "n2", .gpus = {1, 3}}}});
    ours.push_back(until_it_runs(a, began));
    pause(random);
    began = Clock::now();
    shell("scontrol release " + b);
    bare.push_back(until_it_runs(b, began));
  }
  const auto mean = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  fmt::print(
      "to RUNNING, mean (median) of {}: from a decision {:.3f} ({:.3f}) s, from scontrol release "
      "{:.3f} ({:.3f}) s\n",
      kTimes, mean(ours), median(ours), mean(bare), median(bare));
}

void polls(const std::string& conf, int jobs) {
  const double before_s = cpu_s(RUSAGE_CHILDREN) + cpu_s(RUSAGE_SELF);
  slurm::SlurmEngine engine(
      {.conf = conf, .epoch = 1, .rhythm = {.poll_s = 1, .rest_s = 1}, .timeout_s = 60});
  engine.recall({});
  size_t seen = 0;
  while (seen < static_cast<size_t>(jobs) / 2) {
    seen += engine.take_events().size();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const double first_s = cpu_s(RUSAGE_CHILDREN) + cpu_s(RUSAGE_SELF) - before_s;
  constexpr double kWatched_s = 20;
  const double self_s = cpu_s(RUSAGE_SELF);
  const double children_s = cpu_s(RUSAGE_CHILDREN);
  const auto began = Clock::now();
  while (since(began) < kWatched_s) {
    (void)engine.take_events();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  const double took_s = since(began);
  fmt::print(
      "{} jobs queued: the first look {:.2f} CPU s; then per second: engine {:.3f} CPU s, squeue "
      "and "
      "scontrol {:.3f} CPU s\n",
      jobs, first_s, (cpu_s(RUSAGE_SELF) - self_s) / took_s,
      (cpu_s(RUSAGE_CHILDREN) - children_s) / took_s);
}

void release(const std::string& conf) {
  const auto began = Clock::now();
  const double before_s = cpu_s(RUSAGE_CHILDREN) + cpu_s(RUSAGE_SELF);
  const auto released = slurm::release_all(slurm::Client(conf, 120), {});
  if (!released) {
    fmt::print("release-all: {}\n", released.error().text());
    return;
  }
  fmt::print(
      "release-all of {} jobs: {:.2f} s, {:.2f} CPU s of goban and Slurm's commands, {} problems\n",
      released->jobs, since(began), cpu_s(RUSAGE_CHILDREN) + cpu_s(RUSAGE_SELF) - before_s,
      released->problems.size());
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
  std::filesystem::permissions(path, std::filesystem::perms::all);
}

/// Commands that print `nodes` nodes of eight GPUs and `jobs` held jobs, of the form of
/// Slurm 22.05.
void write_commands(const std::string& folder, int nodes, int jobs) {
  const std::string records =
      goban::base::read_text_file(GOBAN_SOURCE_DIR "/tests/corpus/slurm_output/show_node.txt")
          .value();
  const size_t second = records.find("NodeName=n2 ");
  std::string record = records.substr(second, records.find('\n', second) - second);
  const size_t gres = record.find("Gres=");
  record.replace(gres, record.find(' ', gres) - gres, "Gres=gpu:8");
  record = record.substr(record.find(' '));
  std::string list;
  for (int i = 0; i < nodes; ++i) list += fmt::format("NodeName=node{:04}{}\n", i, record);
  write(folder + "/nodes", list);
  std::string rows;
  std::string words;
  for (int i = 1; i <= jobs; ++i) {
    for (const std::string& field :
         {std::to_string(i),     std::to_string(i),         std::string("N/A"),
          std::string("N/A"),    std::string("PENDING"),    std::string("JobHeldUser"),
          std::string("0"),      std::string("gpu"),        std::string("1"),
          std::string("1"),      std::string("1"),          std::string("0"),
          std::string(),         std::string("1795436207"), std::string("N/A"),
          std::string("N/A"),    std::string("NONE"),       std::string("1:00:00"),
          std::string("1000"),   std::string("1000"),       std::string("(null)"),
          std::string("(null)"), std::string("0"),          std::string("0"),
          std::string("1"),      std::string("1"),          std::string("0"),
          std::string("(null)")}) {
      rows += field + '\x1f';
    }
    rows += "(null)@(null)@\n";
    words += fmt::format("{0}@{0}@N/A@ann@train@N/A@gres:gpu:{1}@N/A@N/A@\n", i, 1 + i % 8);
  }
  write(folder + "/list", rows);
  write(folder + "/words", words);
  write(folder + "/squeue", fmt::format("#!/bin/sh\nwhile [ \"$1\" != -O ]; do shift; done\n"
                                        "case $2 in *Comment:*) file=list;; *) file=words;; esac\n"
                                        "exec sed \"s/@/${{2##*:}}/g\" {}/$file\n",
                                        folder));
  write(folder + "/scontrol",
        fmt::format("#!/bin/sh\ncase $* in *'show node'*) exec cat {}/nodes;; esac\n", folder));
}

void scripted(const std::string& folder, int nodes, int jobs) {
  std::filesystem::create_directories(folder);
  write_commands(folder, nodes, jobs);
  const std::string path = std::getenv("PATH");
  setenv("PATH", (folder + ":" + path).c_str(), 1);
  {
    slurm::SlurmEngine engine({.epoch = 1, .rhythm = {.poll_s = 1, .rest_s = 1}});
    engine.recall({});
    size_t seen = 0;
    const auto began = Clock::now();
    while (seen < static_cast<size_t>(jobs) && since(began) < 60) {
      seen += engine.take_events().size();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    const double first_s = cpu_s(RUSAGE_SELF);
    constexpr double kWatched_s = 20;
    const auto watched = Clock::now();
    while (since(watched) < kWatched_s) {
      (void)engine.take_events();
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    fmt::print(
        "{} nodes and {} jobs from scripts: {} events, the engine alone {:.3f} CPU s a second {}\n",
        nodes, jobs, seen, (cpu_s(RUSAGE_SELF) - first_s) / since(watched), engine.problem());
  }
  setenv("PATH", path.c_str(), 1);
  std::filesystem::remove_all(folder);
}

}  // namespace

int main(int argc, char** argv) {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  scripted(fmt::format("/tmp/goban-slurm-commands-{}", getpid()), 1000, 10000);
  if (geteuid() != 0 || std::system("command -v slurmctld slurmd munged >/dev/null") != 0) {
    fmt::print("skipped: needs root, slurmctld, slurmd and munge\n");
    return 0;
  }
  const std::string folder = fmt::format("/tmp/goban-slurm-bench-{}", getpid());
  const std::string site = "python3 " GOBAN_SOURCE_DIR "/tests/slurm/slurm_site.py ";
  const std::string conf = folder + "/etc/slurm.conf";
  fmt::print("{}\n", shell(site + "up --config MaxJobCount=50000 --folder " + folder));
  setenv("SLURM_CONF", conf.c_str(), 1);
  starts(conf);
  int queued = 0;
  std::vector<int> lengths = {2000, 10000};
  if (argc > 1) lengths.clear();
  for (int i = 1; i < argc; ++i) lengths.push_back(std::atoi(argv[i]));
  for (const int jobs : lengths) {
    shell(
        fmt::format("seq {} | xargs -P 4 -I% sbatch --parsable --hold --output=/dev/null "
                    "--gres=gpu:1 --wrap true >/dev/null",
                    jobs - queued));
    queued = std::max(queued, jobs);
    polls(conf, jobs);
  }
  release(conf);
  shell(site + "down --folder " + folder);
  return 0;
}
