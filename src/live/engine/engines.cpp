#include "live/engine/engines.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/check.hpp"
#include "live/engine/kubernetes/kubernetes_kind.hpp"
#include "live/engine/local/local_kind.hpp"
#include "live/engine/slurm/slurm_kind.hpp"

namespace goban::live::engine {

namespace {

constexpr std::array kKinds = {local::kLocalKind, slurm::kSlurmKind, kubernetes::kKubernetesKind};

/// Null if the choice names no engine.
const EngineKind* kind_of(const EngineChoice& choice) {
  const auto* kind = std::ranges::find(kKinds, choice.name, &EngineKind::name);
  return kind == kKinds.end() ? nullptr : kind;
}

}  // namespace

std::span<const EngineKind> engine_kinds() { return kKinds; }

EngineChoice read_engine(base::TableReader& root, std::span<const EngineKind> kinds) {
  EngineChoice choice{.file = root.file()};
  choice.name = root.text("engine", choice.name);
  std::string known;
  bool is_known = false;
  for (const EngineKind& kind : kinds) {
    known += (known.empty() ? "" : ", ") + std::string(kind.name);
    const bool is_chosen = choice.name == kind.name;
    is_known = is_known || is_chosen;
    auto table = root.table(kind.name);
    if (!table) continue;
    if (kind.check != nullptr) kind.check(*table);
    table->finish();
    if (is_chosen) choice.table = table->value();
  }
  if (!is_known) {
    root.refuse("engine", fmt::format("unknown engine {}", choice.name), "known engines: " + known);
  }
  return choice;
}

const char* submit_command(const EngineChoice& choice) {
  const EngineKind* kind = kind_of(choice);
  return kind == nullptr ? nullptr : kind->submit_with;
}

bool parts_share_nodes(const EngineChoice& choice) {
  const EngineKind* kind = kind_of(choice);
  return kind != nullptr && kind->parts_share_nodes;
}

bool fences_nodes(const EngineChoice& choice) {
  const EngineKind* kind = kind_of(choice);
  return kind != nullptr && kind->fences_nodes != nullptr && kind->fences_nodes(choice);
}

bool suspends_jobs(const EngineChoice& choice) {
  const EngineKind* kind = kind_of(choice);
  return kind != nullptr && kind->suspends_jobs;
}

bool rests_nodes(const EngineChoice& choice) {
  const EngineKind* kind = kind_of(choice);
  return kind != nullptr && kind->rests_nodes != nullptr && kind->rests_nodes(choice);
}

base::Result<EngineParts> make_engine(const EngineSetup& setup) {
  const EngineKind* kind = kind_of(setup.choice);
  GOBAN_CHECK(kind != nullptr);
  return kind->make(setup);
}

}  // namespace goban::live::engine
