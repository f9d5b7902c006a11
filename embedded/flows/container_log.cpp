#include "embedded/flows/container_log.hpp"

#include "embedded/pod_log.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <system_error>
#include <vector>

namespace paddock::embedded {

namespace fs = std::filesystem;

namespace {

constexpr auto log_limit = std::size_t{1024} * 1024;
constexpr auto pods_kept = std::size_t{200}; // ended ones, too
constexpr auto runs_kept = std::size_t{4};   // files of a container: two runs, each with its older half

std::vector<fs::path> beyond(const fs::path& folder, std::size_t most, const std::multiset<fs::path>& in_use) {
  auto error = std::error_code{};
  std::vector<std::pair<fs::file_time_type, fs::path>> all;
  for (const auto& entry : fs::directory_iterator{folder, error})
    all.emplace_back(entry.last_write_time(error), entry.path());
  std::sort(all.begin(), all.end());
  std::vector<fs::path> result;
  for (std::size_t i = 0; i + most < all.size(); ++i)
    if (!in_use.contains(all[i].second))
      result.push_back(std::move(all[i].second));
  return result;
}

/// A file of a bounded size.
class log_writer {
public:
  explicit log_writer(fs::path file) : file_(std::move(file)) {
    auto error = std::error_code{};
    fs::create_directories(file_.parent_path(), error);
    out_.open(file_, std::ios::app | std::ios::binary);
    size_ = fs::exists(file_, error) ? static_cast<std::size_t>(fs::file_size(file_, error)) : 0;
  }

  void write(const std::string& lines) {
    if (lines.empty())
      return;
    if (size_ > 0 && size_ + lines.size() > log_limit) {
      auto error = std::error_code{};
      out_.close();
      fs::rename(file_, file_.string() + ".1", error);
      out_.open(file_, std::ios::trunc | std::ios::binary);
      size_ = 0;
    }
    out_.write(lines.data(), static_cast<std::streamsize>(lines.size()));
    out_.flush();
    size_ += lines.size();
  }

private:
  fs::path file_;
  std::ofstream out_;
  std::size_t size_ = 0;
};

} // namespace

boost::asio::awaitable<void> keep_log(flow_time& time, std::shared_ptr<process> from, fs::path file) {
  auto out = log_writer{std::move(file)};
  auto lines = log_lines{};
  auto buffer = std::array<char, 8192>{};
  for (;;) {
    auto [failed, n] =
      co_await from->output().async_read_some(boost::asio::buffer(buffer), boost::asio::as_tuple(boost::asio::use_awaitable));
    if (failed)
      break;
    out.write(lines.take({buffer.data(), n}, time.wall()));
  }
  out.write(lines.finish(time.wall()));
}

std::vector<fs::path> old_logs(const fs::path& logs, const std::multiset<fs::path>& in_use) {
  return beyond(logs, pods_kept, in_use);
}

std::vector<fs::path> old_container_logs(const fs::path& container) {
  return beyond(container, runs_kept, {});
}

} // namespace paddock::embedded
