// Uses what differs between glibc 2.28 and later ones: constructors before main, threads, waits by
// the steady clock, status of files, random numbers, exceptions. Prints "ok" and, at its end,
// "destroyed".
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>

namespace {

struct Witness {
  std::string text = "made";
  ~Witness() { std::puts("destroyed"); }
};
Witness witness;

int fail(const char* what) {
  std::printf("failed: %s\n", what);
  return 1;
}

}  // namespace

int main(int count, char** words) {
  if (witness.text != "made") return fail("constructors");
  if (count != 3 || std::string(words[2]) != "word") return fail("arguments");
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::thread thread([&] {
    const std::lock_guard lock(mutex);
    done = true;
    changed.notify_one();
  });
  {
    std::unique_lock lock(mutex);
    const auto start = std::chrono::steady_clock::now();
    if (!changed.wait_for(lock, std::chrono::seconds(20), [&] { return done; }))
      return fail("a notification");
    if (changed.wait_for(lock, std::chrono::milliseconds(50), [] { return false; }))
      return fail("a time limit");
    if (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(50))
      return fail("an early end");
  }
  thread.join();
  std::timed_mutex held;
  held.lock();
  std::thread other([&held, &done] { done = held.try_lock_for(std::chrono::milliseconds(50)); });
  other.join();
  if (done) return fail("a mutex that is held");
  held.unlock();
  if (!held.try_lock_for(std::chrono::milliseconds(50))) return fail("a mutex that is free");
  held.unlock();
  try {
    std::stoi("none");
    return fail("an exception");
  } catch (const std::invalid_argument&) {
  }
  if (std::filesystem::file_size(words[1]) != 5) return fail("the size of a file");
  const int first = ::open(words[1], O_RDONLY);
  if (::close_range(static_cast<unsigned>(first), ~0U, 0) != 0 || ::close(first) == 0)
    return fail("closing files");
  std::random_device random;
  if (random() == random() && random() == random()) return fail("random numbers");
  if (std::exp(0.0 * count) != 1 || std::pow(2.0, count) != 8) return fail("exp or pow");
  std::puts("ok");
  return 0;
}
