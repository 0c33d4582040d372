// A kind of engine: its name, its factory, and its helper program.
#pragma once

#include <memory>
#include <string>

#include "base/gpus/machine_gpus.hpp"
#include "base/result.hpp"
#include "live/engine.hpp"

namespace goban::live {

/// Inputs of an engine's factory.
struct EngineSetup {
  std::string state{};  ///< state folder of the daemon; exists
  std::string node{};   ///< name of this machine
  uint64_t epoch =
      0;  ///< of the daemon; after a takeover by a later daemon the engine starts nothing
  base::gpus::MachineGpus machine{};
};

struct EngineParts {
  std::unique_ptr<Engine> engine{};
  std::unique_ptr<EngineView> view{};
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
  const char* words = nullptr;  ///< one line of description
  base::Result<EngineParts> (*make)(const EngineSetup& setup) = nullptr;
  EngineHelper helper{};
};

}  // namespace goban::live
