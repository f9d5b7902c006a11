#pragma once

#include <boost/asio/thread_pool.hpp>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>

namespace paddock::embedded {

/// The folders behind claims, each named by its claim's uid. A folder goes after its claim has gone and the last pod that used
/// it has ended: out of the way at once, and removed on a thread of its own, as all that may be large. For one lane.
class disk_store {
public:
  /// `folder` has `disks/` and `trash/`; what an earlier run left in the trash is removed.
  explicit disk_store(std::filesystem::path folder);
  ~disk_store();
  /// Takes the folder for one pod, made where it is missing. Each call is answered by one `release`. A uid that cannot be the
  /// name of a folder is an error.
  std::filesystem::path take(const std::string& uid, std::error_code& error);
  void release(const std::string& uid);
  /// It is proven that the claim has gone.
  void doom(const std::string& uid);
  /// Takes another file or folder below the same folder out of the way and removes it, in its time; nothing else, ever.
  void discard(const std::filesystem::path& what);
  [[nodiscard]] bool has(const std::string& uid) const;
  /// Every folder there is, by uid.
  [[nodiscard]] std::set<std::string> all() const;

private:
  void remove_if_free(const std::string& uid);

  std::filesystem::path folder_;
  std::map<std::string, int> users_;
  std::set<std::string> doomed_;
  boost::asio::thread_pool janitor_{1};
};

} // namespace paddock::embedded
