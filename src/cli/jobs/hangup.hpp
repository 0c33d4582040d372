// For commands that must not outlive their terminal.
#pragma once

namespace goban::cli {

/// From now on closing the terminal has the effect of Ctrl-C, unless SIGHUP is ignored (nohup(1)).
void catch_hangups();

}  // namespace goban::cli
