#include "egress/flows/policies.hpp"

#include <utility>

namespace paddock::egress {

namespace asio = boost::asio;

namespace {

constexpr auto most_listings = 3; // of one collection

/// How far one reading of a collection has come.
struct listing {
  std::string more;
  std::size_t items = 0;
  std::size_t pages = 0;
};

k8s::failure unusable(const k8s::call& what, std::string why) {
  auto got = k8s::api_failure{};
  got.how = k8s::api_failure::transport::status;
  got.method = what.method;
  got.path = what.path;
  got.sent = true;
  got.cause = std::move(why);
  return got;
}

/// Takes a page. The failure says why no further one is asked for.
tl::expected<void, std::string> take_page(listing& at, policy_page page, resource_kind kind, policy_reader& to) {
  at.items += page.items.size();
  ++at.pages;
  if (at.items > most_policies)
    return tl::unexpected{"there are more than " + std::to_string(most_policies) + " policies"};
  for (const auto& x : page.items)
    to.take(kind, x);
  if (!page.more.empty() && (page.more == at.more || at.pages >= most_pages))
    return tl::unexpected{std::string{"the list does not end"}};
  at.more = std::move(page.more);
  return {};
}

} // namespace

asio::awaitable<k8s::result<void>> read_collection(k8s::api& on, policy_collection of, policy_reader& to, deadline until) {
  for (auto listings = 1;; ++listings) {
    to.begin(of.kind);
    for (auto at = listing{};;) {
      const auto asked = page_request(of, at.more);
      auto got = co_await on.send(asked, until);
      const auto forgotten = !got && !at.more.empty() && std::holds_alternative<k8s::already_gone>(got.error());
      if (forgotten && listings < most_listings)
        break;
      if (forgotten)
        co_return tl::unexpected{unusable(asked, "the list was forgotten between two pages, again and again")};
      if (!got)
        co_return tl::unexpected{std::move(got.error())};
      auto ok = take_page(at, read_policy_page(std::move(*got)), of.kind, to);
      if (!ok)
        co_return tl::unexpected{unusable(asked, std::move(ok.error()))};
      if (at.more.empty())
        co_return k8s::result<void>{};
    }
  }
}

asio::awaitable<k8s::result<std::optional<unread_collection>>> read_policies(k8s::api& on, std::string name_space, policy_engine engine,
                                                                             policy_reader& to, deadline until) {
  for (const auto& of : policy_collections(name_space, engine)) {
    auto got = co_await read_collection(on, of, to, until);
    if (got)
      continue;
    if (auto unread = unread_of(of, got.error()))
      co_return unread;
    co_return tl::unexpected{std::move(got.error())};
  }
  co_return std::optional<unread_collection>{};
}

} // namespace paddock::egress
