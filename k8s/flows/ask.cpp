#include "k8s/flows/ask.hpp"

#include "base/flows/withdrawal.hpp"
#include "k8s/list_request.hpp"
#include "k8s/objects.hpp"

namespace paddock::k8s {

namespace asio = boost::asio;

namespace {

constexpr auto most_lists = 3;    // begun for one collection
constexpr auto most_pages = 2000; // of one list: a million objects

failure unusable(const call& what, std::string why) {
  return api_failure{api_failure::transport::status, what.method, what.path, std::nullopt, std::nullopt, true, std::move(why)};
}

} // namespace

asio::awaitable<result<answer>> ask(api& server, const time_source& time, call what, deadline until) {
  auto over = co_await withdrawn();
  if (over)
    co_return tl::unexpected{failure{cancelled{what.method, what.path, false}}};
  if (until.passed(time))
    co_return tl::unexpected{failure{api_timeout{what.method, what.path, std::chrono::milliseconds{0}, false}}};
  auto got = co_await server.send(std::move(what), until);
  co_return got;
}

asio::awaitable<result<nlohmann::json>> read(api& server, const time_source& time, std::string path, deadline until) {
  const auto what = get(std::move(path));
  auto got = co_await ask(server, time, what, until);
  if (!got)
    co_return tl::unexpected{got.error()};
  if (!*got)
    co_return tl::unexpected{unusable(what, "the answer has no body")};
  co_return std::move(**got);
}

asio::awaitable<result<void>> read_list(api& server, const time_source& time, std::string collection, const page_sink& to, deadline until) {
  for (auto begun = 1;; ++begun) {
    to.begin();
    auto page = list_request{{collection}, page_size};
    for (auto pages = 1;; ++pages) {
      const auto what = to_call(page);
      auto got = co_await ask(server, time, what, until);
      if (!got) {
        if (is_gone(got.error()) && pages > 1 && begun < most_lists)
          break;
        co_return tl::unexpected{pages > 1 && is_gone(got.error()) ? unusable(what, "the list was forgotten again and again")
                                                                   : got.error()};
      }
      for (const auto& x : items_of(*got))
        to.take(x);
      page.more = *got ? text_at(**got, "/metadata/continue").value_or("") : "";
      if (page.more.empty())
        co_return result<void>{};
      if (pages == most_pages)
        co_return tl::unexpected{unusable(what, "the list has no end")};
    }
  }
}

} // namespace paddock::k8s
