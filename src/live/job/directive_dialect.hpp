// The directive syntax of each batch system: tables of options for submit_directives.cpp.
#pragma once

#include <span>
#include <string_view>

#include "live/job/submit_options.hpp"

namespace goban::live::job {

struct DirectiveOption {
  std::string_view names{};  ///< without dashes, separated by spaces; one letter: short option
  int values = 1;            ///< number of values: 0, 1, 2; kOptional: only as --name=value
  Setter set = nullptr;      ///< null: known but ignored
  std::string_view why{};    ///< if it is ignored: the reason
};
inline constexpr int kOptional = -1;
/// Reasons to ignore an option that more than one dialect has.
inline constexpr std::string_view kNoMail = "no mail is sent";
inline constexpr std::string_view kOfSubmit = "it applies to the submit command, not to the job";

struct Dialect {
  std::string_view name{};  ///< as in SubmitDirectives::dialect
  std::string_view prefix{};
  std::span<const DirectiveOption> options{};
  bool words = false;  ///< options of several letters have one dash: -cwd
};

/// The option of this name, without dashes; null if the dialect has none.
[[nodiscard]] const DirectiveOption* find_option(const Dialect& dialect, std::string_view name);

/// The dialects of other batch systems.
[[nodiscard]] const Dialect& slurm_dialect();
[[nodiscard]] const Dialect& grid_engine_dialect();
[[nodiscard]] const Dialect& pbs_dialect();

}  // namespace goban::live::job
