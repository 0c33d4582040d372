// Which pod holds which GPUs of its node.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "live/engine/cluster/picture.hpp"
#include "live/engine/kubernetes/gangs.hpp"

namespace goban::live::engine::kubernetes {

using Holdings = std::map<std::string, std::vector<int32_t>>;  ///< pod's uid: indices

/// By node: GPUs that it has at least, as pods of ours there hold them, or gangs that ran there and
/// have not ended. A device plug-in that is started anew offers fewer.
[[nodiscard]] std::map<std::string, int32_t> gpus_held(const Objects& objects, const Rules& rules,
                                                       const cluster::Picture& told);

/// Who holds which GPU: pods of ours as their annotation says, others as was told last, and any of
/// the rest for those that come anew. `held`: as of gpus_held().
[[nodiscard]] Holdings holdings_of(const Objects& objects, const Rules& rules,
                                   const cluster::Picture& told,
                                   const std::map<std::string, int32_t>& held);

/// Gangs that two daemons placed on one GPU, without the one that has been there for longest: these
/// are taken back. Where only numbers of GPUs count, kubelets refuse what is too much.
[[nodiscard]] std::set<std::string> doubled(const std::map<std::string, Gang>& gangs,
                                            const Rules& rules);

}  // namespace goban::live::engine::kubernetes
