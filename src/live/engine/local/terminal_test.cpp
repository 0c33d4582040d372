// Interactive jobs: a client at the terminal of a job.
#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "live/engine/local/progress_listener.hpp"
#include "live/engine/local/test_runs.hpp"
#include "live/terminal/terminal_client.hpp"

namespace goban::live::engine::local {
namespace {

using terminal::append_frames;
using terminal::FrameReader;
using terminal::FrameType;
using terminal::TerminalClient;
using terminal::TerminalEnd;
using terminal::window_frame;
using terminal::window_of;
using terminal::WindowSize;

LaunchOrder interactive(const TestRuns& runs, const std::string& script) {
  auto order = runs.job(1, script);
  order.spec.interactive = true;
  order.spec.stop.grace_ns = base::kSecond / 5;
  return order;
}

/// Starts it and returns the path of its terminal.
std::string terminal_of(TestRuns& runs, const LaunchOrder& order) {
  runs.engine().launch(order);
  EXPECT_EQ(runs.wait_for(order.run, ReportKind::Started).back().kind, ReportKind::Started);
  return terminal_socket(runs.state(), order.run);
}

TEST(Terminal, WhatIsTypedArrivesAndTheExitCodeComesBack) {
  TestRuns runs("terminal");
  const auto order = interactive(
      runs, "test -t 0 && test -t 1 && echo a terminal\nread line\necho \"got <$line>\"\nexit 9\n");
  auto client = TerminalClient::connect(terminal_of(runs, order));
  ASSERT_TRUE(client) << client.error().text();
  std::ofstream(runs.out("typed")) << "hello\n";
  const base::Descriptor in(::open(runs.out("typed").c_str(), O_RDONLY));
  const base::Descriptor out(::open(runs.out("shown").c_str(), O_WRONLY | O_CREAT, 0600));
  const auto code = client->run(in.get(), out.get());
  ASSERT_TRUE(code) << code.error().text();
  EXPECT_EQ(code->exit_code, 9);
  const std::string shown = text_of(runs.out("shown"));
  EXPECT_NE(shown.find("a terminal\r\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find("got <hello>\r\n"), std::string::npos) << shown;
  EXPECT_EQ(runs.wait_for(order.run, ReportKind::Ended).back().exit_code, 9);
}

TEST(Terminal, AJobThatNobodyLooksAtIsStopped) {
  TestRuns runs("terminal_alone");
  runs.options.attach_timeout_s = 0.2;
  const auto order = interactive(runs, "trap '' HUP TERM\nwhile true; do sleep 0.05; done\n");
  terminal_of(runs, order);
  const auto end = runs.wait_for(order.run, ReportKind::Ended).back();
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_EQ(end.detail, "no client was attached to its terminal");
}

TEST(Terminal, AShortJobWaitsForItsFirstClient) {
  TestRuns runs("terminal_short");
  const auto order = interactive(runs, "echo all of it\nexit 3\n");
  runs.engine().launch(order);
  std::string path;
  ASSERT_TRUE(
      wait_until([&] { return !(path = terminal_socket(runs.state(), order.run)).empty(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it has ended by now
  auto client = TerminalClient::connect(path);
  ASSERT_TRUE(client) << client.error().text();
  const base::Descriptor in(::open("/dev/null", O_RDONLY));
  const base::Descriptor out(::open(runs.out("shown").c_str(), O_WRONLY | O_CREAT, 0600));
  const auto end = client->run(in.get(), out.get());
  ASSERT_TRUE(end) << end.error().text();
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_NE(text_of(runs.out("shown")).find("all of it"), std::string::npos);
  EXPECT_EQ(runs.wait_for(order.run, ReportKind::Ended).back().exit_code, 3);
}

TEST(Terminal, NoJobNoTerminal) {
  TestRuns runs("terminal_none");
  EXPECT_EQ(terminal_socket(runs.state(), {core::model::JobId(0U), 1}), "");
  EXPECT_FALSE(TerminalClient::connect(""));
  EXPECT_FALSE(TerminalClient::connect(runs.state() + "/nothing"));
}

TEST(Terminal, OthersAreToldWhoseItIs) {
  TestRuns runs("terminal_others");
  const std::string path = runs.state() + "/tty.sock";
  const auto listening = listen_at(path, {.uid = ::geteuid(), .gid = ::getegid(), .user = {}});
  ASSERT_TRUE(listening) << listening.error().text();
  constexpr uid_t kNobody = 65534;
  const uid_t own = ::geteuid();
  const bool is_root = own == 0;
  ASSERT_EQ(::chmod(path.c_str(), is_root ? 0600 : 0), 0);
  ASSERT_EQ(::seteuid(is_root ? kNobody : own), 0);
  const auto client = TerminalClient::connect(path);
  ASSERT_EQ(::seteuid(own), 0);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().remedy, "only the job's owner and root may attach to its terminal");
}

TEST(TerminalWire, FramesComeOutAsTheyWentIn) {
  std::string bytes;
  const std::string large(150'000, 'q');
  append_frames(bytes, FrameType::Data, large);
  bytes += window_frame({300, 512});
  FrameReader reader;
  std::string data;
  WindowSize window;
  FrameType type{};
  std::string text;
  for (const char& c : bytes) {
    reader.feed({&c, 1});
    while (reader.next(type, text)) {
      if (type == FrameType::Data) data += text;
      if (type == FrameType::Window) window = window_of(text);
    }
  }
  EXPECT_EQ(data, large);
  EXPECT_EQ(window, (WindowSize{300, 512}));
  EXPECT_EQ(window_of("x"), WindowSize{});
}

}  // namespace
}  // namespace goban::live::engine::local
