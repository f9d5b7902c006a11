#pragma once

// Beast parses; it does not read or write here: its composed operations cost seconds of compile time for each kind of
// stream. Only beast_exchange.cpp, beast_server.cpp and http_request_reader.cpp include this.

#include "base/flows/wire.hpp"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>

#include <functional>
#include <string>
#include <utility>

namespace paddock {

/// A body kept whole within a bound or, with `on` and a 2xx status, handed out piece by piece.
struct piece_body {
  struct value_type {
    std::string whole;
    std::size_t bound = 0;
    std::function<bool(std::string_view)> on;
    bool streaming = false;
    bool stopped = false; // `on` has had enough
  };
  class reader {
  public:
    // Made together with the parser: nothing of the header is known yet.
    template <bool isRequest, class Fields>
    reader(boost::beast::http::header<isRequest, Fields>& head, value_type& to) : to_(to) {
      if constexpr (!isRequest)
        good_ = [&head] { return head.result_int() / 100 == 2; };
    }
    void init(const boost::optional<std::uint64_t>& length, boost::system::error_code& ec) {
      to_.streaming = to_.on && good_ && good_();
      ec = {};
      if (!to_.streaming && length && *length > to_.bound)
        ec = boost::beast::http::error::body_limit;
    }
    template <class Buffers>
    std::size_t put(const Buffers& from, boost::system::error_code& ec) {
      ec = {};
      auto n = std::size_t{0};
      for (auto it = boost::asio::buffer_sequence_begin(from); it != boost::asio::buffer_sequence_end(from); ++it) {
        const auto piece = std::string_view{static_cast<const char*>(boost::asio::const_buffer{*it}.data()), it->size()};
        n += piece.size();
        if (!to_.streaming) {
          if (piece.size() > to_.bound - to_.whole.size()) {
            ec = boost::beast::http::error::body_limit;
            return n;
          }
          to_.whole.append(piece);
        } else if (!to_.stopped && !to_.on(piece)) {
          to_.stopped = true;
        }
      }
      return n;
    }
    void finish(boost::system::error_code& ec) {
      ec = {};
    }

  private:
    value_type& to_;
    std::function<bool()> good_;
  };
};

/// What reading one message came to.
struct message_read {
  boost::system::error_code ec;
  bool transport = false; // `ec` is the connection's and not the parser's
  bool any = false;       // some byte of this message arrived
};

/// Whether the parser means that a bound was exceeded.
inline bool is_limit(boost::system::error_code ec) {
  namespace http = boost::beast::http;
  return ec == http::error::body_limit || ec == http::error::header_limit || ec == http::error::buffer_overflow;
}

/// The last chunk, or the whole of any other, is not shorter.
inline constexpr std::size_t shortest_chunk = 5;

/// Feeds what is in `left` to `parser`, which is not eager at first. True: `parser` wants more bytes. A message may end before `left` does.
template <class Parser>
bool feed(Parser& parser, boost::beast::flat_buffer& left, std::size_t most, boost::system::error_code& ec) {
  namespace http = boost::beast::http;
  while (left.size() != 0 && !parser.is_done()) {
    if (parser.is_header_done() && !parser.eager()) {
      // A first chunk that is also the last and comes byte by byte breaks what the parser takes for granted.
      if (parser.chunked() && left.size() < shortest_chunk)
        return true;
      parser.eager(true);
    }
    const auto n = parser.put(left.data(), ec);
    left.consume(n);
    if (ec == http::error::need_more) {
      ec = {};
      if (left.size() > most)
        ec = http::error::buffer_overflow;
      return true;
    }
    if (ec)
      return false;
    if (n == 0)
      return true;
  }
  return !parser.is_done();
}

/// All names and values of a header.
template <class Fields>
http_headers headers_of(const Fields& from) {
  auto got = http_headers{};
  for (const auto& x : from)
    got.emplace_back(std::string{x.name_string()}, std::string{x.value()});
  return got;
}

/// Whether a header line or request line may carry `text`: a line break in it would start another line.
inline bool one_line(std::string_view text) {
  return text.find_first_of(std::string_view{"\r\n\0", 3}) == std::string_view::npos;
}

inline bool has_header(const http_headers& all, std::string_view name) {
  return header(all, name).has_value();
}

} // namespace paddock
