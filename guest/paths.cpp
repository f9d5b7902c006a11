#include "guest/paths.hpp"

namespace paddock::guest {

std::string normalised(std::string_view path) {
  auto rooted = !path.empty() && path.front() == '/';
  auto parts = std::vector<std::string_view>{};
  while (!path.empty()) {
    auto slash = path.find('/');
    auto part = path.substr(0, slash);
    path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
    if (part.empty() || part == ".")
      continue;
    if (part != "..")
      parts.push_back(part);
    else if (!parts.empty() && parts.back() != "..")
      parts.pop_back();
    else if (!rooted)
      parts.push_back(part);
  }
  auto result = std::string{rooted ? "/" : ""};
  for (auto part : parts) {
    if (!result.empty() && result.back() != '/')
      result += '/';
    result += part;
  }
  return result.empty() ? "." : result;
}

std::string absolute(std::string_view path) {
  return normalised("/" + std::string{path});
}

bool within(std::string_view root, std::string_view path) {
  if (root == "/")
    return path.starts_with('/');
  return path == root || (path.starts_with(root) && path[root.size()] == '/');
}

tl::expected<confined_path, std::string> confine(std::string_view path, const std::string& workspace,
                                                 const std::vector<std::string>& roots) {
  auto escapes = tl::unexpected{std::string{path_escapes}};
  if (path.find('\0') != std::string_view::npos)
    return escapes;
  if (path.empty() || path.front() != '/') {
    auto joined = normalised(workspace + "/" + std::string{path});
    if (!within(workspace, joined))
      return escapes;
    return confined_path{std::move(joined), workspace};
  }
  auto wanted = normalised(path);
  for (const auto& root : roots)
    if (within(root, wanted))
      return confined_path{std::move(wanted), root};
  return escapes;
}

} // namespace paddock::guest
