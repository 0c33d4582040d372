#include "study/rivals/decisions.hpp"

#include "base/number.hpp"

namespace goban::study::rivals {
namespace {

void append_ids(std::string& out, const std::vector<int32_t>& ids) {
  out += '[';
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i > 0) out += ", ";
    base::append_number(out, int64_t{ids[i]});
  }
  out += ']';
}

}  // namespace

void append_decision(std::string& out, const Decision& decision) {
  out += '[';
  base::append_number(out, decision.now_s);
  out += ", [";
  for (size_t i = 0; i < decision.holdings.size(); ++i) {
    out += i > 0 ? ", [" : "[";
    base::append_number(out, int64_t{decision.holdings[i].job});
    out += ", ";
    append_ids(out, decision.holdings[i].gpus);
    out += ']';
  }
  out += "], ";
  append_ids(out, decision.ended);
  out += "]\n";
}

}  // namespace goban::study::rivals
