#include "embedded/flows/authentication_key.hpp"

#include "base/random.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace paddock::embedded {

namespace {

using key_text = std::array<char, 64>; // as hex

/// All of it, or an error number.
int read_all(int from, key_text& to) {
  for (std::size_t have = 0; have < to.size();) {
    const auto n = ::read(from, to.data() + have, to.size() - have);
    if (n <= 0)
      return n == 0 ? EIO : errno;
    have += static_cast<std::size_t>(n);
  }
  return 0;
}

int write_all(int to, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const auto n = ::write(to, text.data() + done, text.size() - done);
    if (n < 0)
      return errno;
    done += static_cast<std::size_t>(n);
  }
  return ::fsync(to) == 0 ? 0 : errno;
}

} // namespace

tl::expected<secret, std::string> keep_signing_key(const std::filesystem::path& folder) {
  const auto path = folder / "service-accounts.key";
  const auto failed = [&](int error) {
    return tl::unexpected{"cannot keep the key of service accounts in " + path.string() + ": " + std::strerror(error)};
  };
  if (const auto file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC); file >= 0) {
    key_text text{};
    const auto error = read_all(file, text);
    ::close(file);
    if (error != 0)
      return failed(error);
    return secret{std::string{text.data(), text.size()}};
  }
  if (errno != ENOENT)
    return failed(errno);
  // Under another name until it is whole: a crash leaves no half key.
  const auto fresh = folder / "service-accounts.key.new";
  const auto file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0)
    return failed(errno);
  auto key = new_key();
  auto error = write_all(file, key);
  ::close(file);
  if (error == 0 && ::rename(fresh.c_str(), path.c_str()) != 0)
    error = errno;
  if (error != 0)
    return failed(error);
  return secret{std::move(key)};
}

} // namespace paddock::embedded
