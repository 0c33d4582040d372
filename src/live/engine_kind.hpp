// A kind of engine: its name, its factory, and its helper program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/config.hpp"
#include "base/gpus/machine_gpus.hpp"
#include "base/result.hpp"
#include "live/engine.hpp"

namespace goban::live {

/// What the configuration says of engines: `engine = "name"`, and the table [name].
struct EngineChoice {
  std::string name = "local";
  base::ConfigValue table{.value = base::ConfigValue::Table()};  ///< empty if there is none
  std::string file{};                                            ///< that holds it, for messages
  friend bool operator==(const EngineChoice& one, const EngineChoice& other) {
    return one.name == other.name && one.table == other.table;
  }
};

/// Inputs of an engine's factory.
struct EngineSetup {
  std::string state{};  ///< state folder of the daemon; exists
  std::string node{};   ///< name of this machine
  uint64_t epoch =
      0;  ///< of the daemon; after a takeover by a later daemon the engine starts nothing
  bool earlier_may_run = false;       ///< the daemon before was silent: its process may still exist
  base::gpus::MachineGpus machine{};  ///< empty for the engine of a cluster
  EngineChoice choice{};
  bool by_priority = false;  ///< the policy orders jobs by JobSpec::priority
};

struct EngineParts {
  std::unique_ptr<Engine> engine{};
  std::unique_ptr<EngineView> view{};
  std::vector<std::string> notes{};  ///< for the log, such as protections that this machine lacks
};

/// A program that an engine starts for itself: a hidden command of goban with one argument.
struct EngineHelper {
  const char* command = nullptr;  ///< null: the engine has none
  const char* words = nullptr;
  const char* argument = nullptr;
  const char* argument_words = nullptr;
  /// Returns the exit code. Errors: Usage.
  base::Result<int> (*run)(const std::string& argument) = nullptr;
};

struct EngineKind {
  const char* name = nullptr;
  /// The engine has a cluster with a queue of its own: users submit jobs with this command of it.
  /// Null: jobs are submitted here, and run on this machine.
  const char* submit_with = nullptr;
  /// Parts of a job of that queue may lie on one node; otherwise each is on a node of its own.
  bool parts_share_nodes = false;
  /// Whether it counts GPUs of dead nodes as held until an operator fences them, as it is
  /// configured; null: it does not.
  bool (*fences_nodes)(const EngineChoice& choice) = nullptr;
  /// It can stop a running job for a while and let it go on.
  bool suspends_jobs = true;
  /// Whether it can put nodes to sleep and wake them, as it is configured; null: it cannot.
  bool (*rests_nodes)(const EngineChoice& choice) = nullptr;
  /// Reads all keys of the engine's table of the configuration and refuses wrong values; null: the
  /// engine has no keys.
  void (*check)(base::TableReader& table) = nullptr;
  base::Result<EngineParts> (*make)(const EngineSetup& setup) = nullptr;
  EngineHelper helper{};
};

}  // namespace goban::live
