# Flags that all of the project's own code is built with.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # POSIX and GNU interfaces (dlopen, flock, futex); the language stays C17
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(TUTTI_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined or thread)")
option(TUTTI_WERROR "Treat warnings as errors" OFF)

set(tutti_warnings -Wall -Wextra -Wshadow -Wconversion -Wvla -Wformat=2 -Wpointer-arith -Wundef)
set(tutti_c_warnings -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition)

add_library(tutti_flags INTERFACE)
target_compile_definitions(tutti_flags INTERFACE _GNU_SOURCE)
target_compile_options(tutti_flags INTERFACE ${tutti_warnings} "$<$<COMPILE_LANGUAGE:C>:${tutti_c_warnings}>"
                                             $<$<BOOL:${TUTTI_WERROR}>:-Werror>)
if(TUTTI_SANITIZE)
    add_compile_options(-fsanitize=${TUTTI_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${TUTTI_SANITIZE})
    add_compile_options(-UNDEBUG) # asserts are checks, too
    # Lines for stack traces; compiles twice as fast as -O2 -g. At -O1 gcc sees less of what is always set: -O2 has the say in that.
    add_compile_options(-O1 -g1 $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
if(TUTTI_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# What makes faults harder to abuse, for what is installed: the command, the library and its modules. Files and peers are hostile, and
# FMUs run in the same process. Sanitizers have checks of their own, and _FORTIFY_SOURCE wants optimised code.
include(CheckCCompilerFlag)
add_library(tutti_hardened INTERFACE)
if(NOT TUTTI_SANITIZE AND NOT TUTTI_FUZZ)
    foreach(flag stack-protector-strong stack-clash-protection cf-protection)
        string(MAKE_C_IDENTIFIER TUTTI_HAS_${flag} has)
        check_c_compiler_flag(-f${flag} ${has})
        if(${has})
            target_compile_options(tutti_hardened INTERFACE -f${flag})
        endif()
    endforeach()
    if(NOT CMAKE_C_FLAGS MATCHES _FORTIFY_SOURCE) # packagers have their own
        target_compile_options(tutti_hardened INTERFACE
                               $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE$<SEMICOLON>-D_FORTIFY_SOURCE=3>)
    endif()
endif()
target_link_options(tutti_hardened INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
