// A stand-in for the machine's clock, for LD_PRELOAD: the time since 1970 is that of the machine
// plus the seconds in the file FAKE_CLOCK, which may change at any time. Clocks that nobody can set
// stay as they are.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

namespace {
long offset_s() {
  const char* path = std::getenv("FAKE_CLOCK");
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "re");
  long out = 0;
  if (file != nullptr && std::fscanf(file, "%ld", &out) != 1) out = 0;
  if (file != nullptr) std::fclose(file);
  return out;
}
}  // namespace

extern "C" {
int clock_gettime(clockid_t clock, timespec* out) noexcept {
  const long result = syscall(SYS_clock_gettime, clock, out);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    out->tv_sec += offset_s();
  }
  return static_cast<int>(result);
}
time_t time(time_t* out) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}
int gettimeofday(timeval* out, void*) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  *out = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}
}
