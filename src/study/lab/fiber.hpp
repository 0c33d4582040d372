// A function that stops in the middle and continues later, on a stack of its own in the same
// thread. Source: swapcontext(3); on x86-64 the same without its two system calls, by the System V
// ABI.
#pragma once

#include <exception>
#include <functional>

#ifdef __x86_64__
#define GOBAN_OWN_SWITCH 1
#else
#include <ucontext.h>
#endif

namespace goban::study::lab {

/// Runs `body` piece by piece: from resume() up to the next pause(). A switch takes nanoseconds on
/// x86-64, elsewhere about half a microsecond. Signal masks and modes of arithmetic are those of
/// the thread. Not for use by two threads at once.
class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  /// A body that has started must have ended: it owns what is on its stack.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs the body until it pauses or ends. Throws what the body throws, which ends it.
  void resume();
  /// Called by the body: returns from resume(), and continues at the next resume().
  void pause();
  [[nodiscard]] bool started() const { return started_; }
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  static void enter();
  void prepare();
  void go_in();
  void go_out();
  void run();

  std::function<void()> body_;
  void* mapped_ = nullptr;  ///< the stack, with a page below it that no one may touch
  void* stack_ = nullptr;
#ifdef GOBAN_OWN_SWITCH
  void* inside_ = nullptr;  ///< stack pointers of who does not run
  void* outside_ = nullptr;
#else
  ucontext_t inside_{};
  ucontext_t outside_{};
#endif
  bool started_ = false;
  bool ended_ = false;
  std::exception_ptr thrown_;
  // What the address sanitizer must know of the two stacks.
  const void* outside_stack_ = nullptr;
  size_t outside_bytes_ = 0;
};

}  // namespace goban::study::lab
