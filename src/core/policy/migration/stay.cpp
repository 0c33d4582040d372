#include "policy/migration/migration.hpp"

namespace goban::policy {

std::unique_ptr<Migration> make_stay() { return std::make_unique<Migration>(); }

}  // namespace goban::policy
