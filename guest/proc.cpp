#include "guest/proc.hpp"

#include <algorithm>
#include <charconv>

namespace paddock::guest {

namespace {

/// Takes decimal fields off the front, each after exactly one space.
class fields {
public:
  explicit fields(std::string_view rest) : rest_(rest) {
  }

  template <class T>
  bool number(T& into) {
    if (!space())
      return false;
    auto [end, ec] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), into);
    if (ec != std::errc{})
      return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return rest_.empty() || rest_.front() == ' ' || rest_.front() == '\n';
  }

  bool letter(char& into) {
    if (!space() || rest_.empty())
      return false;
    into = rest_.front();
    rest_.remove_prefix(1);
    return (into >= 'A' && into <= 'Z') || (into >= 'a' && into <= 'z');
  }

  bool skip(int count) {
    for (; count > 0; --count) {
      if (!space() || rest_.empty())
        return false;
      rest_.remove_prefix(std::min(rest_.find(' '), rest_.size()));
    }
    return true;
  }

private:
  bool space() {
    if (!rest_.starts_with(' '))
      return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view rest_;
};

constexpr auto longest_name = std::size_t{256}; // the kernel's are 15 bytes, those of its own threads up to 63

} // namespace

std::optional<proc_stat> read_proc_stat(std::string_view text) {
  // The name is what stands between the first opening and the last closing parenthesis: no later field holds one.
  auto open = text.find(" (");
  auto close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2 || close - open - 2 > longest_name)
    return std::nullopt;
  auto result = proc_stat{};
  auto head = text.substr(0, open);
  auto [end, ec] = std::from_chars(head.data(), head.data() + head.size(), result.pid);
  if (ec != std::errc{} || end != head.data() + head.size() || result.pid <= 0)
    return std::nullopt;
  result.comm = text.substr(open + 2, close - open - 2);
  auto rest = fields{text.substr(close + 1)};
  // Then: tty, its group, flags, four counts of faults, four times, priority, nice; and after the threads one unused.
  if (!rest.letter(result.state) || !rest.number(result.parent) || !rest.number(result.group) || !rest.number(result.session)
      || !rest.skip(13) || !rest.number(result.threads) || !rest.skip(1) || !rest.number(result.start))
    return std::nullopt;
  if (result.parent < 0)
    return std::nullopt;
  return result;
}

std::optional<uid_t> read_real_uid(std::string_view status) {
  // Line feeds in the name are escaped by the kernel, so that no name can forge this line.
  constexpr auto key = std::string_view{"\nUid:\t"};
  auto at = status.find(key);
  if (at == std::string_view::npos)
    return std::nullopt;
  status.remove_prefix(at + key.size());
  auto result = uid_t{};
  auto [end, ec] = std::from_chars(status.data(), status.data() + status.size(), result);
  if (ec != std::errc{} || end == status.data() + status.size() || *end != '\t')
    return std::nullopt;
  return result;
}

} // namespace paddock::guest
