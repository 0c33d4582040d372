// The other end of an interactive job: `goban run --pty`.
#pragma once

#include <functional>
#include <string>

#include "base/files.hpp"
#include "base/result.hpp"
#include "live/terminal/terminal_wire.hpp"

namespace goban::live::terminal {

/// How a visit to a job's terminal ended.
struct TerminalEnd {
  enum class Kind : uint8_t {
    Exited,       ///< the job is over
    Detached,     ///< by the keys for it: the job runs on
    Interrupted,  ///< by `is_interrupted`
  };
  Kind kind = Kind::Exited;
  int exit_code = 0;  ///< Exited: the job's, 128 + the signal that ended it
};

class TerminalClient {
 public:
  /// Before the key that says what to do: Ctrl-], then `d` detaches, Ctrl-] sends it to the job.
  static constexpr char kEscape = '\x1d';

  /// `socket_path`: terminal_socket() of the run. Errors: Failed: no such socket (not started yet,
  /// or over), no permission.
  [[nodiscard]] static base::Result<TerminalClient> connect(const std::string& socket_path);

  /// Copies between two files and the job until it is over or somebody leaves; a terminal at `in`
  /// is set to raw meanwhile, so Ctrl-C goes to the job, and the size of one at `out` is followed.
  /// The end of `in` is passed on as Ctrl-D. `is_interrupted` is asked several times a second.
  /// Errors: Failed if the connection breaks before.
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
