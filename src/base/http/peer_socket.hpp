// What the kernel knows of the other end of a connection.
#pragma once

#include "base/http/http_message.hpp"

namespace goban::base::http {

/// Who has the other end of a Unix socket; nobody for other sockets.
[[nodiscard]] Peer peer_of(int descriptor);
/// A host that disappears without closing its connections is noticed after about three minutes.
/// There is no heartbeat in the body of a log: its bytes are those of the job.
void probe_when_silent(int descriptor);

}  // namespace goban::base::http
