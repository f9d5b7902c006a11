#include "embedded/pod_log.hpp"

#include <algorithm>

namespace paddock::embedded {

namespace {

constexpr auto longest = std::size_t{16} * 1024;

} // namespace

std::filesystem::path log_folder(const std::filesystem::path& logs, const std::string& name_space, const std::string& pod,
                                 const std::string& uid) {
  return logs / (name_space + "_" + pod + "_" + uid);
}

std::filesystem::path log_file(const std::filesystem::path& pod_folder, const std::string& container, int restarts) {
  return pod_folder / container / (std::to_string(restarts) + ".log");
}

std::string log_lines::take(std::string_view bytes, time_source::wall_clock::time_point now) {
  std::string result;
  auto prefix = rfc3339_millis(now) + " stdout ";
  while (!bytes.empty()) {
    auto end = bytes.find('\n');
    auto room = longest - rest_.size();
    auto piece = bytes.substr(0, std::min(end, room));
    rest_ += piece;
    bytes.remove_prefix(piece.size());
    if (!bytes.empty() && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      result += prefix + "F " + rest_ + "\n";
      rest_.clear();
    } else if (rest_.size() == longest) {
      result += prefix + "P " + rest_ + "\n";
      rest_.clear();
    }
  }
  return result;
}

std::string log_lines::finish(time_source::wall_clock::time_point now) {
  if (rest_.empty())
    return {};
  auto result = rfc3339_millis(now) + " stdout F " + rest_ + "\n";
  rest_.clear();
  return result;
}

std::optional<log_line> read_log_line(std::string_view line) {
  auto first = line.find(' ');
  if (first == std::string_view::npos || first < 20)
    return std::nullopt;
  auto rest = line.substr(first + 1);
  for (auto [stream, complete] : {std::pair{std::string_view{"stdout F "}, true}, {std::string_view{"stdout P "}, false}})
    if (rest.starts_with(stream))
      return log_line{line.substr(0, first), complete, rest.substr(stream.size())};
  return std::nullopt;
}

} // namespace paddock::embedded
