#include "egress/flows/fence.hpp"

#include "k8s/flows/ask.hpp"

namespace paddock::egress {

boost::asio::awaitable<result<void>> prove_fence(cluster& on, fence_question asked, deadline until) {
  auto bodies = std::vector<nlohmann::json>{};
  for (const auto& object : fence_objects(asked.how)) {
    auto got = co_await k8s::ask(on.api, on.time, k8s::get(object.path), until);
    if (!got)
      co_return tl::unexpected{unread(object, got.error())};
    bodies.push_back(got->value_or(nullptr));
  }
  co_return judge_fence(asked, bodies);
}

} // namespace paddock::egress
