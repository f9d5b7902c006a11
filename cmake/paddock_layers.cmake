# Who may link whom. This table is the architecture (docs/architecture.md draws it); a link that it does not allow stops
# the configuration. scripts/check-layers reads the same table and holds the includes against it.
#
# PADDOCK_MAY_LINK_<library>: the libraries of ours that it may name. A domain folder is rules only; its flows/ folder
# is a library of its own. Actors and flows meet in apps/ and nowhere else.
set(PADDOCK_MAY_LINK_base "")
set(PADDOCK_MAY_LINK_base_asio "")
set(PADDOCK_MAY_LINK_base_flows base base_asio)
set(PADDOCK_MAY_LINK_k8s base)
set(PADDOCK_MAY_LINK_k8s_flows base base_flows k8s)
set(PADDOCK_MAY_LINK_guest base)
set(PADDOCK_MAY_LINK_guest_flows base base_flows guest)
set(PADDOCK_MAY_LINK_guest_agent base base_asio guest)
set(PADDOCK_MAY_LINK_egress base k8s)
set(PADDOCK_MAY_LINK_egress_flows base base_flows k8s k8s_flows egress)
set(PADDOCK_MAY_LINK_workspace base k8s guest egress)
set(PADDOCK_MAY_LINK_workspace_flows base base_flows k8s k8s_flows guest guest_flows egress egress_flows workspace)
set(PADDOCK_MAY_LINK_cluster base k8s)
set(PADDOCK_MAY_LINK_config base)
set(PADDOCK_MAY_LINK_documents base)
set(PADDOCK_MAY_LINK_audit base k8s documents egress)
set(PADDOCK_MAY_LINK_audit_flows base base_flows k8s k8s_flows documents egress egress_flows audit)
set(PADDOCK_MAY_LINK_messages base k8s guest egress workspace)
set(PADDOCK_MAY_LINK_remoting "")
set(PADDOCK_MAY_LINK_client base messages remoting)
set(PADDOCK_MAY_LINK_actors base k8s guest egress workspace cluster messages)
set(PADDOCK_MAY_LINK_embedded base k8s)
set(PADDOCK_MAY_LINK_embedded_flows base base_flows k8s k8s_flows guest guest_flows embedded)

