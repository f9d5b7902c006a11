#include "k8s/call.hpp"

namespace paddock::k8s {

call get(std::string path) {
  return {"GET", std::move(path), call::content::none, nullptr};
}

call post(std::string path, nlohmann::json body) {
  return {"POST", std::move(path), call::content::json, std::move(body)};
}

call merge_patch(std::string path, nlohmann::json body) {
  return {"PATCH", std::move(path), call::content::merge_patch, std::move(body)};
}

call json_patch(std::string path, nlohmann::json operations) {
  return {"PATCH", std::move(path), call::content::json_patch, std::move(operations)};
}

call remove(std::string path, std::optional<nlohmann::json> options) {
  if (!options)
    return {"DELETE", std::move(path), call::content::none, nullptr};
  return {"DELETE", std::move(path), call::content::json, std::move(*options)};
}

std::string_view content_type(call::content type) {
  switch (type) {
    case call::content::none: return "";
    case call::content::json: return "application/json";
    case call::content::merge_patch: return "application/merge-patch+json";
    case call::content::json_patch: return "application/json-patch+json";
  }
  return "";
}

std::optional<std::string> body_text(const call& x) {
  if (x.type == call::content::none)
    return std::string{};
  try {
    return x.body.dump();
  } catch (const nlohmann::json::type_error&) {
    return std::nullopt;
  }
}

std::string encode_component(std::string_view text) {
  constexpr auto plain = std::string_view{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()"};
  constexpr auto hex = std::string_view{"0123456789ABCDEF"};
  auto got = std::string{};
  for (const auto x : text) {
    const auto byte = static_cast<unsigned char>(x);
    if (plain.find(x) != std::string_view::npos)
      got += x;
    else {
      got += '%';
      got += hex[byte >> 4];
      got += hex[byte & 15];
    }
  }
  return got;
}

} // namespace paddock::k8s
