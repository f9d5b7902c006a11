#include "k8s/flows/credentials.hpp"

#include "base/flows/wire.hpp"
#include "k8s/flows/small_file.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace paddock::k8s {

namespace asio = boost::asio;

namespace {

constexpr std::size_t largest_token = 64 * 1024;
constexpr std::size_t largest_pem = 1024 * 1024;

tl::unexpected<io_failure> refuse(std::string why) {
  return tl::unexpected{io_failure{io_failure::stage::connect, false, std::move(why)}};
}

io_result<secret> read_token(const std::filesystem::path& file) {
  auto text = small_file(file, largest_token);
  if (!text)
    return refuse("token file " + text.error());
  auto token = trimmed(*text);
  if (token.empty())
    return refuse("token file " + file.string() + " is empty");
  return secret{std::string{token}};
}

class stored final : public credential_source {
public:
  explicit stored(stored_credential where) : where_(std::move(where)) {
  }

  asio::awaitable<io_result<credential>> get(const time_source&) override {
    co_return now();
  }

private:
  [[nodiscard]] io_result<credential> now() const {
    auto got = credential{where_.token, {}, {}};
    if (!where_.token_file.empty()) {
      auto token = read_token(where_.token_file);
      if (!token)
        return tl::unexpected{std::move(token.error())};
      got.token = std::move(*token);
    }
    if (where_.certificate_file.empty())
      return got;
    auto certificate = small_file(where_.certificate_file, largest_pem);
    if (!certificate)
      return refuse("client certificate " + certificate.error());
    auto key = small_file(where_.key_file, largest_pem);
    if (!key)
      return refuse("client key " + key.error());
    got.certificate = std::move(*certificate);
    got.key = secret{std::move(*key)};
    return got;
  }

  stored_credential where_;
};

/// A credential that is being fetched. Whoever asked may leave before it comes.
struct fetching {
  explicit fetching(const asio::any_io_executor& lane) : bell(lane) {
  }
  asio::steady_timer bell;
  asio::cancellation_signal stop;
  std::shared_ptr<credential_source> from;
  std::optional<io_result<credential>> got;
};

asio::awaitable<void> fetch(std::shared_ptr<fetching> it, const time_source* time) {
  auto got = co_await it->from->get(*time);
  it->got = std::move(got);
}

} // namespace

bool credential_source::refused(const credential&, const time_source&) {
  return false;
}

asio::awaitable<io_result<credential>> credential_by(std::shared_ptr<credential_source> from, const time_source& time, deadline until) {
  auto lane = co_await asio::this_coro::executor;
  auto it = std::make_shared<fetching>(lane);
  it->from = std::move(from);
  it->bell.expires_after(until.left(time)); // timers run on the machine's clock, whatever the time source is
  asio::co_spawn(lane, fetch(it, &time), asio::bind_cancellation_slot(it->stop.slot(), [it](std::exception_ptr error) {
                   if (error && !it->got)
                     it->got = tl::unexpected{io_failure{io_failure::stage::connect, false, "the source of credentials failed"}};
                   it->bell.cancel();
                 }));
  [[maybe_unused]] auto [rung] = co_await it->bell.async_wait(asio::as_tuple(asio::use_awaitable));
  auto gone = co_await withdrawn();
  if (it->got && !gone)
    co_return std::move(*it->got);
  it->stop.emit(asio::cancellation_type::terminal);
  if (gone)
    co_return tl::unexpected{io_failure{io_failure::stage::cancelled, false, "withdrawn by the caller"}};
  co_return tl::unexpected{io_failure{io_failure::stage::timeout, false, "out of time"}};
}

io_result<void> show(const credential& shown, http_server_address& to, http_request& in) {
  const auto& token = shown.token.reveal();
  if (token.find_first_of(std::string_view{"\r\n\0", 3}) != std::string::npos)
    return tl::unexpected{io_failure{io_failure::stage::protocol, false, "the token is not one line"}};
  if (!token.empty())
    in.headers.emplace_back("Authorization", "Bearer " + token);
  if (!shown.certificate.empty() && to.certificate.empty()) {
    to.certificate = shown.certificate;
    to.key = shown.key.reveal();
  }
  return {};
}

std::shared_ptr<credential_source> stored_credentials(stored_credential where) {
  return std::make_shared<stored>(std::move(where));
}

std::shared_ptr<credential_source> fixed_token(secret token) {
  return stored_credentials({std::move(token), {}, {}, {}});
}

std::shared_ptr<credential_source> token_file(std::filesystem::path file) {
  return stored_credentials({{}, std::move(file), {}, {}});
}

} // namespace paddock::k8s