# What each kind of code gets to include: its precompiled header and its third-party libraries.
#   rules     json, tl::expected, std
#   agent     + Asio
#   flows     + Asio, OpenSSL
#   actors    + CAF core and io
set(PADDOCK_KINDS rules agent flows actors)
set(PADDOCK_LIBS_rules nlohmann_json::nlohmann_json tl::expected)
set(PADDOCK_LIBS_agent ${PADDOCK_LIBS_rules} Boost::headers Threads::Threads)
set(PADDOCK_LIBS_flows ${PADDOCK_LIBS_rules} Boost::headers OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
set(PADDOCK_LIBS_actors ${PADDOCK_LIBS_rules} CAF::core CAF::io)
set(PADDOCK_PCH_rules <algorithm> <chrono> <cstdint> <functional> <map> <memory> <optional> <span> <string> <string_view>
                      <variant> <vector> <nlohmann/json.hpp> <tl/expected.hpp>)
set(PADDOCK_PCH_agent ${PADDOCK_PCH_rules} <boost/asio.hpp>)
set(PADDOCK_PCH_flows ${PADDOCK_PCH_rules} <boost/asio.hpp> <boost/asio/ssl.hpp>)
set(PADDOCK_PCH_actors ${PADDOCK_PCH_rules} <caf/all.hpp> <caf/io/all.hpp>)

# Asio and Beast are compiled once (base/asio, base/flows/*_impl.cpp) and not in every file.
set(PADDOCK_DEFINES_agent BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED)
set(PADDOCK_DEFINES_flows BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED)

file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/pch.cpp" CONTENT "") # written once, so that a second configuration rebuilds nothing
foreach(kind IN LISTS PADDOCK_KINDS)
  add_library(paddock_pch_${kind} OBJECT "${CMAKE_BINARY_DIR}/pch.cpp")
  target_link_libraries(paddock_pch_${kind} PRIVATE ${PADDOCK_LIBS_${kind}})
  target_compile_definitions(paddock_pch_${kind} PRIVATE ${PADDOCK_DEFINES_${kind}})
  target_compile_options(paddock_pch_${kind} PRIVATE ${PADDOCK_WARNINGS})
  target_include_directories(paddock_pch_${kind} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_precompile_headers(paddock_pch_${kind} PRIVATE ${PADDOCK_PCH_${kind}})
endforeach()

# Stops the configuration when `name` links a library of ours that the table does not allow.
function(paddock_check_links name links)
  if(NOT DEFINED PADDOCK_MAY_LINK_${name})
    message(FATAL_ERROR "${name} is not in the table of cmake/paddock_layers.cmake: say there what it may link")
  endif()
  foreach(link IN LISTS links)
    if(NOT link IN_LIST PADDOCK_MAY_LINK_${name})
      message(FATAL_ERROR "layers: ${name} may not link ${link}; it may link: ${PADDOCK_MAY_LINK_${name}}")
    endif()
  endforeach()
endfunction()

# paddock_library(NAME KIND rules|flows|actors SOURCES ... [LINKS ours ...] [LIBS theirs ...])
# One library per folder. LINKS are names of the table above, LIBS third-party targets beyond those of the kind.
function(paddock_library name)
  cmake_parse_arguments(arg "" "KIND" "SOURCES;LINKS;LIBS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_KIND IN_LIST PADDOCK_KINDS)
    message(FATAL_ERROR "paddock_library(${name}): wrong arguments '${arg_UNPARSED_ARGUMENTS}' or kind '${arg_KIND}'")
  endif()
  paddock_check_links(${name} "${arg_LINKS}")
  foreach(lib IN LISTS arg_LIBS)
    if(lib MATCHES "^paddock_")
      message(FATAL_ERROR "layers: ${name} may not link ${lib} as one of LIBS: ours are named in LINKS")
    endif()
  endforeach()
  list(TRANSFORM arg_LINKS PREPEND paddock_ OUTPUT_VARIABLE ours)
  if(arg_SOURCES)
    add_library(paddock_${name} STATIC ${arg_SOURCES})
    target_link_libraries(paddock_${name} PUBLIC ${PADDOCK_LIBS_${arg_KIND}} ${ours} ${arg_LIBS})
    target_include_directories(paddock_${name} PUBLIC "$<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>")
    target_compile_definitions(paddock_${name} PUBLIC ${PADDOCK_DEFINES_${arg_KIND}})
    target_compile_options(paddock_${name} PRIVATE ${PADDOCK_WARNINGS})
    target_precompile_headers(paddock_${name} REUSE_FROM paddock_pch_${arg_KIND})
  else()
    add_library(paddock_${name} INTERFACE)
    target_link_libraries(paddock_${name} INTERFACE ${PADDOCK_LIBS_${arg_KIND}} ${ours} ${arg_LIBS})
    target_include_directories(paddock_${name} INTERFACE "${CMAKE_SOURCE_DIR}")
    target_compile_definitions(paddock_${name} INTERFACE ${PADDOCK_DEFINES_${arg_KIND}})
  endif()
  if(arg_SOURCES AND PADDOCK_TESTS)
    # Linked whole and alone: a symbol that only a library not named above has is missing here.
    add_executable(alone_${name} "${CMAKE_SOURCE_DIR}/cmake/alone.cpp")
    target_link_libraries(alone_${name} PRIVATE -Wl,--whole-archive paddock_${name} -Wl,--no-whole-archive)
    set_target_properties(alone_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/alone" DISABLE_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# paddock_program(NAME SOURCES ... LINKS ours ... [LIBS theirs ...]): an executable of apps/, where everything may meet.
function(paddock_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS;LIBS" ${ARGN})
  list(TRANSFORM arg_LINKS PREPEND paddock_ OUTPUT_VARIABLE ours)
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${ours} ${arg_LIBS})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_compile_options(${name} PRIVATE ${PADDOCK_WARNINGS})
endfunction()
