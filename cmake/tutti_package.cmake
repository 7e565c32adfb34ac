# Debian packages: `cpack -G DEB` in a build makes `tutti` (component runtime), `libtutti-dev` (component dev), `python3-tutti`
# (component python) and, where there is a compiler for it, `tutti-keeper32` (component keeper32).
# What Debian wants beyond an installed tree, and what the package depends on, is in debian.cmake, which cpack runs.
set(TUTTI_MAINTAINER "The Tutti developers <tutti@packages.invalid>" CACHE STRING
    "Who answers for the Debian packages: Name <address>")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tutti)
set(CPACK_PACKAGE_VENDOR "The Tutti developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL runtime dev python)
if(TARGET tutti_keeper32)
    list(APPEND CPACK_COMPONENTS_ALL keeper32)
endif()
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

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-tutti)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_COMPONENT_PYTHON_DESCRIPTION
    "Tutti runs simulation models that come as Functional Mock-up Units (FMUs).
.
This package holds its Python module: simulate, look at results as NumPy
arrays, step, build systems, and write units in Python.")

set(CPACK_DEBIAN_KEEPER32_PACKAGE_NAME tutti-keeper32)
set(CPACK_DEBIAN_KEEPER32_PACKAGE_SECTION science)
set(CPACK_COMPONENT_KEEPER32_DESCRIPTION
    "Tutti runs simulation models that come as Functional Mock-up Units (FMUs).
.
This package holds the program that it runs FMUs in which have a library for
32 bits only.")

# Where python3 of Debian looks. Elsewhere there is pip.
install(DIRECTORY python/tutti DESTINATION lib/python3/dist-packages COMPONENT python EXCLUDE_FROM_ALL
        FILES_MATCHING PATTERN *.py PATTERN py.typed PATTERN __pycache__ EXCLUDE)
file(CONFIGURE OUTPUT tutti.egg-info CONTENT
    "Metadata-Version: 2.1\nName: tutti\nVersion: @PROJECT_VERSION@\nSummary: @PROJECT_DESCRIPTION@\n" @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tutti.egg-info DESTINATION lib/python3/dist-packages
        RENAME tutti-${PROJECT_VERSION}.egg-info COMPONENT python EXCLUDE_FROM_ALL)

# For debian.cmake: where the parts of the tree are, and what is loaded by name only.
foreach(folder BINDIR LIBDIR DATADIR MANDIR DOCDIR)
    set(CPACK_TUTTI_${folder} ${CMAKE_INSTALL_${folder}})
endforeach()
set(CPACK_TUTTI_SOVERSION 0)
set(CPACK_TUTTI_SOURCE ${PROJECT_SOURCE_DIR})
file(REAL_PATH ${TUTTI_LIB_matio} CPACK_TUTTI_MATIO)
include(CPack)
