#include "base/flows/http_request_reader.hpp"

#include "base/flows/beast_body.hpp"

#include <optional>

namespace paddock {

namespace http = boost::beast::http;

namespace {

constexpr std::size_t first_piece = 4 * 1024;
constexpr std::size_t piece = 64 * 1024;

using request_parser = http::request_parser<piece_body>;

} // namespace

struct http_request_reader::state {
  explicit state(http_limits x) : bound(x) {
    begin();
  }

  void begin() {
    parser.emplace();
    parser->header_limit(static_cast<std::uint32_t>(std::min<std::size_t>(bound.header, UINT32_MAX)));
    parser->body_limit(boost::none);
    parser->get().body().bound = bound.body;
    invited = false;
  }

  http_limits bound;
  boost::beast::flat_buffer left;
  std::optional<request_parser> parser;
  boost::system::error_code failed;
  bool invited = false;
};

http_request_reader::http_request_reader(http_limits bound) : state_(std::make_unique<state>(bound)) {
}

http_request_reader::~http_request_reader() = default;

boost::asio::mutable_buffer http_request_reader::room() {
  auto& left = state_->left;
  return left.prepare(left.capacity() == 0 ? first_piece : piece);
}

void http_request_reader::arrived(std::size_t n) {
  state_->left.commit(n);
}

http_request_reader::progress http_request_reader::read() {
  auto& it = *state_;
  const auto more = feed(*it.parser, it.left, it.bound.header + piece, it.failed);
  if (it.failed)
    return progress::refused;
  return more ? progress::more : progress::whole;
}

bool http_request_reader::invites() {
  auto& it = *state_;
  if (it.invited || !it.parser->is_header_done() || it.parser->get()[http::field::expect] != "100-continue")
    return false;
  return it.invited = true;
}

received_request http_request_reader::take() {
  auto& it = *state_;
  auto& message = it.parser->get();
  auto out = received_request{
    {std::string{message.method_string()}, std::string{message.target()}, headers_of(message), std::move(message.body().whole)},
    it.parser->keep_alive(),
    message.version() < 11};
  it.begin();
  return out;
}

unsigned http_request_reader::refusal() const {
  const auto& it = *state_;
  if (!is_limit(it.failed))
    return 400;
  return it.parser->is_header_done() || it.failed == http::error::body_limit ? 413 : 431;
}

} // namespace paddock
