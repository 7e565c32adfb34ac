# SPDX-License-Identifier: MIT
# kit.cmake - FMUs of C sources: include() this file, then
#
#   tutti_add_fmu(NAME source.c... [VERSIONS 1cs 1me 2 3] [RESOURCES file...] [EXTRA folder...] [DEFINES name...] [INCLUDES folder...]
#                 [LIBRARIES target...] [OUTPUT_DIRECTORY folder] [TERMINALS] [FAULTS] [LACKS_OPTIONAL])
#
# builds NAME_fmi1cs.fmu, NAME_fmi1me.fmu, NAME_fmi2.fmu and NAME_fmi3.fmu (those of VERSIONS; all if there is none) in
# ${CMAKE_BINARY_DIR}/fmus. NAME is the .name of the model in the sources. RESOURCES are files or folders that go into
# the FMU's resources folder, EXTRA folders that go into its extra folder. TERMINALS packs the model's terminals. FAULTS compiles the fault layer in; LACKS_OPTIONAL leaves the optional functions out of
# the library. The target `fmus` stands for all FMUs. docs/kit.md explains how to write a model.

include_guard(GLOBAL)

# For all folders of a build, whichever includes this file first.
set(TUTTI_KIT_DIR ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "")
if(EXISTS ${TUTTI_KIT_DIR}/api2.h)
    set(TUTTI_KIT_API_DIR ${TUTTI_KIT_DIR} CACHE INTERNAL "")
else()
    set(TUTTI_KIT_API_DIR ${TUTTI_KIT_DIR}/../src/fmu CACHE INTERNAL "")
endif()

# The folder below binaries/ of this machine: FMI 1.0 and 2.0 know two, FMI 3.0 names processor and system.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    set(platforms aarch64-linux aarch64-linux)
elseif(CMAKE_SIZEOF_VOID_P EQUAL 4)
    set(platforms linux32 x86-linux)
else()
    set(platforms linux64 x86_64-linux)
endif()
list(GET platforms 0 platform)
set(TUTTI_KIT_PLATFORM12 ${platform} CACHE INTERNAL "")
list(GET platforms 1 platform)
set(TUTTI_KIT_PLATFORM3 ${platform} CACHE INTERNAL "")

# How everything that goes into an FMU is compiled.
function(_tutti_kit_settings target)
    set_target_properties(${target} PROPERTIES C_STANDARD 17 C_STANDARD_REQUIRED ON POSITION_INDEPENDENT_CODE ON
                                               C_VISIBILITY_PRESET hidden)
    target_include_directories(${target} PRIVATE ${TUTTI_KIT_DIR} ${TUTTI_KIT_API_DIR})
endfunction()

# A part of the kit, compiled once for all FMUs that need it with these definitions.
function(_tutti_kit_objects target definitions)
    if(NOT TARGET ${target})
        list(TRANSFORM ARGN PREPEND ${TUTTI_KIT_DIR}/)
        add_library(${target} OBJECT ${ARGN})
        _tutti_kit_settings(${target})
        target_compile_definitions(${target} PRIVATE ${definitions})
    endif()
endfunction()

function(_tutti_kit_parts suffix faults lacks)
    set(core can.c clocks.c core.c evaluate.c exchange.c guid.c integrate.c layout.c state.c values.c)
    _tutti_kit_objects(kit_core "" ${core} model.c)
    if(faults)
        _tutti_kit_objects(kit_core_faults KIT_FAULTS ${core} model.c fault.c)
    endif()
    _tutti_kit_objects(kit_fmi2${suffix} "${faults};${lacks}" fmi2.c)
    _tutti_kit_objects(kit_fmi3${suffix} "${faults};${lacks}" fmi3.c fmi3_clocks.c fmi3_values.c)
    _tutti_kit_objects(kit_describe "" describe.c describe_check.c describe1.c describe2.c describe3.c describe_terminals.c)
endfunction()

