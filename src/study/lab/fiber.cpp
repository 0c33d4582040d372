#include "study/lab/fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include "base/check.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define GOBAN_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GOBAN_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef GOBAN_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

namespace goban::study::lab {

namespace {

constexpr size_t kStackBytes = size_t{1} << 20U;  // pages that are not touched take no memory

/// The fiber that is about to run for the first time: makecontext() passes no pointers.
thread_local Fiber* entering = nullptr;

/// Before a switch to the stack. `fake` is null if the current stack is left for good.
void announce(void** fake, const void* stack, size_t bytes) {
#ifdef GOBAN_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(fake, stack, bytes);
#else
  (void)fake, (void)stack, (void)bytes;
#endif
}

/// After the switch back to a stack. Tells which one was left.
// NOLINTNEXTLINE(readability-non-const-parameter): the sanitizer writes to it
void arrive(void* fake, const void** left, size_t* bytes) {
#ifdef GOBAN_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(fake, left, bytes);
#else
  (void)fake, (void)left, (void)bytes;
#endif
}

}  // namespace

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  mapped_ = mmap(nullptr, page + kStackBytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  GOBAN_CHECK(mapped_ != MAP_FAILED);
  GOBAN_CHECK(mprotect(mapped_, page, PROT_NONE) == 0);
  stack_ = static_cast<char*>(mapped_) + page;
}

Fiber::~Fiber() {
  GOBAN_CHECK(!started_ || ended_);
  munmap(mapped_, static_cast<size_t>(static_cast<char*>(stack_) - static_cast<char*>(mapped_)) +
                      kStackBytes);
}

void Fiber::resume() {
  GOBAN_CHECK(!ended_);
  if (!started_) {
    started_ = true;
    GOBAN_CHECK(getcontext(&inside_) == 0);
    inside_.uc_stack.ss_sp = stack_;
    inside_.uc_stack.ss_size = kStackBytes;
    inside_.uc_link = nullptr;
    entering = this;
    makecontext(&inside_, &Fiber::enter, 0);
  }
  void* fake = nullptr;
  announce(&fake, stack_, kStackBytes);
  GOBAN_CHECK(swapcontext(&outside_, &inside_) == 0);
  arrive(fake, nullptr, nullptr);
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void Fiber::pause() {
  void* fake = nullptr;
  announce(&fake, outside_stack_, outside_bytes_);
  GOBAN_CHECK(swapcontext(&inside_, &outside_) == 0);
  arrive(fake, &outside_stack_, &outside_bytes_);
}

void Fiber::enter() { std::exchange(entering, nullptr)->run(); }

void Fiber::run() {
  arrive(nullptr, &outside_stack_, &outside_bytes_);
  try {
    body_();
  } catch (...) {
    thrown_ = std::current_exception();
  }
  ended_ = true;
  announce(nullptr, outside_stack_, outside_bytes_);
  setcontext(&outside_);
}

}  // namespace goban::study::lab
