#include "train/comm/call_header.hpp"

#include <algorithm>
#include <cstring>

namespace goban::train::comm {

CallHeader pack(const Call& call) {
  CallHeader header{};
  header.operation = static_cast<uint8_t>(call.operation);
  header.element = static_cast<uint8_t>(call.element);
  header.reduction = static_cast<uint8_t>(call.reduction);
  const std::string_view all = call.what;
  const std::string_view what = all.substr(all.size() - std::min(all.size(), sizeof header.what));
  header.what_size = static_cast<uint32_t>(what.size());
  std::copy(what.begin(), what.end(), header.what);
  header.bytes = call.bytes;
  header.sequence = call.sequence;
  return header;
}

Call unpack(const CallHeader& header) {
  Call call;
  call.operation = static_cast<Operation>(std::min<uint8_t>(header.operation, kOperations - 1));
  call.element = static_cast<Element>(header.element);
  call.reduction = static_cast<Reduction>(header.reduction);
  call.what.assign(header.what, std::min<size_t>(header.what_size, sizeof header.what));
  call.bytes = header.bytes;
  call.sequence = header.sequence;
  return call;
}

}  // namespace goban::train::comm
