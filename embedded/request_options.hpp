#pragma once

#include "embedded/resource.hpp"
#include "embedded/store.hpp"

namespace paddock::embedded {

/// What a write's query says.
struct write_parameters {
  enum class unknown_fields { ignored, warned_of, refused };
  bool dry_run = false;
  unknown_fields unknown = unknown_fields::warned_of;
  std::string manager; // empty: none is named
  bool force = false;
};

/// `options` names them in messages: CreateOptions, UpdateOptions or PatchOptions. `applies`: of a server-side apply, which has to name
/// its manager and alone may be forced.
[[nodiscard]] api_result<write_parameters> read_write_parameters(const request_target& target, std::string_view options,
                                                                 bool applies = false);

/// The DeleteOptions of a request: its body, or without one its query.
[[nodiscard]] api_result<delete_request> read_delete_options(const request_target& target, std::string_view content_type,
                                                             const std::string& body);

/// A whole number without a sign.
[[nodiscard]] std::optional<std::uint64_t> read_number(std::string_view text);

} // namespace paddock::embedded
