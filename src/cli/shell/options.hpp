// Names of base::command_line that all commands use.
#pragma once

#include "base/command_line/options.hpp"

namespace goban::cli {

using base::command_line::Command;
using base::command_line::Option;
using base::command_line::refuse_missing;
using base::command_line::refuse_value;

}  // namespace goban::cli
