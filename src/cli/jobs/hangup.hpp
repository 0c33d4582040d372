// For commands that must not outlive their terminal.
#pragma once

namespace goban::cli {

/// From now on a terminal that is closed counts as Ctrl-C, unless nohup(1) has that ignored.
void catch_hangups();

}  // namespace goban::cli
