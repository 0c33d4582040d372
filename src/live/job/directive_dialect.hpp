// How each batch system writes its directives: tables of options for directives.cpp.
#pragma once

#include <span>
#include <string_view>

#include "live/job/request_setters.hpp"

namespace goban::live::job {

struct DirectiveOption {
  std::string_view names{};  ///< without dashes, a space between; one letter: short
  int values = 1;            ///< that follow: 0, 1, 2; kOptional: only as --name=value
  Setter set = nullptr;      ///< null: known, and without effect
  std::string_view why{};    ///< if it has none
};
inline constexpr int kOptional = -1;

struct Dialect {
  std::string_view name{};  ///< as JobWish has it
  std::string_view prefix{};
  std::span<const DirectiveOption> options{};
  bool words = false;  ///< options of several letters have one dash: -cwd
};

/// The dialects that are not Goban's own.
[[nodiscard]] const Dialect& slurm_dialect();
[[nodiscard]] const Dialect& grid_engine_dialect();
[[nodiscard]] const Dialect& pbs_dialect();

}  // namespace goban::live::job
