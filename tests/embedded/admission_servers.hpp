#pragma once

#include "base/flows/http.hpp"
#include "base/flows/sleep.hpp"
#include "tests/embedded/gated_world.hpp"
#include "tests/support/run_flow.hpp"

#include <boost/asio/io_context.hpp>

#include <cstdlib>
#include <fstream>

namespace paddock::test {

/// One of two servers that the same requests are put to: the embedded one, or with PADDOCK_TEST_REAL=1 the real one that
/// `realcluster/up` has started.
class either_server {
public:
  using reply = gated_world::reply;

  either_server() : real_(std::getenv("PADDOCK_TEST_REAL") != nullptr) {
    if (!real_)
      return;
    const std::string server = text_of("KUBE_SERVER"); // https://127.0.0.1:PORT
    const auto colon = server.rfind(':');
    where_.tls = true;
    where_.host = server.substr(8, colon - 8);
    where_.port = static_cast<std::uint16_t>(std::stoi(server.substr(colon + 1)));
    std::ifstream authority{text_of("KUBE_CA")};
    where_.ca = {std::istreambuf_iterator<char>{authority}, {}};
    token_ = text_of("KUBE_TOKEN");
  }

  [[nodiscard]] bool real() const {
    return real_;
  }
  gated_world& embedded() {
    return embedded_;
  }

  /// As an administrator, or as `user` without groups.
  reply ask(std::string method, std::string target, const json& body = nullptr, const std::string& user = {}) {
    const auto type = std::string{method == "PATCH" ? "application/merge-patch+json" : "application/json"};
    if (!real_)
      return embedded_.ask(user.empty() ? embedded_.root : user_info{user, {"system:authenticated"}}, std::move(method), std::move(target),
                           body, type);
    http_request what{std::move(method), std::move(target), {{"Authorization", "Bearer " + token_}, {"Accept", "application/json"}}, {}};
    if (!user.empty())
      what.headers.emplace_back("Impersonate-User", user);
    if (!body.is_null()) {
      what.body = body.dump();
      what.headers.emplace_back("Content-Type", type);
    }
    auto got = run_flow(on_, exchange_->send(where_, std::move(what), {}, deadline{time_, std::chrono::seconds{20}}));
    if (!got)
      CAF_FAIL(to_string(got.error()));
    reply out{got->status, json::parse(got->body, nullptr, false), {}};
    for (const auto& [name, value] : got->headers)
      if (name == "Warning")
        out.warnings.push_back(value);
    return out;
  }

  void make(const std::string& target, const json& object) {
    const auto got = ask("POST", target, object);
    if (got.status != 201)
      CAF_FAIL("cannot set up " << object.dump() << ": " << got.body.dump());
  }

  /// Asks until the answer has this status: a real server takes policies in later than it answers. Fails after a minute.
  void wait_for(unsigned status, const std::string& method, const std::string& target, const json& body, const std::string& user = {}) {
    const auto until = deadline{time_, std::chrono::minutes{1}};
    auto got = ask(method, target, body, user);
    while (got.status != status && real_ && !until.passed(time_))
      got = ask(method, target, body, user);
    if (got.status != status)
      CAF_FAIL("never answered " << status << " but " << got.status << ": " << got.body.dump());
  }

private:
  static std::string text_of(const char* variable) {
    const auto* text = std::getenv(variable);
    if (text == nullptr)
      CAF_FAIL(variable << " is not set: run by realcluster/up");
    return text;
  }

  bool real_;
  gated_world embedded_{{"default", "platform", "namzu-sandboxes"}};
  boost::asio::io_context on_;
  real_flow_time time_;
  std::unique_ptr<http_exchange> exchange_ = make_http_exchange(time_);
  http_server_address where_;
  std::string token_;
};

inline json read_json(const std::string& file) {
  std::ifstream in{file};
  auto out = json::parse(in, nullptr, false);
  if (out.is_discarded())
    CAF_FAIL("cannot read " << file);
  return out;
}

} // namespace paddock::test
