// The client of an interactive job's terminal: `goban run --pty`.
#pragma once

#include <functional>
#include <string>

#include "base/files.hpp"
#include "base/result.hpp"
#include "live/terminal/terminal_wire.hpp"

namespace goban::live::terminal {

/// How a session at a job's terminal ended.
struct TerminalEnd {
  enum class Kind : uint8_t {
    Exited,       ///< the job has ended
    Detached,     ///< by key presses: the job continues
    Interrupted,  ///< by `is_interrupted`
  };
  Kind kind = Kind::Exited;
  int exit_code = 0;  ///< Exited: the job's exit code, or 128 + the signal that killed it
};

class TerminalClient {
 public:
  /// Escape key: Ctrl-] d detaches, Ctrl-] Ctrl-] sends Ctrl-] to the job.
  static constexpr char kEscape = '\x1d';

  /// `socket_path`: terminal_socket() of the run. Errors: Failed if there is no such socket (not
  /// started yet, or ended) or no permission.
  [[nodiscard]] static base::Result<TerminalClient> connect(const std::string& socket_path);

  /// Copies between two files and the job until the job ends or the user detaches. A terminal at
  /// `in` is in raw mode meanwhile, so Ctrl-C goes to the job; size changes of a terminal at `out`
  /// are forwarded. The end of `in` is passed on as Ctrl-D. `is_interrupted` is called several
  /// times per second. Errors: Failed if the connection is lost.
  [[nodiscard]] base::Result<TerminalEnd> run(int in, int out,
                                              const std::function<bool()>& is_interrupted = {});

 private:
  enum class Typed : uint8_t { More, Ended, Leaves };

  [[nodiscard]] Typed pass_input(int in, bool is_terminal);
  void send(const std::string& frames) const;

  base::Descriptor socket_{};
  bool escaped_ = false;  ///< the last key was kEscape
};

}  // namespace goban::live::terminal
