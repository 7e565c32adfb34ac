# Where things are installed, below the prefix (CMAKE_INSTALL_BINDIR and so on), and in which of the two packages.

# Debian's libraries lie in lib/x86_64-linux-gnu, below /usr as well as below /usr/local: loader, pkg-config and CMake look there.
if(EXISTS /etc/debian_version AND CMAKE_LIBRARY_ARCHITECTURE AND NOT DEFINED CMAKE_INSTALL_LIBDIR)
    set(CMAKE_INSTALL_LIBDIR lib/${CMAKE_LIBRARY_ARCHITECTURE} CACHE PATH "Where libraries go, below the prefix")
endif()
# GNUInstallDirs would replace ours by its own default when a build folder gets another prefix (/usr, then another one).
unset(_GNUInstallDirs_LAST_CMAKE_INSTALL_PREFIX CACHE)
include(GNUInstallDirs)
set(tutti_examples_dir ${CMAKE_INSTALL_LIBDIR}/tutti/examples) # FMUs hold machine code: not below share/

# Whatever does not say COMPONENT dev belongs to the package of the command.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME runtime)
