# Run by cpack between the install into its own folder and the making of the packages: adds to the tree what Debian's policy
# wants of a package, and finds out what the packages depend on.
set(version ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
set(runtime ${CPACK_TEMPORARY_DIRECTORY}/runtime${CPACK_PACKAGING_INSTALL_PREFIX})
set(dev ${CPACK_TEMPORARY_DIRECTORY}/dev${CPACK_PACKAGING_INSTALL_PREFIX})
set(python ${CPACK_TEMPORARY_DIRECTORY}/python${CPACK_PACKAGING_INSTALL_PREFIX})
set(keeper32 ${CPACK_TEMPORARY_DIRECTORY}/keeper32${CPACK_PACKAGING_INSTALL_PREFIX}) # where there is a compiler for 32 bits
set(control ${CPACK_TOPLEVEL_DIRECTORY}/control)
file(MAKE_DIRECTORY ${control})

function(run)
    execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# ---- stripped, as dh_strip does it ----

set(stripped --remove-section=.comment --remove-section=.note --strip-unneeded)
set(programs "")
file(GLOB_RECURSE files LIST_DIRECTORIES false ${CPACK_TEMPORARY_DIRECTORY}/*)
foreach(file IN LISTS files) # every one that the kernel or the loader takes, whatever it is called
    if(NOT IS_SYMLINK ${file})
        file(READ ${file} begin LIMIT 4 HEX)
        if(begin STREQUAL 7f454c46)
            list(APPEND programs ${file})
        endif()
    endif()
endforeach()
run(strip ${stripped} ${programs})
run(strip --strip-debug --remove-section=.comment --remove-section=.note --enable-deterministic-archives
    ${dev}/${CPACK_TUTTI_LIBDIR}/libtutti.a)

# ---- documentation ----

# licence, changes: what every package has in its folder of /usr/share/doc
function(tutti_debian_docs root package)
    set(folder ${root}/share/doc/${package})
    file(READ ${CPACK_TUTTI_SOURCE}/LICENSE license)
    file(WRITE ${folder}/copyright "Tutti ${CPACK_PACKAGE_VERSION}, made from its own source tree.\n\n${license}")
    string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # that of SOURCE_DATE_EPOCH, if it is set
    file(WRITE ${folder}/changelog.Debian "tutti (${version}) unstable; urgency=medium\n\n"
        "  * What is new stands in changelog.gz.\n\n -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${date}\n")
    file(COPY_FILE ${CPACK_TUTTI_SOURCE}/CHANGELOG.md ${folder}/changelog)
    run(gzip -9nf ${folder}/changelog ${folder}/changelog.Debian)
    file(WRITE ${root}/share/lintian/overrides/${package}
        "# Made here, not for Debian's archive.\n${package}: initial-upload-closes-no-bugs *\n")
endfunction()

tutti_debian_docs(${runtime} tutti)
tutti_debian_docs(${dev} libtutti-dev)
tutti_debian_docs(${python} python3-tutti)
if(EXISTS ${keeper32})
    tutti_debian_docs(${keeper32} tutti-keeper32)
    file(APPEND ${keeper32}/share/lintian/overrides/tutti-keeper32
        "# FMUs for 32 bits run in it, on a system of 64 bits.\ntutti-keeper32: binary-from-other-architecture *\n")
endif()
file(REMOVE ${runtime}/${CPACK_TUTTI_DOCDIR}/LICENSE ${runtime}/${CPACK_TUTTI_DOCDIR}/CHANGELOG.md) # under Debian's names now
file(GLOB_RECURSE pages ${runtime}/${CPACK_TUTTI_MANDIR}/*.[0-9])
if(pages)
    run(gzip -9nf ${pages})
endif()
if(EXISTS ${runtime}/share/zsh/site-functions) # zsh of Debian does not look there
    file(RENAME ${runtime}/share/zsh/site-functions ${runtime}/share/zsh/vendor-completions)
endif()
file(APPEND ${runtime}/share/lintian/overrides/tutti
    "# One package for people: the library comes with the command.\ntutti: package-name-doesnt-match-sonames libtutti${CPACK_TUTTI_SOVERSION}\n")

run(chmod -R u=rwX,go=rX ${CPACK_TEMPORARY_DIRECTORY}) # whatever the umask of who builds it

# ---- what it depends on ----

# packages_of(VARIABLE file...): the packages that hold the libraries these files are linked with
function(packages_of variable)
    set(scratch ${CPACK_TOPLEVEL_DIRECTORY}/shlibdeps)
    file(WRITE ${scratch}/debian/control "") # dpkg-shlibdeps asks for it
    execute_process(COMMAND dpkg-shlibdeps --ignore-missing-info -O ${ARGN}
        WORKING_DIRECTORY ${scratch} OUTPUT_VARIABLE said ERROR_VARIABLE complaint RESULT_VARIABLE status)
    if(NOT status EQUAL 0 OR NOT said MATCHES "shlibs:Depends=([^\n]+)")
        message(FATAL_ERROR "dpkg-shlibdeps (Debian package dpkg-dev): ${status}\n${said}${complaint}")
    endif()
    string(REPLACE ", " ";" packages "${CMAKE_MATCH_1}")
    set(${variable} ${packages} PARENT_SCOPE)
endfunction()

# packages_beyond(VARIABLE known file...): the same without those of the list `known`, whatever their version
function(packages_beyond variable known)
    packages_of(packages ${ARGN})
    foreach(package IN LISTS ${known})
        string(REGEX REPLACE " .*" "" name ${package})
        string(REGEX REPLACE "([+.])" "\\\\\\1" name ${name})
        list(FILTER packages EXCLUDE REGEX "^${name}( |$)")
    endforeach()
    set(${variable} ${packages} PARENT_SCOPE)
endfunction()

# field(VARIABLE package...): as a line of the package's control file
macro(field variable)
    string(REPLACE ";" ", " ${variable} "${ARGN}")
endmacro()

# Modules are loaded when a run asks for them, and so is matio. HDF5 and MAT files are formats of results, which people expect to
# work; MPI is for clusters, and would be the larger part of an install.
packages_of(depends ${runtime}/${CPACK_TUTTI_BINDIR}/tutti ${runtime}/${CPACK_TUTTI_LIBDIR}/libtutti.so.${CPACK_PACKAGE_VERSION})
set(recommends "gnuplot-nox | gnuplot" graphviz)
set(suggests librsvg2-bin)
set(modules ${runtime}/${CPACK_TUTTI_LIBDIR}/tutti)
execute_process(COMMAND dpkg-query -S ${CPACK_TUTTI_MATIO} OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE ":.*" "" matio ${said})
list(APPEND recommends ${matio})
if(EXISTS ${modules}/tutti_hdf5.so)
    packages_beyond(packages depends ${modules}/tutti_hdf5.so)
    list(APPEND recommends ${packages})
endif()
if(EXISTS ${modules}/tutti_http.so)
    packages_beyond(packages depends ${modules}/tutti_http.so)
    list(APPEND recommends ${packages})
endif()
if(EXISTS ${modules}/tutti_mpi.so)
    packages_beyond(packages depends ${modules}/tutti_mpi.so)
    list(APPEND suggests mpich ${packages})
endif()
field(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS ${depends})
field(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS ${recommends})
field(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS ${suggests})

# pkg-config reads libzip's and Expat's files with Tutti's; the others are for programs that link libtutti.a.
field(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "tutti (= ${version})" libzip-dev libexpat1-dev)
field(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS cmake pkgconf libjansson-dev libzmq3-dev libsodium-dev libseccomp-dev libprotobuf-c-dev libssl-dev libwslay-dev libsundials-dev libsuitesparse-dev liblapack-dev
    libmetis-dev libnlopt-dev)

field(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "tutti (>= ${CPACK_PACKAGE_VERSION})" "python3 (>= 3.9)" python3-numpy)
field(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS python3-matplotlib python3-pandas python3-scipy)

field(CPACK_DEBIAN_KEEPER32_PACKAGE_DEPENDS "tutti (= ${version})" libc6-i386)

# ---- the library ----

file(WRITE ${control}/triggers "activate-noawait ldconfig\n")
file(WRITE ${control}/shlibs "libtutti ${CPACK_TUTTI_SOVERSION} tutti (>= ${CPACK_PACKAGE_VERSION})\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${control}/triggers ${control}/shlibs)
