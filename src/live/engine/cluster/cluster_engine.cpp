#include "live/engine/cluster/cluster_engine.hpp"

#include <iterator>
#include <utility>

namespace goban::live::engine::cluster {

void ClusterEngine::end() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ClusterEngine::post(std::function<void()> order) {
  {
    const std::scoped_lock lock(mutex_);
    inbox_.push_back(std::move(order));
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  }
  wake_.notify_all();
}

void ClusterEngine::do_posted() {
  std::vector<std::function<void()>> orders;
  {
    const std::scoped_lock lock(mutex_);
    orders = std::exchange(inbox_, {});
  }
  for (const auto& order : orders) order();
}

bool ClusterEngine::tell(std::vector<EngineEvent> events, Picture picture) {
  // What changes of a waiting job while an order for it is open would not be heard: it is told when
  // the order is answered.
  for (const auto& [id, before] : told_.jobs) {
    const auto now = picture.jobs.find(id);
    const bool waits = now != picture.jobs.end() && before.state == SeenState::Waiting &&
                       now->second.state == SeenState::Waiting;
    if (waits && ledger_.run_of(id).job.valid()) now->second = before;
  }
  std::vector<EngineEvent> changes = diff(told_, picture);
  // A list without nodes is news to who knows nodes from earlier.
  if (!has_told_ && told_.cluster == picture.cluster) {
    changes.insert(changes.begin(), picture.cluster);
  }
  has_told_ = true;
  picture.ended.clear();
  told_ = std::move(picture);
  const bool is_new = !events.empty() || !changes.empty();
  const std::scoped_lock lock(mutex_);
  for (std::vector<EngineEvent>* list : {&events, &changes}) {
    outbox_.insert(outbox_.end(), std::make_move_iterator(list->begin()),
                   std::make_move_iterator(list->end()));
  }
  return is_new;
}

void ClusterEngine::launch(const LaunchOrder& order) {
  post([this, order] { ledger_.launch(order); });
}

void ClusterEngine::stop(RunId run, StopReason reason) {
  post([this, run, reason] { ledger_.stop(run, reason); });
}

void ClusterEngine::resume(const LaunchOrder& order) {
  post([this, order] { ledger_.resume(order); });
}

void ClusterEngine::forget(JobId /*job*/, const std::string& /*payload*/) {}

void ClusterEngine::withdraw(JobId /*job*/, const std::string& engine_id) {
  // What was told to be gone needs no end; what follows under its id is another job.
  post([this, engine_id] {
    if (!has_told_ || told_.jobs.contains(engine_id)) ledger_.withdraw(engine_id);
  });
}

std::vector<EngineEvent> ClusterEngine::take_events() {
  bool runs = false;
  std::vector<EngineEvent> events;
  {
    const std::scoped_lock lock(mutex_);
    runs = thread_.joinable();
    events = std::exchange(outbox_, {});
  }
  if (!runs) post([] {});
  return events;
}

}  // namespace goban::live::engine::cluster
