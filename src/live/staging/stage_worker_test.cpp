#include "live/staging/stage_worker.hpp"

#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/test_folder.hpp"
#include "live/staging/copy_notes.hpp"
#include "live/staging/order_check.hpp"
#include "live/staging/stager.hpp"
#include "live/staging_json.hpp"

namespace goban::live::staging {
namespace {

namespace fs = std::filesystem;

StageOrder order_in(const std::string& from, const std::string& to) {
  return {.task = StageTask::In,
          .job = core::model::JobId(6U),
          .owner = {.uid = ::getuid(), .gid = ::getgid(), .user = "me", .realm = {}},
          .paths = {{.from = from, .to = to}},
          .folder = "/fast/1000",
          .job_folder = "/fast/1000/jobs/7"};
}

TEST(StageOrders, PathsOutsideTheirFoldersAreRefused) {
  EXPECT_EQ(order_problem(order_in("/lustre/a", "/fast/1000/in/ab/a")), "");
  EXPECT_NE(order_problem(order_in("/lustre/a", "/fast/1001/in/ab/a")), "");
  EXPECT_NE(order_problem(order_in("/lustre/a", "/fast/1000/in/ab/../../../a")), "");
  EXPECT_NE(order_problem(order_in("/lustre/a", "/fast/1000/in/a")), "");
  EXPECT_NE(order_problem(order_in("/lustre/../a", "/fast/1000/in/ab/a")), "");
  EXPECT_NE(order_problem(order_in("lustre/a", "/fast/1000/in/ab/a")), "");
  EXPECT_NE(order_problem(order_in(std::string("/a\0b", 4), "/fast/1000/in/ab/a")), "");
  StageOrder order = order_in("/lustre/a", "/fast/1000/in/ab/a");
  order.job_folder = "/fast/1000/jobs/../../1001";
  EXPECT_NE(order_problem(order), "");
  order.job_folder = "/home/ann";
  EXPECT_NE(order_problem(order), "");
  StageOrder removal{.task = StageTask::Remove, .folder = "/fast/1000"};
  EXPECT_NE(order_problem(removal), "");
  removal.paths = {{.from = {}, .to = "/fast/1000/in/ab/a"}};
  EXPECT_EQ(order_problem(removal), "");
  removal.paths[0].to = "/fast/1000/jobs/7";
  EXPECT_NE(order_problem(removal), "");
  StageOrder look = order_in("", "/fast/1000/in/ab/a");
  look.task = StageTask::Look;
  EXPECT_EQ(order_problem(look), "");
  look.paths[0].to = "/etc/ab/a";
  EXPECT_NE(order_problem(look), "");
}

TEST(StageOrders, AreReadAsTheyAreWritten) {
  StageOrder order = order_in("/lustre/a", "/fast/1000/in/ab/a");
  order.gateway = "gw1";
  order.bytes_per_s = 1e9;
  order.withdrawn = true;
  order.gives_up = true;
  StageOrder read;
  const nlohmann::json document = to_json(order);
  base::FieldReader in(document, "");
  read_fields(in, read);
  EXPECT_TRUE(in.good());
  EXPECT_EQ(read, order);
  EXPECT_TRUE(in.unknown().empty());
}

/// The worker in this process, with pipes.
struct StageWork : testing::Test {
  std::vector<StageReport> run(const StageOrder& order) {
    int in[2];
    int out[2];
    EXPECT_EQ(::pipe(in), 0);
    EXPECT_EQ(::pipe(out), 0);
    const std::string line = to_json(order).dump() + "\n";
    EXPECT_EQ(::write(in[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
    EXPECT_EQ(run_stage_worker(in[0], out[1]), 0);
    ::close(out[1]);
    std::string text(1 << 16, 0);
    text.resize(
        static_cast<size_t>(std::max<ssize_t>(::read(out[0], text.data(), text.size()), 0)));
    for (const int file : {in[0], in[1], out[0]}) ::close(file);
    std::vector<StageReport> reports;
    std::istringstream lines(text);
    for (std::string each; std::getline(lines, each);) {
      const nlohmann::json document = nlohmann::json::parse(each);
      base::FieldReader fields(document, "");
      read_fields(fields, reports.emplace_back());
      EXPECT_TRUE(fields.good());
    }
    return reports;
  }
  StageOrder order(StageTask task, std::vector<StagePath> paths) const {
    const std::string own = tier + "/" + std::to_string(::getuid());
    return {.task = task,
            .job = core::model::JobId(6U),
            .owner = {.uid = ::getuid(), .gid = ::getgid(), .user = "me", .realm = {}},
            .paths = std::move(paths),
            .folder = own,
            .job_folder = own + "/jobs/7-99"};
  }

  base::TestFolder folder{"stage"};
  std::string tier = [this] {
    fs::create_directories(folder / "fast");
    fs::create_directories(folder / "slow/images");
    folder.write("slow/images/1", "one");
    return folder / "fast";
  }();
};

TEST_F(StageWork, FromMeasuringToRemoval) {
  const std::string from = folder / "slow/images";
  const auto measured = run(order(StageTask::Measure, {{.from = from, .to = {}}}));
  ASSERT_EQ(measured.size(), 1U);
  EXPECT_TRUE(measured[0].is_over);
  ASSERT_EQ(measured[0].found.size(), 1U);
  EXPECT_EQ(measured[0].found[0].bytes, 3);
  const StageOrder base = order(StageTask::In, {});
  const std::string to = base.folder + "/in/" + measured[0].found[0].version + "/images";
  const auto copied = run(order(StageTask::In, {{.from = from, .to = to}}));
  ASSERT_EQ(copied.back().problem, "");
  EXPECT_EQ(copied.back().copied_bytes, 3);
  EXPECT_EQ(base::TestFolder::read(to + "/1"), "one");
  EXPECT_EQ(base::TestFolder::read(base.job_folder + "/in/images/1"), "one");

  fs::create_directories(base.job_folder + "/results");
  std::ofstream(base.job_folder + "/results/model") << "weights";
  std::ofstream(base.job_folder + "/other") << "x";
  const StageOrder out =
      order(StageTask::Out, {{.from = base.job_folder + "/results", .to = folder / "slow/out"}});
  EXPECT_EQ(run(out).back().problem, "");
  EXPECT_EQ(base::TestFolder::read(folder / "slow/out/model"), "weights");
  EXPECT_FALSE(fs::exists(base.job_folder + "/results")) << "it was copied and checked";
  const auto again = run(out);  // the report was lost
  EXPECT_EQ(again.back().problem, "");
  EXPECT_EQ(again.back().sha256, run(out).back().sha256);
  EXPECT_NE(again.back().sha256, "");
  EXPECT_EQ(run(order(StageTask::Out, {})).back().problem, "");
  EXPECT_FALSE(fs::exists(base.job_folder + "/in"));
  EXPECT_TRUE(fs::exists(base.job_folder + "/other")) << "nobody copied it";
  fs::remove(base.job_folder + "/other");
  EXPECT_EQ(run(order(StageTask::Out, {})).back().problem, "");
  EXPECT_FALSE(fs::exists(base.job_folder));

  const auto removed = run(order(StageTask::Remove, {{.from = {}, .to = to}}));
  EXPECT_EQ(removed.back().problem, "");
  EXPECT_EQ(removed.back().key, to);
  EXPECT_FALSE(fs::exists(to));
}

struct StageOutWork : StageWork {
  StageOutWork() { fs::create_directories(own.job_folder); }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << text;
  }
  std::string out(const std::string& from, const std::string& to) {
    const StageReport report =
        run(order(StageTask::Out, {{.from = own.job_folder + "/" + from, .to = to}})).back();
    EXPECT_TRUE(report.is_over);
    return report.problem;
  }
  StageOrder own = order(StageTask::Out, {});
};

TEST_F(StageOutWork, WhatALinkLeadsToIsCopiedAndStays) {
  write(folder / "precious/gold", "gold");
  fs::create_symlink(folder / "precious", own.job_folder + "/model");
  EXPECT_EQ(out("model", folder / "slow/m"), "");
  EXPECT_EQ(base::TestFolder::read(folder / "slow/m/gold"), "gold");
  EXPECT_EQ(base::TestFolder::read(folder / "precious/gold"), "gold");
  // A copy of the tier, which other jobs use.
  const std::string shared = own.folder + "/in/ab/images";
  write(shared + "/1", "one");
  fs::create_directories(own.job_folder + "/in");
  fs::create_symlink(shared, own.job_folder + "/in/images");
  EXPECT_EQ(out("in/images", folder / "slow/images-7"), "");
  EXPECT_EQ(base::TestFolder::read(shared + "/1"), "one");
}

TEST_F(StageOutWork, AJobFolderThatIsALinkLosesNothing) {
  write(folder / "precious/model/gold", "gold");
  fs::remove(own.job_folder);
  fs::create_symlink(folder / "precious", own.job_folder);
  EXPECT_EQ(out("model", folder / "slow/m"), "");
  EXPECT_EQ(base::TestFolder::read(folder / "precious/model/gold"), "gold");
}

TEST_F(StageOutWork, ResultsAreNotCopiedOntoThemselves) {
  write(own.job_folder + "/ckpt/1", "weights");
  fs::create_symlink(own.job_folder, folder / "slow/run");
  EXPECT_NE(out("ckpt", folder / "slow/run/ckpt").find("is in, or contains"), std::string::npos);
  EXPECT_NE(out("ckpt", folder / "slow/run/ckpt/deep/er").find("is in"), std::string::npos);
  EXPECT_NE(out("ckpt", folder / "slow/run").find("contains"), std::string::npos);
  EXPECT_NE(out("ckpt", folder / "slow/run/other").find("on the fast tier"), std::string::npos);
  EXPECT_EQ(base::TestFolder::read(own.job_folder + "/ckpt/1"), "weights");
}

TEST_F(StageOutWork, NothingThatExistsIsReplaced) {
  write(own.job_folder + "/model", "new");
  folder.write("slow/model", "valuable");
  EXPECT_NE(out("model", folder / "slow/model").find("slow/model exists"), std::string::npos);
  EXPECT_EQ(base::TestFolder::read(folder / "slow/model"), "valuable");
  EXPECT_EQ(base::TestFolder::read(own.job_folder + "/model"), "new");
  fs::rename(folder / "slow/model", folder / "slow/old");
  EXPECT_EQ(out("model", folder / "slow/model"), "");
  EXPECT_EQ(base::TestFolder::read(folder / "slow/model"), "new");
  // In a folder that exists, what has other names stays beside the results.
  write(own.job_folder + "/run/2", "two");
  write(folder / "slow/runs/1", "one");
  fs::remove_all(own.job_folder + ".notes");
  EXPECT_EQ(out("run", folder / "slow/runs"), "");
  EXPECT_EQ(base::TestFolder::read(folder / "slow/runs/1"), "one");
  EXPECT_EQ(base::TestFolder::read(folder / "slow/runs/2"), "two");
}

TEST_F(StageOutWork, WhatIsGivenUpStaysWhereItIs) {
  write(own.job_folder + "/model/1", "weights");
  fs::create_directories(own.job_folder + "/in");
  StageOrder order_out =
      order(StageTask::Out, {{.from = own.job_folder + "/model", .to = folder / "slow/model"}});
  // An attempt that ended in the middle of a file.
  const std::string notes = own.job_folder + ".notes/out-0";
  const std::string part = part_name(notes, folder / "slow/model/2");
  write(notes + "/part", "1024 4096 1 2\n");
  write(part, "half");
  folder.write("slow/model/1", "weights");
  order_out.gives_up = true;
  EXPECT_EQ(run(order_out).back().problem, "");
  EXPECT_FALSE(fs::exists(part));
  EXPECT_FALSE(fs::exists(own.job_folder + ".notes"));
  EXPECT_FALSE(fs::exists(own.job_folder + "/in"));
  EXPECT_EQ(base::TestFolder::read(folder / "slow/model/1"), "weights");
  EXPECT_EQ(base::TestFolder::read(own.job_folder + "/model/1"), "weights");
}

TEST_F(StageWork, ALookFindsWhatSomebodyElseRemoved) {
  const std::string from = folder / "slow/images";
  const auto version =
      run(order(StageTask::Measure, {{.from = from, .to = {}}}))[0].found[0].version;
  const StageOrder base = order(StageTask::In, {});
  const std::string to = base.folder + "/in/" + version + "/images";
  const StageOrder copy = order(StageTask::In, {{.from = from, .to = to}});
  const StageOrder look = order(StageTask::Look, {{.from = {}, .to = to}});
  EXPECT_NE(run(look).back().problem, "") << "it was never copied";
  ASSERT_EQ(run(copy).back().problem, "");
  EXPECT_EQ(run(look).back().problem, "");
  fs::remove(base.job_folder + "/in/images");
  EXPECT_EQ(run(look).back().problem, "") << "links are made again";
  EXPECT_EQ(base::TestFolder::read(base.job_folder + "/in/images/1"), "one");
  std::ofstream(to + "/1") << "two";
  EXPECT_EQ(run(look).back().problem, to + "/1 is no longer on the fast tier");
  EXPECT_FALSE(run(look).back().is_final);
  ASSERT_EQ(run(copy).back().problem, "");
  EXPECT_EQ(run(look).back().problem, "");
  fs::remove_all(base.folder + "/in");
  EXPECT_EQ(run(look).back().problem, to + " is no longer on the fast tier");
  ASSERT_EQ(run(copy).back().problem, "");
  fs::remove_all(base.job_folder);
  EXPECT_NE(run(look).back().problem, "") << "its own folder went";
}

TEST_F(StageWork, EachNameOfASourceIsACopyOfItsOwn) {
  fs::create_directory_symlink(folder / "slow/images", folder / "slow/a");
  fs::create_directory_symlink(folder / "slow/images", folder / "slow/b");
  const std::vector<StagePath> sources = {{.from = folder / "slow/a", .to = {}},
                                          {.from = folder / "slow/b", .to = {}}};
  const auto found = run(order(StageTask::Measure, sources)).back().found;
  ASSERT_EQ(found.size(), 2U);
  const std::string in = order(StageTask::In, {}).folder + "/in/";
  std::vector<StagePath> paths = sources;
  paths[0].to = in + found[0].version + "/a";
  paths[1].to = in + found[1].version + "/b";
  EXPECT_EQ(run(order(StageTask::In, paths)).back().problem, "");
  EXPECT_EQ(run(order(StageTask::Remove, {{.from = {}, .to = paths[0].to}})).back().problem, "");
  EXPECT_FALSE(fs::exists(paths[0].to));
  EXPECT_EQ(base::TestFolder::read(paths[1].to + "/1"), "one") << "another job may read it";
}

TEST_F(StageWork, TheFastTierIsNotCopiedIntoItself) {
  const auto problem = [&](const std::string& from) {
    const auto reports = run(order(StageTask::Measure, {{.from = from, .to = {}}}));
    EXPECT_TRUE(reports.back().is_final);
    return reports.back().problem;
  };
  EXPECT_NE(problem(folder.path()).find("contains the fast tier"), std::string::npos);
  fs::create_directory_symlink(folder.path(), folder / "slow/around");
  EXPECT_NE(problem(folder / "slow/around").find("contains the fast tier"), std::string::npos);
  fs::create_directories(tier + "/other");
  EXPECT_NE(problem(tier + "/other").find("lies on the fast tier"), std::string::npos);
}

TEST_F(StageWork, FailuresSayWhetherTheyAreFinal) {
  const auto missing = run(order(StageTask::Measure, {{.from = folder / "none", .to = {}}}));
  EXPECT_NE(missing.back().problem.find("No such file"), std::string::npos);
  EXPECT_TRUE(missing.back().is_final);
  const StageOrder base = order(StageTask::In, {});
  const auto changed = run(order(
      StageTask::In, {{.from = folder / "slow/images", .to = base.folder + "/in/00/images"}}));
  EXPECT_NE(changed.back().problem.find("changed since it was measured"), std::string::npos);
  EXPECT_FALSE(changed.back().is_final);
  if (::getuid() != 0) {
    StageOrder other = order(StageTask::Measure, {{.from = folder / "slow/images", .to = {}}});
    other.owner.uid = ::getuid() + 1;
    EXPECT_TRUE(run(other).back().is_final);
  }
}

/// Waits for the report that ends an order.
StageReport ended(Stager& stager) {
  for (int i = 0; i < 500; ++i) {
    for (const StageReport& report : stager.take()) {
      if (report.is_over) return report;
    }
    ::usleep(10'000);
  }
  return {};
}

TEST(Stagers, AProcessThatSaysNothingHasFailed) {
  const StageOrder order = order_in("/lustre/a", "/fast/1000/in/ab/a");
  Stager silent({.worker = {"/bin/sh", "-c", "read order; echo no such thing; exit 3"}});
  silent.order(order);
  EXPECT_EQ(ended(silent).problem, "the copying process ended with exit code 3: no such thing");
  Stager killed({.worker = {"/bin/sh", "-c", "kill -9 $$"}});
  killed.order(order);
  EXPECT_EQ(ended(killed).problem, "the copying process was ended by signal 9");
  Stager missing({.worker = {"/no/such/program"}});
  missing.order(order);
  EXPECT_NE(ended(missing).problem.find("/no/such/program"), std::string::npos);
}

/// Of a process, as its script wrote it.
bool ends(const std::string& pid_file) {
  int pid = 0;
  for (int i = 0; i < 500; ++i) {
    std::ifstream(pid_file) >> pid;
    if (pid > 0 && ::kill(pid, 0) != 0) return true;
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, state;
    if (pid > 0 && stat >> number >> name >> state && state == "Z") return true;
    ::usleep(10'000);
  }
  return false;
}

TEST(Stagers, AProcessThatHangsIsGivenUpAndKilled) {
  const StageOrder order = order_in("/lustre/a", "/fast/1000/in/ab/a");
  base::TestFolder folder("hang");
  const std::string script = "echo $$ > " + (folder / "pid") + "; exec sleep 1000";
  StagerOptions options{.worker = {"/bin/sh", "-c", script}};
  options.silence = std::chrono::milliseconds(500);
  Stager silent(options);
  silent.order(order);
  EXPECT_EQ(ended(silent).problem, "the copying process reported nothing for 0.5 s, and was ended");
  EXPECT_TRUE(ends(folder / "pid"));
  fs::remove(folder / "pid");
  silent.order(order);
  EXPECT_NE(ended(silent).problem.find("reported nothing"), std::string::npos) << "tried again";
}

TEST(Stagers, AProcessThatHangsDoesNotOutliveItsOrder) {
  StageOrder order = order_in("/lustre/a", "/fast/1000/in/ab/a");
  base::TestFolder folder("hang");
  const std::string script = "echo $$ > " + (folder / "pid") + "; exec sleep 1000";
  StagerOptions options{.worker = {"/bin/sh", "-c", script}};
  options.grace = std::chrono::milliseconds(50);
  const auto start = [&](Stager& stager) {
    order.withdrawn = false;
    stager.order(order);
    EXPECT_TRUE(stager.take().empty());
    for (int i = 0; i < 500 && base::TestFolder::read(folder / "pid").empty(); ++i) {
      ::usleep(10'000);
    }
  };
  {
    Stager stager(options);
    start(stager);
    order.withdrawn = true;
    stager.order(order);
    ::usleep(100'000);
    EXPECT_TRUE(stager.take().empty());
    EXPECT_TRUE(ends(folder / "pid")) << "withdrawn";
    fs::remove(folder / "pid");
    start(stager);
  }
  EXPECT_TRUE(ends(folder / "pid")) << "the daemon ended";
}

TEST(Stagers, TheGatewaysCommandGetsItsName) {
  StageOrder order = order_in("/lustre/a", "/fast/1000/in/ab/a");
  order.gateway = "gw1";
  Stager stager({.worker = {"/bin/false"},
                 .gateway_command = {"/bin/sh", "-c", "echo \"$0 $1\"; exit 1", "to-{node}"},
                 .node = "here"});
  stager.order(order);
  EXPECT_EQ(ended(stager).problem,
            "the copying process ended with exit code 1: to-gw1 stage-worker");
}

TEST(Stagers, TheNextOrderOfAJobWaitsForTheEndOfAWithdrawnOne) {
  StageOrder copy = order_in("/lustre/a", "/fast/1000/in/ab/a");
  base::TestFolder folder("stager");
  const std::string script = "read order; case \"$order\" in *'\"in\"'*) : > " +
                             (folder / "begun") + "; cat > /dev/null; sleep 0.3; : > " +
                             (folder / "ended") + ";; *) test -e " + (folder / "ended") +
                             " && : > " + (folder / "after") + ";; esac";
  Stager stager({.worker = {"/bin/sh", "-c", script}});
  stager.order(copy);
  (void)stager.take();
  for (int i = 0; i < 500 && !fs::exists(folder / "begun"); ++i) ::usleep(10'000);
  StageOrder clean = copy;
  clean.task = StageTask::Out;
  clean.paths.clear();
  copy.withdrawn = true;
  stager.order(copy);
  stager.order(clean);
  (void)ended(stager);
  EXPECT_TRUE(fs::exists(folder / "after"));
}

TEST(Stagers, ALookDoesNotWaitForSlowMeasurements) {
  const std::string script =
      "read order; case \"$order\" in *'\"look\"'*) exit 3;; *) cat > /dev/null;; esac";
  Stager stager({.worker = {"/bin/sh", "-c", script}});
  StageOrder order = order_in("/lustre/a", "/fast/1000/in/ab/a");
  order.task = StageTask::Measure;
  for (uint32_t i = 0; i < 8; ++i) {
    order.job = core::model::JobId(i);
    stager.order(order);
  }
  (void)stager.take();
  order.task = StageTask::Look;
  order.job = core::model::JobId(8U);
  stager.order(order);
  EXPECT_EQ(ended(stager).job, order.job);
}

TEST(Stagers, ARepeatedOrderChangesNothingAndAWithdrawnOneEnds) {
  const StageOrder order = order_in("/lustre/a", "/fast/1000/in/ab/a");
  base::TestFolder folder("stager");
  const std::string script =
      "echo x >> " + (folder / "starts") + "; cat > /dev/null; echo x >> " + (folder / "ends");
  Stager stager({.worker = {"/bin/sh", "-c", script}});
  for (int i = 0; i < 3; ++i) {
    stager.order(order);
    (void)stager.take();
    ::usleep(100'000);
  }
  EXPECT_EQ(base::TestFolder::read(folder / "starts"), "x\n");
  StageOrder withdrawn = order;
  withdrawn.withdrawn = true;
  stager.order(withdrawn);
  for (int i = 0; i < 300 && !fs::exists(folder / "ends"); ++i) ::usleep(10'000);
  EXPECT_EQ(base::TestFolder::read(folder / "ends"), "x\n") << "its input ended";
  ::usleep(50'000);
  EXPECT_TRUE(stager.take().empty()) << "nobody waits for what was withdrawn";
}

}  // namespace
}  // namespace goban::live::staging
