#pragma once

namespace paddock {

/// The version of every program of this repository.
inline constexpr const char* version = PADDOCK_VERSION;

} // namespace paddock
