// A training loop that reports its progress to Goban, and stops on request.
// c++ -std=c++20 progress.cpp -o progress && ./progress [STEPS]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/// Writes lines to the socket in GOBAN_PROGRESS_SOCKET; does nothing without one.
class Progress {
 public:
  Progress() {
    const char* path = std::getenv("GOBAN_PROGRESS_SOCKET");
    sockaddr_un address{AF_UNIX, {}};
    if (path == nullptr || std::strlen(path) >= sizeof address.sun_path) return;
    std::strcpy(address.sun_path, path);
    socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return;
    const char* job = std::getenv("GOBAN_JOB_ID");
    say("goban-progress 1 job=" + std::string(job ? job : "-") +
        " pid=" + std::to_string(getpid()));
  }
  /// A slow or absent reader must not block the training: lines that do not fit are dropped.
  void say(const std::string& line) const {
    const std::string text = line + "\n";
    if (socket_ >= 0) (void)!::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
  }
  bool must_stop() const {
    char text[4096] = {};
    return socket_ >= 0 && ::recv(socket_, text, sizeof text - 1, 0) > 0 &&
           std::strstr(text, "stop ") != nullptr;
  }

 private:
  int socket_ = -1;
};

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 100;
  const Progress progress;
  for (int step = 1; step <= steps; ++step) {
    usleep(50'000);  // one training step
    progress.say("progress epochs=4 step=" + std::to_string(step) +
                 " steps=" + std::to_string(steps) + " loss=" + std::to_string(1.0 / step));
    if (progress.must_stop()) {
      progress.say("checkpoint step=" + std::to_string(step));  // after writing it
      progress.say("end stopped");
      return 0;
    }
  }
  progress.say("end done");
}
