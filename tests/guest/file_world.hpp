#pragma once

// The file ops of an agent, from the outside.

#include "base/base64.hpp"
#include "tests/guest/agent_world.hpp"

#include <sys/stat.h>

namespace paddock::test {

inline std::string error_of(const json& x) {
  return x.value("error", "(none)");
}

inline json read(const agent_world& world, const std::string& path, json extra = json::object()) {
  auto body = json{{"path", path}, {"encoding", "base64"}};
  body.update(extra);
  return world.ask("read-file", body);
}

inline std::string content(const json& reply) {
  return from_base64(reply.at("content").get<std::string>()).value_or("(not base64)");
}

inline json write(const agent_world& world, const std::string& path, const std::string& text) {
  return world.ask("write-file", json{{"path", path}, {"content", text}, {"encoding", "utf8"}});
}

inline json part_body(const std::string& path, const std::string& bytes, json part) {
  return {{"path", path}, {"content", to_base64(bytes)}, {"encoding", "base64"}, {"part", std::move(part)}};
}

inline json put_part(const agent_world& world, const std::string& path, const std::string& bytes, json part) {
  return world.ask("write-file", part_body(path, bytes, std::move(part)));
}

inline json discard(const agent_world& world, const std::string& path) {
  return put_part(world, path, "", {{"discard", true}});
}

inline unsigned mode_of(const fs::path& path) {
  struct stat is;
  return ::stat(path.c_str(), &is) == 0 ? is.st_mode & 07777u : 0;
}

inline std::size_t entries(const fs::path& path) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator{path}, fs::directory_iterator{}));
}

/// Whether this process has `path` open.
inline bool held_open(const fs::path& path) {
  for (const auto& fd : fs::directory_iterator{"/proc/self/fd"}) {
    auto ec = std::error_code{};
    if (fs::read_symlink(fd.path(), ec) == path)
      return true;
  }
  return false;
}

/// Asks for `f` until it holds, round trip by round trip; bounded by time.
inline bool comes_true(const agent_world& world, const std::function<bool()>& f) {
  auto until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (std::chrono::steady_clock::now() < until) {
    if (f())
      return true;
    world.ask("healthz");
  }
  return false;
}

/// What a `read-file-stream` said until its end.
struct streamed {
  json meta = json(json::value_t::discarded);
  std::string bytes;
  std::vector<std::size_t> chunks;            // their sizes
  json last = json(json::value_t::discarded); // end or error
  std::string order;                          // m, d, e (end), x (error), T (terminator)
};

inline streamed listen_to_stream(raw_client& client) {
  auto result = streamed{};
  for (auto payload = client.frame(); payload; payload = client.frame()) {
    if (payload->empty()) {
      result.order += 'T';
      continue;
    }
    auto event = json::parse(*payload);
    auto type = event["type"].get<std::string>();
    if (type == "data") {
      auto bytes = from_base64(event["data"].get<std::string>()).value_or("(not base64)");
      result.chunks.push_back(bytes.size());
      result.bytes += bytes;
    } else {
      (type == "meta" ? result.meta : result.last) = event;
    }
    result.order += type == "error" ? 'x' : type[0];
  }
  return result;
}

inline streamed read_stream(const agent_world& world, const std::string& path, json extra = json::object()) {
  auto body = json{{"path", path}};
  body.update(extra);
  auto client = world.open("read-file-stream", body);
  return listen_to_stream(client);
}

} // namespace paddock::test
