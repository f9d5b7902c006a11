#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace paddock::k8s {

/// One request to an API server, as data. Compared byte by byte in tests; the API client only sends it.
struct call {
  enum class content { none, json, merge_patch, json_patch };
  std::string method; // GET POST PATCH DELETE
  std::string path;   // with query, encoded
  content type = content::none;
  nlohmann::json body; // unused where `type` is none
  friend bool operator==(const call&, const call&) = default;
};

[[nodiscard]] call get(std::string path);
[[nodiscard]] call post(std::string path, nlohmann::json body);
[[nodiscard]] call merge_patch(std::string path, nlohmann::json body);
[[nodiscard]] call json_patch(std::string path, nlohmann::json operations);
/// Without a body when `options` is absent ([W] 4.6).
[[nodiscard]] call remove(std::string path, std::optional<nlohmann::json> options = std::nullopt);

/// The content-type header of a call; empty where there is no body.
[[nodiscard]] std::string_view content_type(call::content type);

/// The body as it is sent; empty where there is none. Nothing when some text in it is not UTF-8: it must not reach an object
/// changed.
[[nodiscard]] std::optional<std::string> body_text(const call& x);

/// `text` percent-encoded as a URI component: every byte but `A-Z a-z 0-9 - _ . ! ~ * ' ( )`.
[[nodiscard]] std::string encode_component(std::string_view text);

} // namespace paddock::k8s
