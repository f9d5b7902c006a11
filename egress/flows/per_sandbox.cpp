#include "egress/flows/per_sandbox.hpp"

#include "base/flows/withdrawal.hpp"
#include "egress/flows/permitted_hosts.hpp"
#include "egress/flows/policies.hpp"
#include "egress/named_object.hpp"
#include "k8s/flows/ask.hpp"
#include "k8s/objects.hpp"
#include "k8s/paths.hpp"

namespace paddock::egress {

namespace asio = boost::asio;
using nlohmann::json;

namespace {

constexpr auto clean_up_bound = std::chrono::milliseconds{1'000};

/// The names of the policies that a namesake of the owner was granted.
class predecessors final : public policy_reader {
public:
  explicit predecessors(grant_target whose) : whose_(std::move(whose)) {
  }
  void begin(resource_kind) override {
    names_.clear();
  }
  void take(resource_kind, const json& item) override {
    if (is_of_predecessor(item, whose_))
      names_.push_back(*k8s::text_at(item, "/metadata/name"));
  }
  [[nodiscard]] const std::vector<std::string>& names() const noexcept {
    return names_;
  }

private:
  grant_target whose_;
  std::vector<std::string> names_;
};

/// Sends one write.
asio::awaitable<result<k8s::answer>> write(cluster& on, k8s::call what, deadline until) {
  auto got = co_await k8s::ask(on.api, on.time, what, until);
  if (!got)
    co_return tl::unexpected{of_write(what, got.error())};
  co_return std::move(*got);
}

asio::awaitable<result<void>> remove(cluster& on, k8s::call what, deadline until) {
  auto got = co_await k8s::ask(on.api, on.time, what, until);
  if (!got && !k8s::is_gone(got.error()))
    co_return tl::unexpected{of_write(what, got.error())};
  co_return result<void>{};
}

bool is_conflict(const egress_error& x) {
  const auto* of_api = std::get_if<k8s::failure>(&x);
  return of_api != nullptr && std::holds_alternative<k8s::conflict>(*of_api);
}

/// Takes back what was written for an owner that is gone. Answers how that went.
asio::awaitable<std::string> take_back(cluster& on, policy_object what, k8s::answer written) {
  const auto uid = written ? k8s::text_at(*written, "/metadata/uid") : std::nullopt;
  if (!uid)
    co_return "failed";
  co_await keep_going();
  auto gone = co_await remove(on, take_back_policy(what, *uid), deadline{on.time, clean_up_bound});
  if (gone)
    co_return "done";
  co_return std::holds_alternative<policy_write_unknown>(gone.error()) ? "unknown" : "failed";
}

/// Whether the owner still stands ([W] P7). Where another object does, what was written is taken back. So it is also when the
/// caller has withdrawn or run out of time since the write: the grant passes to a namesake whether somebody waits or not.
asio::awaitable<result<void>> check_owner(cluster& on, grant_target whose, policy_object what, k8s::answer written, deadline until) {
  auto got = co_await k8s::ask(on.api, on.time, read_owner(whose), until);
  auto unread = std::optional<k8s::failure>{};
  if (!got && !k8s::is_gone(got.error())) {
    unread = got.error();
    const auto over = co_await withdrawn();
    if (over || until.passed(on.time)) {
      co_await keep_going();
      got = co_await k8s::ask(on.api, on.time, read_owner(whose), deadline{on.time, clean_up_bound});
    }
  }
  const auto known = got || k8s::is_gone(got.error());
  const auto actual = got && *got ? k8s::text_at(**got, "/metadata/uid") : std::nullopt;
  if (known && actual != whose.owner.uid) {
    auto no = owner_replaced{whose.owner.name, whose.owner.uid, actual, {}};
    no.clean_up = co_await take_back(on, std::move(what), std::move(written));
    co_return tl::unexpected{egress_error{std::move(no)}};
  }
  if (unread)
    co_return tl::unexpected{egress_error{std::move(*unread)}};
  co_return result<void>{};
}

asio::awaitable<result<void>> check_hosts(cluster& on, per_sandbox_egress how, std::vector<host_entry> hosts, deadline until) {
  if (!how.permitted_hosts_param)
    co_return result<void>{};
  auto permitted = co_await read_permitted_hosts(on, *how.permitted_hosts_param, until);
  if (!permitted)
    co_return tl::unexpected{permitted.error()};
  co_return check_permitted(*permitted, how, hosts);
}

/// A policy that the server has taken.
struct written_policy {
  policy_object meant;
  k8s::answer stored;
};

/// The write and everything before it. Nothing: there was nothing to grant, and the policy is gone.
asio::awaitable<result<std::optional<written_policy>>> write_grant(cluster& on, const per_sandbox_checks& checks, grant_target whose,
                                                                   std::vector<std::string> allowed_hosts, deadline until) {
  if (whose.owner.uid.empty())
    co_return tl::unexpected{egress_error{owner_uid_missing{whose.owner.name, whose.name_space}}};
  auto hosts = per_sandbox_hosts(whose.how, allowed_hosts);
  if (!hosts)
    co_return tl::unexpected{hosts.error()};
  auto ok = co_await checks.fence(until);
  if (ok && hosts->empty()) {
    ok = co_await remove(on, remove_policy(whose), until);
    if (ok)
      co_return std::optional<written_policy>{};
  }
  if (ok)
    ok = co_await check_hosts(on, whose.how, *hosts, until);
  if (!ok)
    co_return tl::unexpected{ok.error()};
  auto what = per_sandbox_policy(whose.how, whose.name_space, whose.owner, whose.selector_value, std::move(*hosts));
  if (!what)
    co_return tl::unexpected{what.error()};
  auto stored = co_await write(on, create_policy(*what), until);
  if (!stored && is_conflict(stored.error()))
    stored = co_await write(on, replace_policy(*what), until);
  if (!stored)
    co_return tl::unexpected{stored.error()};
  co_return written_policy{std::move(*what), std::move(*stored)};
}

/// Whether what was written stands as it was meant, for the owner that it was meant for, and is not made wider by others.
asio::awaitable<result<void>> prove_grant(cluster& on, const per_sandbox_checks& checks, grant_target whose, policy_object what,
                                          k8s::answer stored, deadline until) {
  if (whose.name_may_pass_on) {
    auto stands = co_await check_owner(on, std::move(whose), what, std::move(stored), until);
    if (!stands)
      co_return stands;
  }
  auto live = co_await k8s::ask(on.api, on.time, named_object_request(what), until);
  auto ok = judge_named_object(what, live);
  if (!ok || !checks.union_check)
    co_return ok;
  co_return co_await checks.union_check(std::move(what), until);
}

} // namespace

asio::awaitable<grant_end> set_network_policy(cluster& on, const per_sandbox_checks& checks, grant_target whose,
                                              std::vector<std::string> allowed_hosts, deadline until) {
  auto end = grant_end{};
  auto written = co_await write_grant(on, checks, whose, std::move(allowed_hosts), until);
  if (!written) {
    end.answer = tl::unexpected{written.error()};
    co_return end;
  }
  end.landed = true;
  if (*written)
    end.answer = co_await prove_grant(on, checks, std::move(whose), std::move((*written)->meant), std::move((*written)->stored), until);
  co_return end;
}

asio::awaitable<result<std::vector<std::string>>> reverify_per_sandbox_egress(cluster& on, const per_sandbox_checks& checks,
                                                                              grant_target whose, deadline until) {
  if (whose.owner.uid.empty())
    co_return tl::unexpected{egress_error{owner_uid_missing{whose.owner.name, whose.name_space}}};
  auto ok = co_await checks.fence(until);
  if (!ok)
    co_return tl::unexpected{ok.error()};
  auto found = predecessors{whose};
  auto listed = co_await read_collection(on.api, policy_collections(whose.name_space, policy_engine::cilium).back(), found, until);
  if (!listed)
    co_return tl::unexpected{egress_error{listed.error()}};
  for (const auto& name : found.names()) {
    ok = co_await remove(on, k8s::remove(k8s::cilium_policies_path(whose.name_space, name)), until);
    if (!ok)
      co_return tl::unexpected{ok.error()};
  }
  co_return found.names();
}

} // namespace paddock::egress
