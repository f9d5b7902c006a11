// What a client sends over one connection after two requests that are as they should be: the first byte says how long the pieces are in
// which it arrives, all that follows is sent, and then the end of a head. However it is cut, the same requests are read and the rest is
// refused or not; no request breaks a bound or has a line break in its head; and the first two are read whatever follows them, as is
// each when it is sent again by itself.

#include "base/flows/http_request_reader.hpp"
#include "tests/fuzz/require.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

using namespace paddock;

namespace {

constexpr auto bound = http_limits{1024, 256};

struct conversation {
  std::vector<received_request> requests;
  std::size_t invitations = 0;
  unsigned refusal = 0; // 0: the bytes ended first
};

/// Reads as the server does: first `before`, and then `bytes` in pieces.
conversation hold(std::string_view before, std::string_view bytes, std::size_t piece) {
  using progress = http_request_reader::progress;
  conversation out;
  auto from = http_request_reader{bound};
  for (;;) {
    auto at = from.read();
    while (at == progress::more) {
      if (from.invites())
        ++out.invitations;
      auto& next = before.empty() ? bytes : before;
      if (next.empty())
        return out;
      const auto room = from.room();
      const auto n = std::min({next.size(), before.empty() ? piece : before.size(), room.size()});
      require(n != 0);
      std::memcpy(room.data(), next.data(), n);
      next.remove_prefix(n);
      from.arrived(n);
      at = from.read();
    }
    if (at == progress::refused) {
      out.refusal = from.refusal();
      return out;
    }
    out.requests.push_back(from.take());
  }
}

void check(const received_request& x) {
  const auto plain = [](std::string_view text) { return text.find_first_of(std::string_view{"\r\n\0", 3}) == std::string_view::npos; };
  require(!x.what.method.empty() && !x.what.target.empty() && plain(x.what.method) && plain(x.what.target));
  require(x.what.body.size() <= bound.body);
  for (const auto& [name, value] : x.what.headers)
    require(!name.empty() && plain(name) && plain(value));
}

/// The same request in one way of many.
std::string written(const received_request& x) {
  auto out = x.what.method + " " + x.what.target + (x.old ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n");
  out += x.keep ? "Connection: keep-alive\r\n" : "Connection: close\r\n";
  return out + "Content-Length: " + std::to_string(x.what.body.size()) + "\r\n\r\n" + x.what.body;
}

bool same(const received_request& a, const received_request& b) {
  return a.what.method == b.what.method && a.what.target == b.what.target && a.what.body == b.what.body && a.keep == b.keep
         && a.old == b.old;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 16 * 1024)
    return 0;
  static const auto first = received_request{{"POST", "/a", {}, "x"}, true, false};
  static const auto second = received_request{{"GET", "/b", {}, ""}, false, true};
  static const auto before = written(first) + written(second);
  const auto bytes = std::string{reinterpret_cast<const char*>(data) + 1, size - 1} + "\r\n\r\n";
  const auto whole = hold(before, bytes, bytes.size());
  const auto cut = hold(before, bytes, std::size_t{data[0]} + 1);
  // Of two faults either may be told.
  for (const auto& x : {whole, cut})
    require(x.refusal == 0 || x.refusal == 400 || x.refusal == 413 || x.refusal == 431);
  require((whole.refusal == 0) == (cut.refusal == 0));
  require(whole.requests.size() == cut.requests.size() && cut.invitations <= cut.requests.size() + 1);
  require(whole.requests.size() >= 2 && same(whole.requests[0], first) && same(whole.requests[1], second));
  for (auto i = std::size_t{0}; i < whole.requests.size(); ++i) {
    const auto& one = whole.requests[i];
    const auto& two = cut.requests[i];
    check(one);
    require(same(one, two) && one.what.headers == two.what.headers);
    const auto text = written(one);
    if (text.find("\r\n\r\n") + 4 > bound.header)
      continue;
    const auto again = hold({}, text, text.size());
    require(again.requests.size() == 1 && same(again.requests.front(), one) && again.refusal == 0);
  }
  return 0;
}
