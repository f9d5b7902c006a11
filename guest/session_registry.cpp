#include "guest/session_registry.hpp"

#include <algorithm>

namespace paddock::guest {

std::string_view to_string(session_kind x) {
  return x == session_kind::terminal ? "terminal" : "detached";
}

std::string_view to_string(session_state x) {
  return x == session_state::exited ? "exited" : "running";
}

std::vector<session_registry::record>::iterator session_registry::at(const std::string& id) {
  return std::find_if(records_.begin(), records_.end(), [&](const record& x) { return x.id == id; });
}

std::vector<std::string> session_registry::prune(time_point now) {
  auto gone = std::vector<std::string>{};
  std::erase_if(records_, [&](const record& x) {
    auto expired = x.expires && *x.expires <= now;
    if (expired)
      gone.push_back(x.id);
    return expired;
  });
  return gone;
}

bool session_registry::taken(const std::string& id) const {
  return std::any_of(records_.begin(), records_.end(), [&](const record& x) { return x.id == id; });
}

std::size_t session_registry::live() const {
  return static_cast<std::size_t>(
    std::count_if(records_.begin(), records_.end(), [](const record& x) { return x.state != session_state::exited; }));
}

bool session_registry::has_room() const {
  return live() < limits_.size;
}

std::vector<std::string> session_registry::create(const std::string& id) {
  auto gone = std::vector<std::string>{};
  while (records_.size() >= limits_.size) {
    auto soonest = records_.end();
    for (auto each = records_.begin(); each != records_.end(); ++each)
      if (each->expires && (soonest == records_.end() || *each->expires < *soonest->expires))
        soonest = each;
    if (soonest == records_.end())
      break;
    gone.push_back(soonest->id);
    records_.erase(soonest);
  }
  records_.push_back({id});
  return gone;
}

void session_registry::run(const std::string& id) {
  if (auto found = at(id); found != records_.end())
    found->state = session_state::running;
}

void session_registry::withdraw(const std::string& id) {
  if (auto found = at(id); found != records_.end() && found->state == session_state::starting)
    records_.erase(found);
}

void session_registry::leave(const std::string& id, time_point now) {
  auto found = at(id);
  if (found == records_.end() || found->state == session_state::exited)
    return;
  found->state = session_state::exited;
  found->expires = now + limits_.terminal;
}

std::vector<std::string> session_registry::ids() const {
  auto result = std::vector<std::string>{};
  for (const auto& each : records_)
    if (each.state != session_state::starting)
      result.push_back(each.id);
  return result;
}

} // namespace paddock::guest
