#pragma once

#include <tl/expected.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace paddock::embedded {

/// The folder of one cluster or one kubelet: `disks/ logs/ pods/ trash/`, readable by its owner only, held by a lock as long as
/// this lives. A temporary one goes with it.
class data_folder {
public:
  /// Takes `wanted`, made where it is missing, or a temporary folder. The failure is a text for people that names the folder:
  /// not writable, disk full, held by another process. What pods of an earlier run kept beside their disks goes to the trash.
  [[nodiscard]] static tl::expected<std::unique_ptr<data_folder>, std::string> open(const std::optional<std::filesystem::path>& wanted);
  ~data_folder();
  data_folder(const data_folder&) = delete;
  data_folder& operator=(const data_folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept {
    return path_;
  }
  /// Why a cluster must not begin anew here: there are disks, and the file of the objects that they belong to is missing or
  /// empty, so that each of them would be taken for left over. An empty text: it may.
  [[nodiscard]] std::string lost_objects(const std::string& name) const;
  /// The folder is that of `cluster` (the uid of its namespace kube-system) from now on. False: there are disks, and nothing says
  /// whose they are, so none may be taken for left over. The failure is a text for people: its disks are another
  /// cluster's.
  [[nodiscard]] tl::expected<bool, std::string> keep_for(const std::string& cluster) const;
  /// Names the processes of whoever holds the folder.
  [[nodiscard]] std::string family() const;

private:
  data_folder() = default;
  [[nodiscard]] std::string cannot(const std::string& what, const std::string& why) const;
  std::string make();
  std::string take(const std::filesystem::path& wanted);
  std::string try_out();

  std::filesystem::path path_;
  bool temporary_ = false;
  int lock_ = -1;
};

/// The namespace whose uid names a cluster.
inline constexpr auto identity_path = "/api/v1/namespaces/kube-system";

/// Why `program` cannot be run for each pod; empty: it can.
[[nodiscard]] std::string check_guest(const std::filesystem::path& program);

} // namespace paddock::embedded
