# Compiler settings, warnings, sanitizers and third-party libraries: everything that is the same for every target.

option(PADDOCK_TESTS "Build the tests" ON)
option(PADDOCK_BENCH "Build the benchmarks" OFF)
option(PADDOCK_FUZZ "Build the fuzz targets (clang)" OFF)
option(PADDOCK_WERROR "Warnings are errors (on in CI)" OFF)
set(PADDOCK_SANITIZE "" CACHE STRING "Sanitizers, as gcc's -fsanitize takes them: address,undefined or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
# A PCH compiled with the flags of one target is reused by the others of its kind (paddock_layers).
set(CMAKE_PCH_INSTANTIATE_TEMPLATES OFF)

find_program(PADDOCK_CCACHE ccache)
if(PADDOCK_CCACHE)
  # With these, a clone in another folder finds what this one compiled; PCH need the sloppiness.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${PADDOCK_CCACHE}")
  add_compile_options(-fpch-preprocess)
endif()
find_program(PADDOCK_MOLD mold)
if(PADDOCK_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

set(PADDOCK_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(PADDOCK_WERROR)
  list(APPEND PADDOCK_WARNINGS -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False positives of gcc 12 in inlined standard and Asio code once sanitizers, -O1 or -O2 reshape it; the last one takes the two
  # halves of how Asio allocates a coroutine's frame for a mismatch.
  list(APPEND PADDOCK_WARNINGS -Wno-maybe-uninitialized -Wno-dangling-pointer -Wno-stringop-overflow -Wno-array-bounds
       -Wno-mismatched-new-delete)
  # Below 2 GiB the compiler does not look for what it no longer needs: an eighth of its time, for some 300 MiB of the largest files.
  add_compile_options("SHELL:--param ggc-min-heapsize=2097152")
endif()

if(PADDOCK_SANITIZE)
  add_compile_options(-fsanitize=${PADDOCK_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${PADDOCK_SANITIZE})
  if(PADDOCK_SANITIZE MATCHES "undefined")
    # The checks left out cost minutes of compile time on coroutines and find nothing that the others do not.
    add_compile_options(-fno-sanitize=vptr,null,alignment,object-size -fno-sanitize-recover=undefined)
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      # clang 14 cannot lay out what this check puts in front of a coroutine ("cannot represent a difference across sections").
      add_compile_options(-fno-sanitize=function)
    endif()
  endif()
  if(PADDOCK_SANITIZE MATCHES "thread")
    add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK) # TSan does not understand fences
    add_compile_options(-Wno-tsan)                           # and gcc says so wherever the library has one
  endif()
endif()
if(PADDOCK_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link) # what libFuzzer steers by; only its targets link it
endif()

find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(CAF CONFIG REQUIRED) # no version: its version file accepts only an exact one
if(CAF_VERSION VERSION_LESS 0.18.7)
  message(FATAL_ERROR "Paddock needs CAF 0.18.7 or later, found ${CAF_VERSION}: run scripts/setup")
endif()
if(NOT TARGET CAF::io OR NOT TARGET CAF::openssl)
  message(FATAL_ERROR "this CAF was built without its io or openssl module: run scripts/setup")
endif()
find_package(Boost 1.81 CONFIG REQUIRED COMPONENTS url)
find_package(nlohmann_json REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_library(PADDOCK_RE2 re2 REQUIRED) # Debian's has no CMake package
add_library(re2::re2 UNKNOWN IMPORTED)
set_target_properties(re2::re2 PROPERTIES IMPORTED_LOCATION "${PADDOCK_RE2}")
find_package(tl-expected REQUIRED)

# CAF and Boost warn in their own headers.
foreach(target IN ITEMS CAF::core CAF::io CAF::openssl CAF::test)
  if(TARGET ${target})
    get_target_property(dirs ${target} INTERFACE_INCLUDE_DIRECTORIES)
    if(dirs)
      set_target_properties(${target} PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${dirs}")
    endif()
  endif()
endforeach()
