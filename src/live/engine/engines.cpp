#include "live/engine/engines.hpp"

#include <array>
#include <fmt/format.h>

#include "live/engine/local/local_kind.hpp"

namespace goban::live::engine {

namespace {

constexpr std::array kKinds = {local::kLocalKind};

}  // namespace

std::span<const EngineKind> engine_kinds() { return kKinds; }

base::Result<EngineParts> make_engine(std::string_view name, const EngineSetup& setup) {
  std::string known;
  for (const EngineKind& kind : kKinds) {
    if (kind.name == name) return kind.make(setup);
    known += (known.empty() ? "" : ", ") + std::string(kind.name);
  }
  return base::usage_error(fmt::format("unknown engine {}", name), "known engines: " + known);
}

}  // namespace goban::live::engine
