#include "egress/flows/enumeration.hpp"

#include "egress/named_object.hpp"

#include <utility>

namespace paddock::egress {

namespace asio = boost::asio;

namespace {

constexpr auto most_listings = 3; // of one collection

/// What is known of the pod's policies so far.
struct checking {
  k8s::api& on;
  union_check check;
  std::string subject;
  deadline until;
};

/// One reading of a collection. `listed` has what its pages so far said.
struct listing {
  union_check listed;
  std::string more;
  std::size_t items = 0;
  std::size_t pages = 0;
};

k8s::failure too_many(const k8s::call& what, std::string why) {
  auto got = k8s::api_failure{};
  got.how = k8s::api_failure::transport::status;
  got.method = what.method;
  got.path = what.path;
  got.sent = true;
  got.cause = std::move(why);
  return got;
}

/// Takes a page. The failure says why no further one is asked for.
tl::expected<void, std::string> take_page(listing& to, resource_kind kind, policy_page page) {
  to.items += page.items.size();
  ++to.pages;
  if (to.items > most_policies)
    return tl::unexpected{"there are more than " + std::to_string(most_policies) + " policies"};
  for (const auto& x : page.items)
    to.listed.take(kind, x);
  if (!page.more.empty() && (page.more == to.more || to.pages >= most_pages))
    return tl::unexpected{std::string{"the list does not end"}};
  to.more = std::move(page.more);
  return {};
}

asio::awaitable<result<void>> read_collection(checking& it, policy_collection of) {
  auto listings = 1;
  for (auto now = listing{it.check, {}};;) {
    auto asked = page_request(of, now.more);
    auto got = co_await it.on.send(asked, it.until);
    if (!got && !now.more.empty() && std::holds_alternative<k8s::already_gone>(got.error()) && listings < most_listings) {
      ++listings;
      now = listing{it.check, {}};
      continue;
    }
    if (!got) {
      if (auto unread = unread_of(of, got.error()); unread && now.more.empty())
        co_return tl::unexpected{egress_error{it.check.unread(it.subject, std::move(*unread))}};
      co_return tl::unexpected{egress_error{std::move(got.error())}};
    }
    auto ok = take_page(now, of.kind, read_policy_page(std::move(*got)));
    if (!ok)
      co_return tl::unexpected{egress_error{too_many(asked, std::move(ok.error()))}};
    if (now.more.empty()) {
      it.check = std::move(now.listed);
      co_return result<void>{};
    }
  }
}

} // namespace

asio::awaitable<result<void>> verify_named_object(k8s::api& on, policy_object wanted, deadline until) {
  auto asked = named_object_request(wanted);
  const auto got = co_await on.send(std::move(asked), until);
  co_return judge_named_object(wanted, got);
}

asio::awaitable<result<void>> verify_union(k8s::api& on, policy_engine engine, allowance allowed, judged_pod pod, std::string subject,
                                           deadline until) {
  const auto collections = policy_collections(pod.name_space, engine);
  auto it = checking{on, union_check{std::move(allowed), std::move(pod)}, std::move(subject), until};
  for (const auto& of : collections) {
    auto ok = co_await read_collection(it, of);
    if (!ok)
      co_return ok;
  }
  co_return it.check.verdict(it.subject);
}

} // namespace paddock::egress
