#include "core/policy/migration/migration.hpp"

namespace goban::core::policy {

std::unique_ptr<Migration> make_stay() { return std::make_unique<Migration>(); }

}  // namespace goban::core::policy
