# Debian packages: `cpack -G DEB` in a build makes `tutti` (component runtime) and `libtutti-dev` (component dev).
# What Debian wants beyond an installed tree, and what the package depends on, is in debian.cmake, which cpack runs.
set(TUTTI_MAINTAINER "The Tutti developers <tutti@packages.invalid>" CACHE STRING
    "Who answers for the Debian packages: Name <address>")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tutti)
set(CPACK_PACKAGE_VENDOR "The Tutti developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL runtime dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${TUTTI_MAINTAINER})
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian.cmake)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME tutti)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION science)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
    "Tutti runs simulation models that come as Functional Mock-up Units (FMI 1.0,
2.0 and 3.0), alone or coupled into one system (SSP), on one core or on many
machines with the same result. It has solvers for Model Exchange, step control
and event location for coupled models, and it checks, draws and compares.
.
This package holds the command, its shared library and examples.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libtutti-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEV_DESCRIPTION
    "Tutti runs simulation models that come as Functional Mock-up Units (FMUs).
.
This package holds what programs need that use its library (headers, static
library, pkg-config and CMake files), and the kit: FMUs written in C.")

# For debian.cmake: where the parts of the tree are, and what is loaded by name only.
foreach(folder BINDIR LIBDIR DATADIR MANDIR DOCDIR)
    set(CPACK_TUTTI_${folder} ${CMAKE_INSTALL_${folder}})
endforeach()
set(CPACK_TUTTI_SOVERSION 0)
set(CPACK_TUTTI_SOURCE ${PROJECT_SOURCE_DIR})
file(REAL_PATH ${TUTTI_LIB_matio} CPACK_TUTTI_MATIO)
include(CPack)
