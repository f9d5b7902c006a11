# `cmake --install BUILD --prefix P --component client` installs what other programs build against: the package Paddock with the
# target paddock::client (docs/client.md).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(PADDOCK_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/Paddock")

# paddock_install_headers(FOLDER header ...): into include/paddock/FOLDER. In the tree ours are included from its root; installed,
# from include/, so that no folder name of ours stands on a program's include path.
function(paddock_install_headers folder)
  foreach(header IN LISTS ARGN)
    install(CODE "
      file(READ [[${CMAKE_SOURCE_DIR}/${folder}/${header}]] text)
      string(REGEX REPLACE \"(^|\\n)#include \\\"\" \"\\\\1#include \\\"paddock/\" text \"\${text}\")
      file(WRITE [[${CMAKE_BINARY_DIR}/installed/${folder}/${header}]] \"\${text}\")
      file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/paddock/${folder}\"
           TYPE FILE FILES [[${CMAKE_BINARY_DIR}/installed/${folder}/${header}]])"
      COMPONENT client)
  endforeach()
endfunction()

paddock_install_headers(client actors.hpp call.hpp files.hpp follow.hpp forward.hpp inbox.hpp node.hpp options.hpp result.hpp run.hpp stream.hpp target.hpp task.hpp watch.hpp
  workspace.hpp)
paddock_install_headers(messages error.hpp ids.hpp interfaces.hpp problem.hpp types.hpp)
paddock_install_headers(remoting actor_config.hpp tls.hpp)

foreach(name IN ITEMS client remoting messages base)
  set_target_properties(paddock_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(paddock_${name} PUBLIC cxx_std_20)
  target_include_directories(paddock_${name} INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  install(TARGETS paddock_${name} EXPORT PaddockTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT client)
endforeach()
install(EXPORT PaddockTargets NAMESPACE paddock:: DESTINATION "${PADDOCK_PACKAGE_DIR}" COMPONENT client)

configure_package_config_file("${CMAKE_SOURCE_DIR}/cmake/PaddockConfig.cmake.in" "${CMAKE_BINARY_DIR}/installed/PaddockConfig.cmake"
  INSTALL_DESTINATION "${PADDOCK_PACKAGE_DIR}")
# Before 1.0 the second number says what fits.
write_basic_package_version_file("${CMAKE_BINARY_DIR}/installed/PaddockConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/installed/PaddockConfig.cmake" "${CMAKE_BINARY_DIR}/installed/PaddockConfigVersion.cmake"
  DESTINATION "${PADDOCK_PACKAGE_DIR}" COMPONENT client)