function(tutti_add_fmu name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "FAULTS;LACKS_OPTIONAL;TERMINALS" "OUTPUT_DIRECTORY"
                          "VERSIONS;RESOURCES;EXTRA;DEFINES;INCLUDES;LIBRARIES")
    set(sources ${arg_UNPARSED_ARGUMENTS})
    if(NOT arg_VERSIONS)
        set(arg_VERSIONS 1cs 1me 2 3)
    endif()
    if(NOT arg_OUTPUT_DIRECTORY)
        set(arg_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fmus)
    endif()
    set(suffix "")
    set(core kit_core)
    if(arg_FAULTS)
        string(APPEND suffix _faults)
        set(core kit_core_faults)
        set(faults KIT_FAULTS)
    endif()
    if(arg_LACKS_OPTIONAL)
        string(APPEND suffix _lacks)
        set(lacks KIT_LACKS_OPTIONAL)
    endif()
    _tutti_kit_parts("${suffix}" "${faults}" "${lacks}")

    add_library(${name}_model OBJECT ${sources})
    _tutti_kit_settings(${name}_model)
    target_compile_definitions(${name}_model PRIVATE ${arg_DEFINES})
    target_include_directories(${name}_model PRIVATE ${arg_INCLUDES})
    # the functions of a model have one form, whether they use all arguments or not
    target_compile_options(${name}_model PRIVATE -Wno-unused-parameter)
    if(arg_LIBRARIES)
        target_link_libraries(${name}_model PRIVATE ${arg_LIBRARIES})
    endif()

    add_executable(${name}_describe $<TARGET_OBJECTS:${name}_model> $<TARGET_OBJECTS:kit_core>
                                    $<TARGET_OBJECTS:kit_describe>)
    target_link_libraries(${name}_describe PRIVATE m ${arg_LIBRARIES})
    set_target_properties(${name}_describe PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/describe
                                                      LINKER_LANGUAGE C)

    if(NOT TARGET fmus)
        add_custom_target(fmus ALL)
    endif()
    foreach(version IN LISTS arg_VERSIONS)
        set(id ${name}_fmi${version})
        set(stage ${CMAKE_CURRENT_BINARY_DIR}/stage/${id})
        if(version STREQUAL "3")
            set(platform ${TUTTI_KIT_PLATFORM3})
        else()
            set(platform ${TUTTI_KIT_PLATFORM12})
        endif()
        if(version MATCHES "^1(cs|me)$")
            add_library(${id} MODULE ${TUTTI_KIT_DIR}/fmi1.c)
            string(TOUPPER ${CMAKE_MATCH_1} interface)
            target_compile_definitions(${id} PRIVATE KIT_MODEL_IDENTIFIER=${name} KIT_FMI1_${interface} ${faults}
                                                     ${lacks})
        elseif(version MATCHES "^[23]$")
            add_library(${id} MODULE $<TARGET_OBJECTS:kit_fmi${version}${suffix}>)
        else()
            message(FATAL_ERROR "tutti_add_fmu(${name}): VERSIONS are 1cs, 1me, 2 and 3, not ${version}")
        endif()
        _tutti_kit_settings(${id})
        target_sources(${id} PRIVATE $<TARGET_OBJECTS:${name}_model> $<TARGET_OBJECTS:${core}>)
        target_link_libraries(${id} PRIVATE m ${arg_LIBRARIES})
        set_target_properties(${id} PROPERTIES PREFIX "" SUFFIX .so OUTPUT_NAME ${name} LINKER_LANGUAGE C
                                               LIBRARY_OUTPUT_DIRECTORY ${stage}/binaries/${platform}$<0:>)
        _tutti_kit_pack(${id} ${version} ${name} ${stage} ${arg_OUTPUT_DIRECTORY} "${arg_RESOURCES}" "${arg_EXTRA}" ${arg_TERMINALS})
    endforeach()
endfunction()

# Copies files and folders into a folder of the FMU: commands go to `copy`, what they depend on to `depends`.
function(_tutti_kit_copy target copy depends)
    foreach(resource IN LISTS ARGN)
        get_filename_component(path ${resource} ABSOLUTE)
        if(IS_DIRECTORY ${path})
            get_filename_component(last ${path} NAME)
            file(GLOB_RECURSE files CONFIGURE_DEPENDS ${path}/*)
            list(APPEND ${depends} ${files})
            list(APPEND ${copy} COMMAND ${CMAKE_COMMAND} -E copy_directory ${path} ${target}/${last})
        else()
            list(APPEND ${depends} ${path})
            list(APPEND ${copy} COMMAND ${CMAKE_COMMAND} -E copy ${path} ${target})
        endif()
    endforeach()
    set(${copy} ${${copy}} PARENT_SCOPE)
    set(${depends} ${${depends}} PARENT_SCOPE)
endfunction()

# The archive: description, library, resources, terminals. Times are left out so that the same sources give the same file.
function(_tutti_kit_pack id version name stage folder resources extra terminals)
    set(fmu ${folder}/${id}.fmu)
    set(entries modelDescription.xml binaries)
    set(copy "")
    set(depends "")
    if(resources)
        list(APPEND entries resources)
        _tutti_kit_copy(${stage}/resources copy depends ${resources})
    endif()
    if(extra)
        list(APPEND entries extra)
        _tutti_kit_copy(${stage}/extra copy depends ${extra})
    endif()
    if(terminals)
        list(APPEND entries terminalsAndIcons)
        list(APPEND copy COMMAND ${CMAKE_COMMAND} -E make_directory ${stage}/terminalsAndIcons
                         COMMAND ${name}_describe terminals > ${stage}/terminalsAndIcons/terminalsAndIcons.xml)
    endif()
    add_custom_command(
        OUTPUT ${fmu}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${folder} ${stage}/resources
        COMMAND ${name}_describe ${version} > ${stage}/modelDescription.xml
        ${copy}
        COMMAND ${CMAKE_COMMAND} -E chdir ${stage} ${CMAKE_COMMAND} -E tar cf ${fmu} --format=zip
                --mtime=2000-01-01 ${entries}
        DEPENDS ${id} ${name}_describe ${depends}
        COMMENT "Packing ${id}.fmu"
        VERBATIM)
    add_custom_target(${id}_fmu DEPENDS ${fmu})
    set_target_properties(${id}_fmu PROPERTIES TUTTI_FMU_FILE ${fmu})
    add_dependencies(fmus ${id}_fmu)
endfunction()
