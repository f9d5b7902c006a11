#include "embedded/flows/disk_store.hpp"

#include "base/random.hpp"
#include "embedded/selector.hpp"

#include <boost/asio/post.hpp>

namespace paddock::embedded {

namespace fs = std::filesystem;

namespace {

bool fit(const std::string& uid) {
  return !uid.empty() && is_label_value(uid);
}

void remove_on(boost::asio::thread_pool& janitor, fs::path what) {
  boost::asio::post(janitor, [what = std::move(what)] {
    auto ignored = std::error_code{};
    fs::remove_all(what, ignored);
  });
}

} // namespace

disk_store::disk_store(fs::path folder) : folder_(std::move(folder)) {
  auto error = std::error_code{};
  for (const auto& entry : fs::directory_iterator{folder_ / "trash", error})
    remove_on(janitor_, entry.path());
}

disk_store::~disk_store() {
  janitor_.join();
}

fs::path disk_store::take(const std::string& uid, std::error_code& error) {
  ++users_[uid];
  if (!fit(uid)) {
    error = std::make_error_code(std::errc::invalid_argument);
    return {};
  }
  auto result = folder_ / "disks" / uid;
  fs::create_directory(result, error);
  return result;
}

void disk_store::release(const std::string& uid) {
  if (--users_[uid] <= 0)
    users_.erase(uid);
  remove_if_free(uid);
}

void disk_store::doom(const std::string& uid) {
  if (!fit(uid))
    return;
  doomed_.insert(uid);
  remove_if_free(uid);
}

void disk_store::discard(const fs::path& what) {
  // Whatever went wrong before: nothing that is not below the folder is ever removed.
  const auto below = what.lexically_normal().lexically_relative(folder_.lexically_normal());
  if (below.empty() || below == "." || *below.begin() == "..")
    return;
  auto error = std::error_code{};
  auto trash = folder_ / "trash" / (what.filename().string().substr(0, 64) + "." + new_name_suffix(8));
  fs::rename(what, trash, error);
  if (!error)
    remove_on(janitor_, trash);
  else if (error != std::errc::no_such_file_or_directory)
    remove_on(janitor_, what);
}

bool disk_store::has(const std::string& uid) const {
  auto error = std::error_code{};
  return fit(uid) && fs::exists(folder_ / "disks" / uid, error);
}

std::set<std::string> disk_store::all() const {
  std::set<std::string> result;
  auto error = std::error_code{};
  for (const auto& entry : fs::directory_iterator{folder_ / "disks", error})
    result.insert(entry.path().filename().string());
  return result;
}

void disk_store::remove_if_free(const std::string& uid) {
  if (!doomed_.contains(uid) || users_.contains(uid))
    return;
  doomed_.erase(uid);
  discard(folder_ / "disks" / uid);
}

} // namespace paddock::embedded
