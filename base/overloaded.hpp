#pragma once

namespace paddock {

/// One visitor of several lambdas, for `std::visit`.
template <class... Ts>
struct overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
overloaded(Ts...) -> overloaded<Ts...>; // clang 14 does not find it by itself

} // namespace paddock
