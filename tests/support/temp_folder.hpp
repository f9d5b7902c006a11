#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <stdlib.h>
#include <string>
#include <sys/stat.h>

namespace paddock::test {

/// A folder of the test's own, gone with it.
class temp_folder {
public:
  temp_folder() {
    auto name = (std::filesystem::temp_directory_path() / "paddock-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw std::runtime_error{"no temporary folder"};
    path_ = name;
  }
  ~temp_folder() {
    auto ignored = std::error_code{};
    std::filesystem::remove_all(path_, ignored);
  }
  temp_folder(const temp_folder&) = delete;
  temp_folder& operator=(const temp_folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const {
    return path_;
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream{path_ / name, std::ios::binary} << text;
  }
  /// A program for /bin/sh.
  void write_script(const std::string& name, const std::string& lines) const {
    write(name, "#!/bin/sh\n" + lines);
    ::chmod((path_ / name).c_str(), 0755);
  }
  /// Empty when it is not there.
  [[nodiscard]] std::string read(const std::string& name) const {
    auto from = std::ifstream{path_ / name, std::ios::binary};
    return {std::istreambuf_iterator<char>{from}, {}};
  }

private:
  std::filesystem::path path_;
};

} // namespace paddock::test
