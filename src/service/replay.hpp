// A journal folded again: every decision that was recorded, made once more and compared.
#pragma once

#include <string>

#include "live/turns.hpp"
#include "service/serve_config.hpp"

namespace goban::service {

/// `path`: a state folder, its journal folder or one of its files. The configuration has to be that
/// of the daemon. Nothing is changed. Errors: those of the configuration; Failed if there is no
/// journal; BadData if it is damaged or does not fit.
[[nodiscard]] base::Result<live::Turns::Fold> replay_journal(const ServeConfig& config,
                                                             const std::string& path);

}  // namespace goban::service
