#include "egress/flows/enumeration.hpp"

#include "egress/flows/policies.hpp"
#include "egress/named_object.hpp"

#include <utility>

namespace paddock::egress {

namespace asio = boost::asio;

namespace {

/// Hands the policies to a check, which forgets a list that begins anew.
class checked final : public policy_reader {
public:
  explicit checked(union_check check) : now_(std::move(check)), before_(now_) {
  }
  void begin(resource_kind kind) override {
    if (kind == of_)
      now_ = before_;
    before_ = now_;
    of_ = kind;
  }
  void take(resource_kind kind, const nlohmann::json& item) override {
    now_.take(kind, item);
  }
  [[nodiscard]] const union_check& check() const noexcept {
    return now_;
  }

private:
  union_check now_;
  union_check before_; // the list of kind `of_`
  std::optional<resource_kind> of_;
};

} // namespace

asio::awaitable<result<void>> verify_named_object(k8s::api& on, policy_object wanted, deadline until) {
  auto asked = named_object_request(wanted);
  const auto got = co_await on.send(std::move(asked), until);
  co_return judge_named_object(wanted, got);
}

asio::awaitable<result<void>> verify_union(k8s::api& on, policy_engine engine, allowance allowed, judged_pod pod, std::string subject,
                                           deadline until) {
  const auto name_space = pod.name_space;
  auto reader = checked{union_check{std::move(allowed), std::move(pod)}};
  auto unread = co_await read_policies(on, name_space, engine, reader, until);
  if (!unread)
    co_return tl::unexpected{egress_error{std::move(unread.error())}};
  if (*unread)
    co_return tl::unexpected{egress_error{reader.check().unread(std::move(subject), std::move(**unread))}};
  co_return reader.check().verdict(std::move(subject));
}

} // namespace paddock::egress
