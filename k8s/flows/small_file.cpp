#include "k8s/flows/small_file.hpp"

#include <algorithm>
#include <fstream>

namespace paddock::k8s {

tl::expected<std::string, std::string> small_file(const std::filesystem::path& file, std::size_t most) {
  // A folder opens as a file does, and a pipe would be waited for.
  auto ignored = std::error_code{};
  auto from = std::ifstream{};
  if (std::filesystem::is_regular_file(file, ignored))
    from.open(file, std::ios::binary);
  if (!from.is_open())
    return tl::unexpected{file.string() + " cannot be read"};
  auto text = std::string{};
  auto piece = std::string(16 * 1024, '\0');
  while (from && text.size() <= most) {
    from.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece, 0, static_cast<std::size_t>(from.gcount()));
  }
  if (from.bad())
    return tl::unexpected{file.string() + " cannot be read"};
  if (text.size() > most)
    return tl::unexpected{file.string() + " is too large"};
  if (text.empty())
    return tl::unexpected{file.string() + " is empty"};
  return text;
}

std::string_view trimmed(std::string_view text) {
  constexpr auto blank = std::string_view{" \t\r\n"};
  const auto first = std::min(text.find_first_not_of(blank), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(blank) + 1);
}

} // namespace paddock::k8s
