/* Lets objects that were compiled for glibc 2.36 run on glibc 2.28: the entry of the program, and the functions that only newer
   versions have, by means of older ones. tools/portable_link.py links it; what is missing here fails that link. x86-64 only. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct stat;

/* Since 2.34 glibc calls the constructors of a program whose entry names none; before, the entry had to. Newer versions
   still call those that it names, and then no others. */
extern void _init(void);
typedef void constructor(int, char**, char**);
extern constructor* __preinit_array_start[] __attribute__((visibility("hidden")));
extern constructor* __preinit_array_end[] __attribute__((visibility("hidden")));
extern constructor* __init_array_start[] __attribute__((visibility("hidden")));
extern constructor* __init_array_end[] __attribute__((visibility("hidden")));

__attribute__((visibility("hidden"), used)) void goban_construct(int count, char** words, char** environment) {
  for (constructor** at = __preinit_array_start; at != __preinit_array_end; ++at) (*at)(count, words, environment);
  _init();
  for (constructor** at = __init_array_start; at != __init_array_end; ++at) (*at)(count, words, environment);
}

/* As the ABI of x86-64 says: the stack holds the words, rdx a function for the end. Destructors are run by the loader. */
__asm__(
    ".text\n.globl goban_entry\n.hidden goban_entry\n.type goban_entry,@function\n"
    "goban_entry:\n"
    ".cfi_startproc\n.cfi_undefined rip\n"
    "xorl %ebp, %ebp\n"
    "movq %rdx, %r9\n"
    "popq %rsi\n"
    "movq %rsp, %rdx\n"
    "andq $-16, %rsp\n"
    "pushq %rax\n"
    "pushq %rsp\n"
    "xorl %r8d, %r8d\n"
    "leaq goban_construct(%rip), %rcx\n"
    "movq main@GOTPCREL(%rip), %rdi\n"
    "call *__libc_start_main@GOTPCREL(%rip)\n"
    "hlt\n"
    ".cfi_endproc\n.size goban_entry, .-goban_entry\n");

/* 2.33: functions; before, inline calls of these with the version of the structure. */
extern int __xstat(int, const char*, struct stat*);
extern int __lxstat(int, const char*, struct stat*);
extern int __fxstat(int, int, struct stat*);
extern int __fxstatat(int, int, const char*, struct stat*, int);
enum { kStructure = 1 };
#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN int stat(const char* path, struct stat* out) { return __xstat(kStructure, path, out); }
HIDDEN int stat64(const char* path, struct stat* out) { return __xstat(kStructure, path, out); }
HIDDEN int lstat(const char* path, struct stat* out) { return __lxstat(kStructure, path, out); }
HIDDEN int lstat64(const char* path, struct stat* out) { return __lxstat(kStructure, path, out); }
HIDDEN int fstat(int file, struct stat* out) { return __fxstat(kStructure, file, out); }
HIDDEN int fstat64(int file, struct stat* out) { return __fxstat(kStructure, file, out); }
HIDDEN int fstatat(int folder, const char* path, struct stat* out, int flags) {
  return __fxstatat(kStructure, folder, path, out, flags);
}
HIDDEN int fstatat64(int folder, const char* path, struct stat* out, int flags) {
  return __fxstatat(kStructure, folder, path, out, flags);
}

/* 2.32: "the process has one thread", which lets libstdc++ count without atomic operations. */
HIDDEN char __libc_single_threaded = 0;

/* 2.36. Without random numbers nothing secret may be made. */
HIDDEN uint32_t arc4random(void) {
  uint32_t out;
  if (getentropy(&out, sizeof out) != 0) __builtin_trap();
  return out;
}

/* 2.34. Before Linux 5.9 there is no such call. */
HIDDEN int close_range(unsigned first, unsigned last, int flags) {
  const long done = syscall(SYS_close_range, first, last, flags);
  if (done == 0 || errno != ENOSYS || flags != 0) return (int)done;
  const long count = sysconf(_SC_OPEN_MAX);
  for (unsigned file = first; file <= last && (long)file < count; ++file) close((int)file);
  return 0;
}

/* 2.30: waits by a clock of the caller's. Before, conditions and mutexes had one clock, here the time of day. */
enum { kSecond = 1000000000 };

/* The time of day at `until` of the other clock. */
static struct timespec day_of(clockid_t clock, const struct timespec* until) {
  struct timespec now, day;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &day);
  day.tv_sec += until->tv_sec - now.tv_sec;
  day.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (day.tv_nsec < 0) {
    day.tv_nsec += kSecond;
    --day.tv_sec;
  } else if (day.tv_nsec >= kSecond) {
    day.tv_nsec -= kSecond;
    ++day.tv_sec;
  }
  if (day.tv_sec < 0) day = (struct timespec){0, 0};
  return day;
}

static int has_passed(clockid_t clock, const struct timespec* until) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec > until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec);
}

/* If the time of day jumps, the wait ends early, as any wait for a condition may. */
HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, until);
  if (clock != CLOCK_MONOTONIC) return EINVAL;
  const struct timespec day = day_of(clock, until);
  const int result = pthread_cond_timedwait(condition, mutex, &day);
  return result == ETIMEDOUT && !has_passed(clock, until) ? 0 : result;
}

HIDDEN int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  if (clock == CLOCK_REALTIME) return pthread_mutex_timedlock(mutex, until);
  if (clock != CLOCK_MONOTONIC) return EINVAL;
  int result;
  do {
    const struct timespec day = day_of(clock, until);
    result = pthread_mutex_timedlock(mutex, &day);
  } while (result == ETIMEDOUT && !has_passed(clock, until));
  return result;
}
