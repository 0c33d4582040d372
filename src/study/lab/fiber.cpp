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

#ifdef GOBAN_OWN_SWITCH
/// Keeps what a function must preserve on the current stack, whose pointer goes to *from, and
/// returns on the stack `to`, which was left in the same way.
__attribute__((naked, noinline)) void switch_stacks([[maybe_unused]] void** from,
                                                    [[maybe_unused]] void* to) {
  asm(R"(
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
  )");
}
#endif

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
    entering = this;
    prepare();
  }
  void* fake = nullptr;
  announce(&fake, stack_, kStackBytes);
  go_in();
  arrive(fake, nullptr, nullptr);
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void Fiber::pause() {
  void* fake = nullptr;
  announce(&fake, outside_stack_, outside_bytes_);
  go_out();
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
  go_out();
}

#ifdef GOBAN_OWN_SWITCH

void Fiber::prepare() {
  // As if switch_stacks() had left this stack when enter() was about to be called: six registers,
  // where to return to, and below that, for who walks the stack, no caller.
  constexpr size_t kRegisters = 6;
  auto** const end = reinterpret_cast<void**>(static_cast<char*>(stack_) + kStackBytes);
  end[-2] = reinterpret_cast<void*>(&Fiber::enter);
  inside_ = static_cast<void*>(end - 2 - kRegisters);
}

void Fiber::go_in() { switch_stacks(&outside_, inside_); }
void Fiber::go_out() { switch_stacks(&inside_, outside_); }

#else

void Fiber::prepare() {
  GOBAN_CHECK(getcontext(&inside_) == 0);
  inside_.uc_stack.ss_sp = stack_;
  inside_.uc_stack.ss_size = kStackBytes;
  inside_.uc_link = nullptr;
  makecontext(&inside_, &Fiber::enter, 0);
}

void Fiber::go_in() { GOBAN_CHECK(swapcontext(&outside_, &inside_) == 0); }
void Fiber::go_out() { GOBAN_CHECK(swapcontext(&inside_, &outside_) == 0); }

#endif

}  // namespace goban::study::lab
