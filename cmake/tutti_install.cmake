# What `cmake --install` puts where: command, libraries, headers, pkg-config and CMake packages, man pages, completion, kit, docs. The examples
# say in their folder what is installed of them, modules in src/.
include(CMakePackageConfigHelpers)

set(tutti_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tutti)
set(tutti_pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(tutti_kit_dir ${CMAKE_INSTALL_DATADIR}/tutti/kit)

install(TARGETS tutti tutti_static tutti_shared
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_COMPONENT dev
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(DIRECTORY include/tutti DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev FILES_MATCHING PATTERN *.h)

# Both packages find their prefix from where they lie, so that an installed tree can be moved.
file(RELATIVE_PATH tutti_pc_to_prefix /${tutti_pc_dir} /)
string(REGEX REPLACE "/$" "" tutti_pc_to_prefix ${tutti_pc_to_prefix})
configure_file(cmake/tutti.pc.in ${CMAKE_CURRENT_BINARY_DIR}/tutti.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tutti.pc DESTINATION ${tutti_pc_dir} COMPONENT dev)

configure_package_config_file(cmake/tutti-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/tutti-config.cmake
    INSTALL_DESTINATION ${tutti_cmake_dir}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR tutti_kit_dir)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/tutti-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tutti-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/tutti-config-version.cmake
    DESTINATION ${tutti_cmake_dir} COMPONENT dev)

# The kit as it lies in the source tree, its models as examples, with FMI's declarations beside it.
install(DIRECTORY kit/ DESTINATION ${tutti_kit_dir} COMPONENT dev
    FILES_MATCHING PATTERN *.h PATTERN *.c PATTERN *.cmake PATTERN models/*.txt PATTERN fmi-ls-manifest.xml)
install(FILES src/fmu/api1.h src/fmu/api2.h src/fmu/api3.h DESTINATION ${tutti_kit_dir} COMPONENT dev)

install(DIRECTORY ${CMAKE_BINARY_DIR}/share/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
foreach(shell bash-completion zsh fish)
    install(DIRECTORY ${CMAKE_BINARY_DIR}/share/${shell} DESTINATION ${CMAKE_INSTALL_DATADIR} OPTIONAL)
endforeach()
# A service of systemd, for those who want one: it is copied to where it takes effect (docs/nodes.md).
configure_file(cmake/tutti-node.service.in ${CMAKE_CURRENT_BINARY_DIR}/tutti-node.service @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tutti-node.service DESTINATION ${CMAKE_INSTALL_DATADIR}/tutti)
install(FILES LICENSE README.md CHANGELOG.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
# The pages name ../examples.
file(RELATIVE_PATH tutti_doc_to_examples /${CMAKE_INSTALL_DOCDIR} /${tutti_examples_dir})
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/installed)
file(CREATE_LINK ${tutti_doc_to_examples} ${CMAKE_CURRENT_BINARY_DIR}/installed/examples SYMBOLIC)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/installed/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
